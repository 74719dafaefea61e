//! Secrets in what tools bring in: known shapes of keys are taken out before a model, a transcript or a screen gets them.
//!
//! It guards against accidents, such as a command that prints its settings. It is no wall: what a command can read it can
//! also write backwards. The wall is the sandbox, which hides the folders where keys lie.

use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::OnceLock;

/// What is looked for, and what is said in its place. Earlier ones win where two begin at the same character.
const SHAPES: [(&str, &str); 16] = [
    (
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("OpenAI key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{30,}"),
    ("GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{40,}"),
    ("GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("AWS key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("AWS key", r#"(?i:\baws_secret_access_key\b["']?\s{0,8}[=:]\s{0,8}["']?)[A-Za-z0-9/+=]{40}"#),
    ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Slack token", r"\bxapp-[0-9]-[A-Za-z0-9-]{10,}"),
    ("Google key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("Stripe key", r"\b[sr]k_live_[A-Za-z0-9]{20,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("authorization", r#"(?i:\b(?:proxy-)?authorization["']?\s{0,8}[:=]\s{0,8}["']?(?:bearer|basic|token)\s{1,8})[^\s"']{8,}"#),
];

/// One expression for all, with a group for each shape.
fn shapes() -> Option<&'static Regex> {
    static SHAPES_READ: OnceLock<Option<Regex>> = OnceLock::new();
    let read = || {
        let all: Vec<String> = SHAPES.iter().map(|(_, shape)| format!("({shape})")).collect();
        Regex::new(&all.join("|")).ok()
    };
    SHAPES_READ.get_or_init(read).as_ref()
}

/// `text` with every known shape of a secret replaced by `[redacted: what it was]`. Linear in the length of the text.
pub fn redact(text: &str) -> Cow<'_, str> {
    let Some(shapes) = shapes() else { return text.into() };
    shapes.replace_all(text, |found: &Captures<'_>| {
        let at = (0..SHAPES.len()).find(|at| found.get(at + 1).is_some());
        format!("[redacted: {}]", at.map_or("secret", |at| SHAPES[at].0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Put together here, so that no scanner takes this file for a leak.
    fn samples() -> Vec<(&'static str, String)> {
        let a = |n: usize| "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z".chars().cycle().take(n).collect::<String>();
        let upper = |n: usize| "ABCD1234EFGH5678".chars().cycle().take(n).collect::<String>();
        vec![
            ("private key", format!("-----BEGIN RSA {} KEY-----\n{}\n{}\n-----END RSA PRIVATE KEY-----", "PRIVATE", a(64), a(20))),
            ("private key", format!("-----BEGIN {} KEY-----\n{}", "PRIVATE", a(64))),
            ("Anthropic key", format!("sk-{}-api03-{}", "ant", a(80))),
            ("OpenAI key", format!("sk-{}", a(48))),
            ("OpenAI key", format!("sk-{}-{}_{}", "proj", a(40), a(40))),
            ("GitHub token", format!("gh{}_{}", "p", a(36))),
            ("GitHub token", format!("github_{}_{}", "pat", a(82))),
            ("GitLab token", format!("gl{}-{}", "pat", a(20))),
            ("AWS key", format!("AKIA{}", upper(16))),
            ("AWS key", format!("aws_secret_access_key = {}", a(40))),
            ("Slack token", format!("xox{}-123456789012-{}", "b", a(24))),
            ("Google key", format!("AIza{}", a(35))),
            ("Stripe key", format!("sk_{}_{}", "live", a(24))),
            ("npm token", format!("npm_{}", a(36))),
            ("Hugging Face token", format!("hf_{}", a(34))),
            ("JSON web token", format!("eyJ{}.eyJ{}.{}", a(20), a(40), a(43))),
            ("authorization", format!("Authorization: Bearer {}", a(30))),
            ("authorization", format!("\"authorization\": \"Basic {}=\"", a(20))),
        ]
    }

    #[test]
    fn known_shapes_are_taken_out_wherever_they_stand() {
        assert!(shapes().is_some());
        for (what, secret) in samples() {
            for around in ["{}", "KEY={}\nnext", "\"{}\",", "x {} y {} z", "https://host/?key={}&a=b"] {
                let text = around.replace("{}", &secret);
                let said = redact(&text);
                let core = &secret[secret.len().saturating_sub(16)..];
                assert!(said.contains(&format!("[redacted: {what}]")) && !said.contains(core), "{text}: {said}");
            }
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in [
            "task-aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "disk-by-uuid-0123456789abcdef0123",
            "sk-short",
            "commit 0123456789abcdef0123456789abcdef01234567",
            "AKIA",
            "authorization: none",
            "Bearer of news",
            "ghp_short",
            "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
            "eyJ.a.b",
        ] {
            assert!(matches!(redact(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_flood_of_half_keys_is_read_in_linear_time() {
        let text = "sk-AKIAeyJ-----BEGIN PRIVATE KEY---- authorization: bearer ".repeat(20_000);
        assert!(!redact(&text).is_empty());
    }
}
