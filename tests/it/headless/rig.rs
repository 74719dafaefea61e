//! The real binary in a workspace of its own, against a server whose answers the test decides by member and round.

use crate::provider::fake::{Fake, Reply, Seen, Step, delta, events, finish};
use serde_json::{Value, json};
use signoff::domain::usage::{Spend, TokenUsage};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::process::{Child, Command};

/// Longer than anything here takes on a busy machine; reaching it is a failure.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// A request as a brain sees it.
pub struct Asked<'a> {
    pub seen: &'a Seen,
    /// Who asks, as its instructions say; `summary` for a compaction.
    pub who: String,
    /// The how-many-th request of this member this is, from 1.
    pub nth: usize,
}

impl Asked<'_> {
    /// The last message of a role, as text.
    pub fn last(&self, role: &str) -> String {
        let fits = self.seen.messages().iter().rev().find(|m| m["role"] == role);
        fits.map(|m| m["content"].as_str().unwrap_or_default().to_owned()).unwrap_or_default()
    }

    /// Whether any message holds `text`.
    pub fn holds(&self, text: &str) -> bool {
        self.seen.messages().iter().any(|m| m["content"].as_str().is_some_and(|c| c.contains(text)))
    }

    /// The number of the task that was claimed for the asker last.
    pub fn claimed(&self) -> Option<String> {
        let told = self.seen.messages().iter().rev().find_map(|m| m["content"].as_str()?.split("<auto-claimed>Task #").nth(1));
        told.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect())
    }

    /// Whether the last message is a claimed task.
    pub fn has_task(&self) -> bool {
        let last = self.seen.messages().last().expect("a message");
        last["content"].as_str().is_some_and(|c| c.contains("<auto-claimed>"))
    }
}

/// What a server told of tokens: the truth that the program's sums are compared with.
pub type Ledger = Arc<Mutex<Vec<(String, String, TokenUsage)>>>;

/// An answer with its cost.
#[derive(Clone, Default)]
pub struct Say {
    text: String,
    calls: Vec<(String, Value)>,
    usage: Option<TokenUsage>,
    other: Option<Reply>,
}

pub fn say(text: &str) -> Say {
    Say { text: text.into(), ..Say::default() }
}

pub fn call(name: &str, arguments: Value) -> Say {
    Say::default().and(name, arguments)
}

/// A reply that is no answer.
pub fn other(reply: Reply) -> Say {
    Say { other: Some(reply), ..Say::default() }
}

impl Say {
    pub fn and(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push((name.into(), arguments));
        self
    }

    pub fn costs(mut self, input: u64, output: u64) -> Self {
        self.usage = Some(TokenUsage { input, output, ..TokenUsage::default() });
        self
    }

