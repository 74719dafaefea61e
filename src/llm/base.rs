//! Base URLs as people write them.

use super::ModelError;
use reqwest::Url;

/// The base URL without trailing slash, ending in its version (`/v1` where none is named), so that
/// `/chat/completions` can be appended. Taken with or without scheme, `/v1`, trailing slash and `/chat/completions`;
/// a query stays (`?api-version=…`). [`ModelError::Setup`] when it is no http address or carries a password.
pub fn normalise_base(raw: &str) -> Result<String, ModelError> {
    let mut url = parse(raw.trim())?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ModelError::Setup("the base URL carries a user or password; put the key into api_key or a header instead".into()));
    }
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    let path = ["/chat/completions", "/completions", "/models"].iter().find_map(|tail| path.strip_suffix(tail)).unwrap_or(&path);
    let path = path.trim_end_matches('/');
    let versioned = path.split('/').any(|part| part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())));
    let path = if versioned { path.to_owned() } else { format!("{path}/v1") };
    url.set_path(&path);
    Ok(url.to_string())
}

fn parse(raw: &str) -> Result<Url, ModelError> {
    let wrong =
        |why: &str| ModelError::Setup(format!("base_url {:?} is not an http(s) address: {why}", crate::domain::text::one_line(raw, 100)));
    if raw.is_empty() {
        return Err(wrong("it is empty"));
    }
    let text = if raw.contains("://") {
        raw.to_owned()
    } else {
        let plain = Url::parse(&format!("http://{raw}")).map_err(|e| wrong(&e.to_string()))?;
        let scheme = if is_loopback(&plain) { "http" } else { "https" };
        format!("{scheme}://{raw}")
    };
    let url = Url::parse(&text).map_err(|e| wrong(&e.to_string()))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        scheme => Err(wrong(&format!("scheme {scheme}"))),
    }
}

/// Whether the address is this machine: then no proxy of the environment is asked.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let named = host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost");
    named || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}
