//! Secrets that are planted everywhere: after a full run they are where they belong and nowhere else.

use super::rig::{Asked, Rig, Say, call, ended, other, say};
use crate::provider::fake::Reply;
use crate::pty::{Pty, find};
use portable_pty::CommandBuilder;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The provider's key: for the `authorization` header of requests to it.
const KEY: &str = "canary-key-0f3a9c";
/// The keys of other providers, tokens and passwords in the environment: for nobody.
const OTHER: &str = "canary-other-77b1e2";
/// In a file of the workspace, as keys look: for that file.
fn leaked() -> Vec<String> {
    let letters: String = "CANARYaB3dE5gH7jK9mN1pQ2sT4vW6xY8z".chars().cycle().take(48).collect();
    vec![format!("sk-{}-{letters}", "proj"), format!("gh{}_{letters}", "p"), format!("AKIA{}", "CANARY1234567890")]
}

/// Prints what it can of secrets, by every tool, then fails once with the key in the server's words.
fn brain(asked: &Asked) -> Say {
    let echoes = json!({ "error": { "message": format!("Incorrect API key provided: {KEY}. Bearer {KEY}"), "type": "server_error" } });
    match (asked.who.as_str(), asked.nth) {
        ("lead", 1) => call("bash", json!({ "command": "cat .env; env; cat /proc/self/environ | tr '\\0' '\\n'; echo \"$OTHER_TOKEN\"" })),
        ("lead", 2) => call("read_file", json!({ "path": ".env" })),
        ("lead", 3) => call("search", json!({ "pattern": "CANARY" })),
        ("lead", 4) => call("bash", json!({ "command": "cat .env", "run_in_background": true })),
        ("lead", 5) => call("edit_file", json!({ "path": ".env", "old_text": "FIRST=1", "new_text": "FIRST=2" })),
        ("lead", 6) => other(Reply::json(500, &echoes)),
        ("lead", 7) => call("spawn_teammate", json!({ "name": "bob", "role": "coder", "prompt": "Look at .env" })),
        ("bob", 1) => call("bash", json!({ "command": "cat .env; env" })),
        ("bob", 2) => call("send_message", json!({ "to": "lead", "content": "looked" })),
        _ => say("All is done."),
    }
}

async fn rig(key: &str) -> Rig {
    let settings = format!(
        "{key}\n[permissions]\ncommands = \"allow\"\n[limits]\nidle_timeout = 0\n[providers.spare]\nbase_url = \"http://127.0.0.1:9\"\napi_key_env = \"SPARE_KEY\"\n"
    );
    let rig = Rig::with(&settings, brain).await;
    let env = leaked().iter().enumerate().map(|(at, secret)| format!("SECRET_{at}={secret}\n")).collect::<String>();
    std::fs::write(rig.workspace().join(".env"), format!("FIRST=1\n{env}")).unwrap();
    rig
}

const ENVIRONMENT: [(&str, &str); 7] = [
    ("FAKE_KEY", KEY),
    ("SPARE_KEY", OTHER),
    ("OPENAI_API_KEY", OTHER),
    ("OTHER_TOKEN", OTHER),
    ("DB_PASSWORD", OTHER),
    ("DATABASE_URL", OTHER),
    ("SIGNOFF_LOG", "trace"),
];

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files(&entry.path(), out)
        } else if kind.is_file() {
            out.push(entry.path())
        }
    }
}