    fn chunks(&self, id: &str) -> Vec<Value> {
        let mut chunks = vec![delta(json!({ "role": "assistant", "content": self.text }))];
        for (index, (name, arguments)) in self.calls.iter().enumerate() {
            let call = json!({ "index": index, "id": format!("{id}_{index}"), "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() } });
            chunks.push(delta(json!({ "tool_calls": [call] })));
        }
        chunks.push(finish(if self.calls.is_empty() { "stop" } else { "tool_calls" }));
        if let Some(usage) = self.usage {
            chunks.push(json!({ "choices": [], "usage": { "prompt_tokens": usage.input, "completion_tokens": usage.output } }));
        }
        chunks
    }
}

/// Half an answer, then a reset connection.
pub fn dies_after(text: &str) -> Say {
    let half = [delta(json!({ "role": "assistant", "content": text }))];
    other(Reply::stream(events(&half)).then(Step::Reset))
}

pub struct Rig {
    pub dir: tempfile::TempDir,
    pub server: Fake,
    pub ledger: Ledger,
}

impl Rig {
    pub async fn new(brain: impl Fn(&Asked) -> Say + Send + Sync + 'static) -> Self {
        Self::with("", brain).await
    }

    /// With more settings, as TOML that follows those of the provider.
    pub async fn with(settings: &str, brain: impl Fn(&Asked) -> Say + Send + Sync + 'static) -> Self {
        let ledger = Ledger::default();
        let counts = Mutex::new(BTreeMap::<String, usize>::new());
        let kept = ledger.clone();
        let server = Fake::answering(move |seen| {
            if !seen.line.starts_with("POST") {
                return Reply::json(200, &json!({ "object": "list", "data": [{ "id": "m", "object": "model" }] }));
            }
            let who = who(seen);
            let nth = {
                let mut counts = counts.lock().unwrap();
                let count = counts.entry(who.clone()).or_default();
                *count += 1;
                *count
            };
            let said = brain(&Asked { seen, who: who.clone(), nth });
            if let Some(reply) = said.other {
                return reply;
            }
            if let Some(usage) = said.usage {
                let model = seen.body["model"].as_str().unwrap_or_default().to_owned();
                kept.lock().unwrap().push((who.clone(), model, usage));
            }
            Reply::chunks(&said.chunks(&format!("{who}_{nth}")))
        })
        .await;
        let dir = tempfile::tempdir().unwrap();
        let rig = Self { dir, server, ledger };
        std::fs::create_dir_all(rig.workspace()).unwrap();
        rig.settings(settings);
        rig
    }

    fn settings(&self, more: &str) {
        let base = self.server.base();
        let text = format!(
            "[model]\nprovider = \"fake\"\nname = \"m\"\n[store]\nfsync = false\n[providers.fake]\nbase_url = \"{base}\"\nmax_tries = 2\n{more}\n"
        );
        std::fs::write(self.dir.path().join("config.toml"), text).unwrap();
    }

    pub fn workspace(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// The binary with arguments, without terminal, in an environment that holds nothing of the tester's.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_signoff"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LANG", "C.UTF-8");
        command.env("HOME", self.dir.path()).env("XDG_STATE_HOME", self.dir.path().join("state"));
        command.arg("--workspace").arg(self.workspace()).arg("--config").arg(self.dir.path().join("config.toml")).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).spawn().expect("the binary starts")
    }

    /// Runs to the end.
    pub async fn run(&self, args: &[&str]) -> Ran {
        ended(self.start(args)).await
    }

    /// Facts of the log so far.
    pub fn logged(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.workspace().join("team/events.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Waits until something in the workspace is as wanted.
    pub async fn until<T>(&self, what: &str, look: impl Fn(&Path) -> Option<T>) -> T {
        let workspace = self.workspace();
        let deadline = tokio::time::Instant::now() + DEADLINE;
        loop {
            if let Some(found) = look(&workspace) {
                return found;
            }
            assert!(tokio::time::Instant::now() < deadline, "{what} did not come: {:#?}", self.logged());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The id of the first pending request, as soon as there is one.
    pub async fn pending(&self) -> String {
        self.until("a request", |workspace| {
            let files = std::fs::read_dir(workspace.join("team/requests")).ok()?;
            files.flatten().find_map(|file| {
                let value: Value = serde_json::from_slice(&std::fs::read(file.path()).ok()?).ok()?;
                (value["state"] == "pending").then(|| value["id"].as_str().map(str::to_owned)).flatten()
            })
        })
        .await
    }
}

/// The member that a request comes from, by its instructions.
fn who(seen: &Seen) -> String {
    let system = seen.body["messages"][0]["content"].as_str().unwrap_or_default();
    let named = system.strip_prefix("You are ").and_then(|rest| rest.split_once(','));
    named.map_or_else(|| "summary".to_owned(), |(name, _)| name.to_owned())
}

/// A run that has ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub async fn ended(child: Child) -> Ran {
    let Output { status, stdout, stderr } =
        tokio::time::timeout(DEADLINE, child.wait_with_output()).await.expect("it ends in time").expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
}

impl Ran {
    /// Standard output as events; checks the envelope of each line.
    pub fn events(&self) -> Vec<Value> {
        let mut last = 0;
        let check = |line: &str| {
            let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert_eq!(value["v"], 1, "{line}");
            assert!(value["at"].is_i64() && value["kind"].is_string(), "{line}");
            let seq = value["seq"].as_u64().expect("a number");
            assert!(seq > last, "{seq} after {last}: {line}");
            last = seq;
            value
        };
        let events: Vec<Value> = self.out.lines().map(check).collect();
        assert_eq!(events.last().map(|e| e["kind"].clone()), Some("finished".into()), "{self:?}");
        assert_eq!(events.iter().filter(|e| e["kind"] == "finished").count(), 1);
        events
    }

    pub fn reason(&self) -> String {
        self.events().last().unwrap()["reason"].as_str().unwrap().to_owned()
    }

    pub fn of_kind(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|e| e["kind"] == kind).collect()
    }

    /// What was spent, by a field of the usage events.
    pub fn spent_by(&self, field: &str) -> BTreeMap<String, Spend> {
        let mut spent = BTreeMap::<String, Spend>::new();
        for event in self.of_kind("usage_added") {
            let key = event[field].as_str().map_or_else(|| event[field].to_string(), str::to_owned);
            let usage: TokenUsage = serde_json::from_value(event["usage"].clone()).unwrap();
            spent.entry(key).or_default().add_call(usage, event["cost"].as_f64());
        }
        spent
    }
}
