//! Which model answers: as configured; else a provider whose key is set; else a server on this machine; else the script,
//! said plainly.

use super::error::CliError;
use crate::config::{Config, Env, ProviderConfig, env_var, read_plain, secret};
use crate::llm::discover::{Found, PROBE_TIME, discover, usual_candidates};
use crate::llm::provider::OpenAiModel;
use crate::llm::scripted::ScriptedModel;
use crate::llm::settings::OpenAiSettings;
use crate::llm::{ChatModel, ModelError};
use crate::runtime::clock;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The name under which the scripted model is chosen.
pub const SCRIPTED: &str = "scripted";
/// The script's "model", as the screen names it.
const SCRIPT_MODEL: &str = "script";
/// Answers where there is no model: says what to do, and touches nothing.
const NO_MODEL: &str = include_str!("../../assets/demo/no-model.toml");

/// How long a server is asked for the size of its models at the start.
const WINDOW_TIME: Duration = Duration::from_secs(2);

/// What to do when there is no model at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Play the bundled script, so that the screen has something to show.
    Scripted,
    /// Fail: nobody is there to see that it is only a script.
    Refuse,
}

/// What choosing needs.
#[derive(Clone, Copy)]
pub struct Choice<'a> {
    /// The settings.
    pub config: &'a Config,
    /// The environment, for keys.
    pub env: &'a Env,
    /// How fast a script plays; `None` as its file says.
    pub speed: Option<f64>,
    /// When there is nothing.
    pub fallback: Fallback,
}

/// The model that was chosen.
pub struct Chosen {
    /// It.
    pub model: Arc<dyn ChatModel>,
    /// Its name as the server knows it.
    pub model_name: String,
    /// The provider, for the screen.
    pub provider: String,
    /// What the person should know about the choice, in one sentence.
    pub notice: Option<String>,
    /// Nothing answers but the script that says so.
    pub no_model: bool,
}

/// Chooses. Looks for servers on this machine only when nothing is configured, for about half a second.
///
/// # Errors
/// When what is configured cannot be used; with [`Fallback::Refuse`] also when nothing is there.
pub async fn choose_model(choice: Choice<'_>) -> Result<Chosen, CliError> {
    let Choice { config, env, .. } = choice;
    if config.provider == SCRIPTED {
        return scripted(choice, None);
    }
    if let Some(provider) = config.providers.get(&config.provider) {
        return remote(choice, &config.provider, provider).await;
    }
    if let Some((name, provider)) = with_key(config, env) {
        return remote(choice, name, provider).await;
    }
    install_tls();
    let found = discover(usual_candidates(), PROBE_TIME).await;
    if let Some(found) = found.into_iter().find(|found| !found.models.is_empty()) {
        return local(choice, found);
    }
    match choice.fallback {
        Fallback::Scripted => scripted(choice, Some("No key is set and no model server answers here, so nobody can work here yet: set OPENAI_API_KEY or start Ollama. \
                `signoff demo` shows a scripted team.")),
        Fallback::Refuse => Err(CliError::Failed(
            "there is no model to ask: set OPENAI_API_KEY, name a provider (--provider), or start a server such as Ollama; `signoff doctor` tells more. \
             To play the bundled script: --provider scripted"
                .into(),
        )),
    }
}

/// The first provider that can be asked without further words: its key is set, or the person gave it an address that needs
/// none.
fn with_key<'c>(config: &'c Config, env: &Env) -> Option<(&'c str, &'c ProviderConfig)> {
    let known = Config::default().providers;
    let ready = |name: &str, provider: &ProviderConfig| {
        let own_address = known.get(name).is_none_or(|usual| usual.base_url != provider.base_url);
        secret::source(provider, env).is_some() || (own_address && (provider.api_key_env.is_empty() || name == "openai"))
    };
    let preferred = ["openai", "openrouter", "deepseek"].into_iter().filter_map(|name| config.providers.get_key_value(name));
    preferred.chain(&config.providers).find(|(name, provider)| ready(name, provider)).map(|(name, provider)| (name.as_str(), provider))
}

fn scripted(choice: Choice<'_>, notice: Option<&str>) -> Result<Chosen, CliError> {
    let no_model = notice.is_some();
    let (model, notice) = match (&choice.config.script, notice) {
        (Some(path), None) => (read_script(path)?, format!("Answers come from the script {}.", path.display())),
        // What was not asked for must not work on the person's files: it only says what is missing.
        (_, Some(notice)) => (ScriptedModel::from_str(NO_MODEL, "no-model.toml")?, notice.to_owned()),
        (None, None) => (ScriptedModel::demo(), "Answers come from the bundled script, not from a model.".to_owned()),
    };
    let model = match choice.speed {
        Some(speed) => model.with_speed(speed),
        None => model,
    };
    Ok(Chosen { model: Arc::new(model), model_name: SCRIPT_MODEL.into(), provider: SCRIPTED.into(), notice: Some(notice), no_model })
}

/// A script's file.
fn read_script(path: &Path) -> Result<ScriptedModel, CliError> {
    let text = read_plain(path).map_err(CliError::io(format!("read the script {}", path.display())))?;
    Ok(ScriptedModel::from_str(&text, &path.display().to_string())?)
}

