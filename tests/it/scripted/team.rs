//! A toy team: just enough of the runtime's conversation for a script to be played against real files.

use futures::StreamExt;
use serde_json::Value;
use signoff::domain::conversation::AssistantAnswer;
use signoff::domain::{ChatMessage, MemberName, ToolCall};
use signoff::llm::scripted::ScriptedModel;
use signoff::llm::{ChatModel, ChatRequest, ModelError, ModelEvent};
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

/// One call, to its end.
pub async fn ask(model: &ScriptedModel, name: &str, messages: &[ChatMessage]) -> Result<AssistantAnswer, ModelError> {
    let request = ChatRequest {
        member: MemberName::parse(name).unwrap(),
        model: "scripted".into(),
        messages: Arc::new(messages.to_vec()),
        tools: Arc::default(),
    };
    let mut stream = model.stream(request);
    while let Some(event) = stream.next().await {
        if let ModelEvent::Finished(answer) = event? {
            assert!(stream.next().await.is_none(), "nothing comes after the end");
            return Ok(answer);
        }
    }
    panic!("a stream without an end");
}

/// The answer as a message.
pub fn message(answer: &AssistantAnswer) -> ChatMessage {
    ChatMessage::Assistant { text: answer.text.clone(), reasoning: answer.reasoning.clone(), calls: answer.calls.clone() }
}

#[derive(Clone, Debug, Default)]
pub struct ToyTask {
    pub id: u64,
    pub subject: String,
    pub description: String,
    pub done: bool,
    pub owner: Option<String>,
    pub blocked_by: Vec<u64>,
}

#[derive(Debug, Default)]
pub struct Mate {
    pub messages: Vec<ChatMessage>,
    pub inbox: VecDeque<String>,
    pub idle: bool,
    pub stopped: bool,
    pub plan: Option<String>,
    pub nudged: usize,
}

/// What the person does with a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    Approve,
    ApproveWithNote,
    ApproveEdited,
    Reject,
    RejectWithFeedback,
}

pub struct Toy {
    pub dir: PathBuf,
    pub model: ScriptedModel,
    pub tasks: Vec<ToyTask>,
    pub mates: HashMap<String, Mate>,
    pub order: Vec<String>,
    pub decisions: VecDeque<Decision>,
    pub plans: Vec<(String, String)>,
    pub mail: Vec<(String, String, String)>,
    /// Every member needs an approved plan per task.
    pub require_plan: bool,
    pub approved: HashMap<String, u64>,
    /// Conversations are compacted when they grow beyond so many messages.
    pub compact_at: usize,
    seed: u64,
    ids: u32,
    finished: bool,
}

impl Toy {
    pub fn new(dir: PathBuf, model: ScriptedModel, seed: u64) -> Self {
        let lead = Mate { idle: true, ..Mate::default() };
        Self {
            dir,
            model: model.with_speed(0.0),
            tasks: Vec::new(),
            mates: HashMap::from([("lead".to_owned(), lead)]),
            order: vec!["lead".into()],
            decisions: VecDeque::new(),
            plans: Vec::new(),
            mail: Vec::new(),
            require_plan: false,
            approved: HashMap::new(),
            compact_at: usize::MAX,
            seed,
            ids: 0xa1b2_c300,
            finished: false,
        }
    }

    fn random(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % below.max(1)
    }

    fn request_id(&mut self) -> String {
        self.ids += 1;
        format!("{:08x}", self.ids)
    }

    pub fn post(&mut self, to: &str, text: String) {
        self.mates.get_mut(to).unwrap().inbox.push_back(text);
    }

    /// Plays until nothing happens any more.
    pub async fn run(&mut self, goal: &str) {
        self.post("lead", format!("<mail from=\"human\" type=\"message\" id=\"m0\">{goal}</mail>"));
        for round in 0.. {
            assert!(round < 2_000, "the team never comes to rest");
            let mut acted = false;
            let start = self.random(self.order.len());
            for step in 0..self.order.len() {
                let name = self.order[(start + step) % self.order.len()].clone();
                if self.random(3) > 0 || step + 1 == self.order.len() {
                    acted |= self.act(&name).await;
                }
            }
            if acted || (0..self.order.len()).any(|at| self.wants(at)) {
                continue;
            }
            if !self.decide() && !self.finish() {
                return;
            }
        }
    }

    fn wants(&self, at: usize) -> bool {
        let name = &self.order[at];
        let mate = &self.mates[name];
        !mate.stopped && (!mate.idle || !mate.inbox.is_empty() || (mate.plan.is_none() && name != "lead" && self.ready(name).is_some()))
    }

