//! What a command sees of our environment: no secrets, nothing that waits for a person.

use std::ffi::{OsStr, OsString};

/// Ends of names that hold secrets.
const SECRET_ENDS: [&str; 7] = ["_KEY", "_TOKEN", "_PAT", "_PWD", "_AUTH", "_DSN", "_COOKIE"];
/// Parts of names that hold secrets.
const SECRET_PARTS: [&str; 9] =
    ["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY"];
/// Beginnings of names that belong to providers, or to us.
const SECRET_STARTS: [&str; 9] =
    ["OPENAI_", "ANTHROPIC_", "GEMINI_", "MISTRAL_", "OPENROUTER_", "DEEPSEEK_", "GROQ_", "AZURE_OPENAI_", "SIGNOFF_"];
/// Whole names.
const SECRET_NAMES: [&str; 5] = ["TOKEN", "KEY", "DATABASE_URL", "PGPASSFILE", "NETRC"];

/// Set for every command: no pager, no colour, no prompt that nobody can answer.
const ALWAYS: [(&str, &str); 5] =
    [("TERM", "dumb"), ("NO_COLOR", "1"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0")];

/// `ours` without secrets, and with what commands need.
pub(super) fn scrubbed(ours: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let kept = ours.into_iter().filter(|(name, _)| !is_secret(name) && !ALWAYS.iter().any(|(always, _)| OsStr::new(always) == name));
    kept.chain(ALWAYS.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)))).collect()
}

fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    // The shell's own working directories are no passwords.
    if name == "PWD" || name == "OLDPWD" {
        return false;
    }
    SECRET_NAMES.contains(&name.as_str())
        || SECRET_ENDS.iter().any(|end| name.ends_with(end))
        || SECRET_PARTS.iter().any(|part| name.contains(part))
        || SECRET_STARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_reach_commands_and_ordinary_names_do() {
        for name in
            ["OPENAI_API_KEY", "GITHUB_TOKEN", "MY_SECRET_1", "PGPASSWORD", "aws_secret_access_key", "ANTHROPIC_BASE_URL", "NPM_TOKEN"]
        {
            assert!(is_secret(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "HOME", "PWD", "OLDPWD", "LANG", "CARGO_HOME", "KEYBOARD", "TOKENIZERS_PARALLELISM", "SSH_AUTH_SOCK"] {
            assert!(!is_secret(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_pager_of_ours_is_replaced() {
        let seen = scrubbed([("PAGER".into(), "less".into()), ("HOME".into(), "/h".into())]);
        assert_eq!(seen.iter().filter(|(name, _)| name == "PAGER").collect::<Vec<_>>(), [&("PAGER".into(), "cat".into())]);
        assert!(seen.contains(&("HOME".into(), "/h".into())));
    }
}