async fn remote(choice: Choice<'_>, name: &str, provider: &ProviderConfig) -> Result<Chosen, CliError> {
    let settings = settings(name, provider, choice.env).await?;
    let configured = [&choice.config.model, &provider.model].into_iter().find(|model| !model.is_empty()).cloned();
    let ask_window = settings.base_url != OpenAiSettings::default().base_url && provider.context_window == 0;
    let model = open(windowed(settings, provider, configured.as_deref()))?;
    let (model_name, notice) = match configured {
        Some(model_name) => {
            if ask_window {
                // What it learns is remembered inside; without an answer the usual size is taken.
                let _ = tokio::time::timeout(WINDOW_TIME, model.models()).await;
            }
            (model_name, None)
        }
        None => {
            let listed = model.models().await?.into_iter().next();
            let first = listed.ok_or_else(|| CliError::Failed(format!("{name} lists no model: name one with --model")))?;
            let notice = format!("No model is named for {name}: its first one, {}, is asked.", first.id);
            (first.id, Some(notice))
        }
    };
    Ok(Chosen { model: Arc::new(model), model_name, provider: name.to_owned(), notice, no_model: false })
}

fn local(choice: Choice<'_>, found: Found) -> Result<Chosen, CliError> {
    let base = choice.config.providers.get(&found.name).cloned().unwrap_or_default();
    let provider = ProviderConfig { base_url: found.base_url.clone(), api_key_env: String::new(), api_key_cmd: String::new(), ..base };
    let named = [&choice.config.model, &provider.model].into_iter().find(|model| !model.is_empty()).cloned();
    let model_name = named.or_else(|| found.models.first().map(|model| model.id.clone())).unwrap_or_default();
    let windows = found.models.iter().filter_map(|model| Some((model.id.clone(), model.context_window?))).collect();
    let model = open(OpenAiSettings { windows, ..plain_settings(&found.name, &provider) })?;
    let notice = format!("No key is set; {} answers at {}: its model {model_name} is asked.", found.name, found.base_url);
    Ok(Chosen { model: Arc::new(model), model_name, provider: found.name, notice: Some(notice), no_model: false })
}

/// What the adapter needs of a provider, its key included. The command that prints a key runs beside the executor.
///
/// # Errors
/// When there should be a key and is none, or the command that prints it fails.
pub async fn settings(name: &str, provider: &ProviderConfig, env: &Env) -> Result<OpenAiSettings, CliError> {
    if provider.base_url.is_empty() {
        return Err(CliError::Usage(format!("providers.{name}.base_url is not set: say where the server is")));
    }
    let (owned, own, vars) = (name.to_owned(), provider.clone(), env.clone());
    let resolved = tokio::task::spawn_blocking(move || secret::resolve(&owned, &own, &vars, secret::COMMAND_TIME)).await;
    let key = resolved.map_err(|error| CliError::Failed(format!("the key could not be asked for: {error}")))??;
    let plain = plain_settings(name, provider);
    let official = OpenAiSettings::default().base_url == plain.base_url;
    if key.is_none() && official {
        return Err(CliError::Failed(format!("{name} needs a key: set {}, or providers.{name}.api_key_cmd", provider.api_key_env)));
    }
    let headers = headers(name, provider, env)?;
    Ok(OpenAiSettings { api_key: key, headers, ..plain })
}

/// The headers that the settings add, `$NAME` taken from the environment.
fn headers(name: &str, provider: &ProviderConfig, env: &Env) -> Result<BTreeMap<String, SecretString>, CliError> {
    let value = |header: &str, text: &str| match text.strip_prefix('$') {
        Some(variable) => env_var(env, variable).map(SecretString::from).ok_or_else(|| {
            CliError::Usage(format!(
                "providers.{name}.headers.{header}: the environment has no {variable}: set it, or leave the header out"
            ))
        }),
        None => Ok(SecretString::from(text)),
    };
    provider.headers.0.iter().map(|(header, text)| Ok((header.clone(), value(header, text)?))).collect()
}

fn plain_settings(name: &str, provider: &ProviderConfig) -> OpenAiSettings {
    OpenAiSettings {
        name: name.to_owned(),
        base_url: provider.base_url.clone(),
        first_byte_timeout: Duration::from_secs(provider.first_byte_timeout),
        idle_timeout: Duration::from_secs(provider.idle_timeout),
        max_tries: provider.max_tries,
        send_reasoning: provider.send_reasoning,
        system_role: provider.system_role,
        extra_body: as_json(&provider.extra_body),
        ..OpenAiSettings::default()
    }
}

/// TOML's dates become texts, as JSON has none.
fn as_json(table: &toml::Table) -> serde_json::Map<String, serde_json::Value> {
    match serde_json::to_value(table) {
        Ok(serde_json::Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    }
}

/// With the size that the settings name for the model.
fn windowed(settings: OpenAiSettings, provider: &ProviderConfig, model: Option<&str>) -> OpenAiSettings {
    let window = model.filter(|_| provider.context_window > 0).map(|name| (name.to_owned(), provider.context_window));
    OpenAiSettings { windows: window.into_iter().collect(), ..settings }
}

fn open(settings: OpenAiSettings) -> Result<OpenAiModel, ModelError> {
    install_tls();
    OpenAiModel::new(settings, clock::now)
}

/// Makes ring the TLS library of this process. Only where a server is asked: it costs a quick start a millisecond.
pub fn install_tls() {
    // The only error is that it was done before.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