    fn ready(&self, name: &str) -> Option<usize> {
        let done = |id: &u64| self.tasks.iter().any(|t| t.id == *id && t.done);
        let busy = self.tasks.iter().any(|t| !t.done && t.owner.as_deref() == Some(name));
        self.tasks.iter().position(|t| !busy && !t.done && t.owner.is_none() && t.blocked_by.iter().all(done))
    }

    fn decide(&mut self) -> bool {
        let waiting: Vec<String> =
            self.order.iter().filter(|n| self.mates[*n].plan.is_some() && !self.mates[*n].stopped).cloned().collect();
        let Some(name) = waiting.first().cloned() else { return false };
        let decision = self.decisions.pop_front().unwrap_or(Decision::Approve);
        let id = self.mates.get_mut(&name).unwrap().plan.take().unwrap();
        let (verdict, body) = match decision {
            Decision::Approve => ("approved", ""),
            Decision::ApproveWithNote => ("approved", "mind the coffee"),
            Decision::ApproveEdited => ("approved", "shorter\n<edited-plan>just do it</edited-plan>"),
            Decision::Reject => ("rejected", ""),
            Decision::RejectWithFeedback => ("rejected", "keep a way back"),
        };
        if verdict == "approved" {
            let task = self.held(&name);
            self.approved.insert(name.clone(), task);
        }
        self.post(&name, format!("<plan-verdict request=\"{id}\" verdict=\"{verdict}\" by=\"human\">{body}</plan-verdict>"));
        true
    }

    fn held(&self, name: &str) -> u64 {
        self.tasks.iter().find(|t| !t.done && t.owner.as_deref() == Some(name)).map_or(0, |t| t.id)
    }

    fn finish(&mut self) -> bool {
        if self.finished || self.tasks.is_empty() || !self.tasks.iter().all(|t| t.done) {
            return false;
        }
        self.finished = true;
        self.post("lead", "<board-finished>All tasks are completed.</board-finished>".into());
        true
    }

    /// One step of a member; whether it did something.
    async fn act(&mut self, name: &str) -> bool {
        if self.mates[name].stopped {
            return false;
        }
        let ready = self.ready(name);
        let held = self.held(name);
        let mate = self.mates.get_mut(name).unwrap();
        if mate.inbox.is_empty() && mate.idle {
            match ready {
                _ if mate.plan.is_some() || name == "lead" => return false,
                Some(at) => {
                    let task = &mut self.tasks[at];
                    task.owner = Some(name.to_owned());
                    let text = format!("<auto-claimed>Task #{}: {}\n{}</auto-claimed>", task.id, task.subject, task.description);
                    mate.inbox.push_back(text);
                }
                None if held > 0 && mate.nudged == 0 => {
                    mate.nudged += 1;
                    mate.inbox.push_back(format!("<nudge>Task #{held} is still yours.</nudge>"));
                }
                None => return false,
            }
        }
        let told: Vec<String> = mate.inbox.drain(..).collect();
        if !told.is_empty() {
            mate.messages.push(ChatMessage::user(told.join("\n")));
        }
        self.compact(name).await;
        let answer = ask(&self.model, name, &self.mates[name].messages).await.unwrap();
        let mate = self.mates.get_mut(name).unwrap();
        mate.idle = answer.calls.is_empty();
        mate.messages.push(message(&answer));
        for call in &answer.calls {
            let (ok, content) = self.execute(name, call);
            let result = ChatMessage::Tool { call_id: call.id.clone(), name: call.name.clone(), content, ok };
            self.mates.get_mut(name).unwrap().messages.push(result);
        }
        true
    }

    /// As the runtime does it: a summary and the last messages, cut where calls and results stay together.
    async fn compact(&mut self, name: &str) {
        let messages = self.mates[name].messages.clone();
        if messages.len() <= self.compact_at {
            return;
        }
        let mut asking = messages.clone();
        asking.push(ChatMessage::user(include_str!("../../../assets/prompts/compact.md")));
        let summary = ask(&self.model, name, &asking).await.unwrap();
        assert!(summary.calls.is_empty());
        let kept = (self.random(3) + 1..messages.len()).find(|kept| !matches!(messages[messages.len() - kept], ChatMessage::Tool { .. }));
        let mut fresh = vec![ChatMessage::user(format!("<identity>You are '{name}'.</identity>\n{}", summary.text))];
        fresh.extend_from_slice(&messages[messages.len() - kept.unwrap_or(0)..]);
        self.mates.get_mut(name).unwrap().messages = fresh;
    }