/// Where secrets are that do not belong there.
fn hits(rig: &Rig, shown: &[(&str, &[u8])]) -> Vec<String> {
    let mut secrets = leaked();
    secrets.extend([KEY.to_owned(), OTHER.to_owned(), "CANARYaB3dE5gH7j".to_owned()]);
    let mut places: Vec<(String, Vec<u8>)> = shown.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
    let mut found = Vec::new();
    files(rig.dir.path(), &mut found);
    let kept = [rig.workspace().join(".env"), rig.dir.path().join("config.toml")];
    for path in found.into_iter().filter(|path| !kept.contains(path)) {
        places.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default()));
    }
    assert!(places.iter().any(|(name, _)| name.ends_with("events.jsonl")) && places.iter().any(|(name, _)| name.contains("state")));
    for (at, seen) in rig.server.requests().iter().enumerate() {
        places.push((format!("body of request {at}"), seen.body.to_string().into_bytes()));
        let mut headers = seen.headers.clone();
        headers.retain(|(name, value)| name != "authorization" || *value != format!("Bearer {KEY}"));
        places.push((format!("head of request {at}"), format!("{}{headers:?}", seen.line).into_bytes()));
    }
    let hit = |(name, bytes): &(String, Vec<u8>)| {
        let secret = secrets.iter().find(|secret| find(bytes, secret.as_bytes()).is_some())?;
        Some(format!("{name} holds {secret}"))
    };
    places.iter().filter_map(hit).collect()
}

fn was_tried(rig: &Rig) {
    let bodies: String = rig.server.requests().iter().map(|seen| seen.body.to_string()).collect();
    for word in ["[redacted: OpenAI key]", "[redacted: GitHub token]", "[redacted: AWS key]", "background job 1"] {
        assert!(bodies.contains(word), "{word} was not told: the run did not do what it should");
    }
    assert!(rig.server.requests().iter().any(|seen| seen.header("authorization") == Some(&format!("Bearer {KEY}"))), "the key was used");
    assert!(std::fs::read_to_string(rig.workspace().join(".env")).unwrap().contains("FIRST=2"), "files are not redacted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_of_a_run_without_a_screen_are_nowhere_else() {
    for key in ["api_key_env = \"FAKE_KEY\"".to_owned(), format!("api_key_cmd = \"printf {KEY}\"")] {
        let rig = rig(&key).await;
        let mut command = rig.command(&["run", "look around", "--json", "--plans", "auto"]);
        command.envs(ENVIRONMENT);
        let ran = ended(command.spawn().unwrap()).await;
        was_tried(&rig);
        let hits = hits(&rig, &[("standard output", ran.out.as_bytes()), ("standard error", ran.err.as_bytes())]);
        assert!(hits.is_empty(), "{}", hits.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_of_a_run_on_the_screen_are_nowhere_else() {
    let rig = rig("api_key_env = \"FAKE_KEY\"").await;
    let command = |args: &[&str]| {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_signoff"));
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("LANG", "C.UTF-8");
        command.env("HOME", rig.dir.path());
        command.env("XDG_STATE_HOME", rig.dir.path().join("state"));
        ENVIRONMENT.iter().for_each(|(name, value)| command.env(name, value));
        command.arg("--workspace");
        command.arg(rig.workspace());
        command.arg("--config");
        command.arg(rig.dir.path().join("config.toml"));
        command.args(args);
        command.cwd(rig.dir.path());
        command
    };
    let raw = tokio::task::block_in_place(|| {
        let mut pty = Pty::spawn(command(&[]), 120, 40);
        pty.wait_for_text("tells the lead");
        pty.send("i");
        pty.wait_for_text("to lead ─");
        pty.send("look around");
        pty.wait_for_text("look around");
        pty.send("\r");
        pty.wait_for_text("bob");
        pty.wait_for("the end", |screen| screen.contents().contains("All is done"));
        // Every pane in full, so that all there is was drawn.
        for keys in ["5z", "z", "4z", "z", "1j", "5z", "z"] {
            pty.send(keys);
            pty.wait_quiet(std::time::Duration::from_millis(100));
        }
        pty.send("qq");
        pty.wait_exit();
        pty.raw()
    });
    was_tried(&rig);
    let hits = hits(&rig, &[("the terminal", &raw)]);
    assert!(hits.is_empty(), "{}", hits.join("\n"));
}