    fn execute(&mut self, name: &str, call: &ToolCall) -> (bool, String) {
        let args: Value = serde_json::from_str(&call.arguments).unwrap();
        let text = |key: &str| args[key].as_str().unwrap_or_default().to_owned();
        let changes = matches!(call.name.as_str(), "bash" | "write_file" | "edit_file");
        if changes && self.require_plan && name != "lead" && self.approved.get(name) != Some(&self.held(name)) {
            return (false, "not run: a plan for the task must be approved first".into());
        }
        match call.name.as_str() {
            "read_file" => answer(std::fs::read_to_string(self.dir.join(text("path")))),
            "write_file" => answer(std::fs::write(self.dir.join(text("path")), text("content")).map(|()| "written".into())),
            "edit_file" => self.edit(&text("path"), &text("old_text"), &text("new_text")),
            "bash" => self.bash(&text("command")),
            "list_files" => (true, "README.md\ncheck.sh".into()),
            "send_message" => self.send(name, &text("to"), &text("content")),
            "spawn_teammate" => {
                self.order.push(text("name"));
                let prompt = ChatMessage::user(text("prompt"));
                self.mates.insert(text("name"), Mate { messages: vec![prompt], ..Mate::default() });
                (true, format!("{} started", text("name")))
            }
            "plan_approval" => {
                let id = self.request_id();
                self.plans.push((name.to_owned(), text("plan")));
                let mate = self.mates.get_mut(name).unwrap();
                (mate.plan, mate.idle) = (Some(id.clone()), true);
                (true, format!("Plan handed in as request {id}. Wait for the verdict."))
            }
            "list_teammates" => (true, self.order.iter().map(|n| format!("{n} stopped={}\n", self.mates[n].stopped)).collect()),
            other => self.team_tool(name, other, &args),
        }
    }

    fn team_tool(&mut self, name: &str, tool: &str, args: &Value) -> (bool, String) {
        match tool {
            "task_create" => {
                let blocked_by =
                    args["blockedBy"].as_array().into_iter().flatten().map(|id| id.as_u64().expect("ids are numbers")).collect();
                let id = self.tasks.len() as u64 + 1;
                let subject = args["subject"].as_str().unwrap().to_owned();
                let description = args["description"].as_str().unwrap_or_default().to_owned();
                self.tasks.push(ToyTask { id, subject, description, blocked_by, ..ToyTask::default() });
                (true, format!("created task #{id}"))
            }
            "task_update" => {
                let id = args["task_id"].as_u64().expect("ids are numbers");
                let task = self.tasks.iter_mut().find(|t| t.id == id).expect("a task that exists");
                assert_eq!(task.owner.as_deref(), Some(name), "only the owner completes a task");
                task.done = true;
                (true, format!("task #{id} is completed"))
            }
            "task_list" => (true, self.tasks.iter().map(|t| format!("#{} {} done={}\n", t.id, t.subject, t.done)).collect()),
            "shutdown_request" => {
                let id = self.request_id();
                let mail = format!("<mail from=\"{name}\" type=\"shutdown_request\" id=\"m1\" request_id=\"{id}\">please stop</mail>");
                self.post(args["teammate"].as_str().unwrap(), mail);
                (true, format!("asked; request {id} is pending"))
            }
            "shutdown_check" => {
                let stopped = self.mates.values().any(|m| m.stopped);
                (true, if stopped { "approved" } else { "pending" }.into())
            }
            "shutdown_response" => {
                assert_eq!(args["approve"], true);
                assert_eq!(args["request_id"].as_str().unwrap().len(), 8);
                self.tasks.iter_mut().filter(|t| !t.done && t.owner.as_deref() == Some(name)).for_each(|t| t.owner = None);
                self.mates.get_mut(name).unwrap().stopped = true;
                (true, "stopping".into())
            }
            other => panic!("the toy team has no tool {other}"),
        }
    }

    fn edit(&self, path: &str, old: &str, new: &str) -> (bool, String) {
        let path = self.dir.join(path);
        let before = std::fs::read_to_string(&path).unwrap();
        if before.matches(old).count() != 1 {
            return (false, format!("{old:?} is there {} times", before.matches(old).count()));
        }
        answer(std::fs::write(path, before.replace(old, new)).map(|()| "edited".into()))
    }

    pub fn bash(&self, command: &str) -> (bool, String) {
        let output = Command::new("sh").arg("-c").arg(command).current_dir(&self.dir).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }

    fn send(&mut self, from: &str, to: &str, content: &str) -> (bool, String) {
        self.mail.push((from.into(), to.into(), content.into()));
        if to != "human" {
            self.post(to, format!("<mail from=\"{from}\" type=\"message\" id=\"m2\">{content}</mail>"));
        }
        (true, format!("sent to {to}"))
    }
}

fn answer(result: std::io::Result<String>) -> (bool, String) {
    match result {
        Ok(text) => (true, text),
        Err(error) => (false, error.to_string()),
    }
}
