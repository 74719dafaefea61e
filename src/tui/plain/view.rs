//! What the linear mode knows: a small fold of the events, and what of it was read out.

use crate::domain::text::{one_line, sanitise};
use crate::domain::{Board, Digest, Member, MemberName, Refusal, Reply, Request, RequestId, TaskId, TeamCommand, TeamEvent, Verdict};
use crate::tui::sentence::sentence;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A text that fits on its line is read together with it.
const INLINE: usize = 160;

/// The team as far as it was told.
#[derive(Default)]
pub struct View {
    members: BTreeMap<MemberName, Arc<Member>>,
    board: Board,
    requests: BTreeMap<RequestId, Arc<Request>>,
    read: HashMap<RequestId, Digest>,
}

impl View {
    /// Folds an event in; the lines to say.
    pub fn fold(&mut self, event: &TeamEvent) -> Vec<String> {
        let mut lines: Vec<String> = sentence(event).filter(|_| !self.is_known(event)).into_iter().collect();
        match event {
            TeamEvent::MemberChanged { member, .. } => {
                self.members.insert(member.name.clone(), Arc::clone(member));
            }
            TeamEvent::MemberRemoved { name } => {
                self.members.remove(name);
            }
            TeamEvent::TaskChanged { task, .. } => {
                self.board.insert(Arc::clone(task));
            }
            TeamEvent::TaskRemoved { id, .. } => {
                self.board.remove(*id);
            }
            TeamEvent::RequestChanged { request } => lines.extend(self.request(request)),
            TeamEvent::Opened { .. }
            | TeamEvent::ActivityChanged { .. }
            | TeamEvent::MessageSent { .. }
            | TeamEvent::TurnStarted { .. }
            | TeamEvent::TurnEnded { .. }
            | TeamEvent::AnswerFinished { .. }
            | TeamEvent::ToolStarted { .. }
            | TeamEvent::ToolFinished { .. }
            | TeamEvent::UsageAdded { .. }
            | TeamEvent::Compacted { .. }
            | TeamEvent::Noticed { .. }
            | TeamEvent::Denied { .. }
            | TeamEvent::Traced { .. }
            | TeamEvent::ProtocolShown { .. }
            | TeamEvent::ProtocolChanged { .. }
            | TeamEvent::RunnerGone { .. }
            | TeamEvent::Finished { .. } => {}
        }
        lines
    }

    /// A member that changed in a way that is told elsewhere (its task on the board) needs no line of its own.
    fn is_known(&self, event: &TeamEvent) -> bool {
        let TeamEvent::MemberChanged { member, .. } = event else { return false };
        self.members.get(&member.name).is_some_and(|old| {
            (old.status, old.generation, &old.role, &old.reason) == (member.status, member.generation, &member.role, &member.reason)
        })
    }

    fn request(&mut self, request: &Arc<Request>) -> Option<String> {
        let id = request.id.clone();
        if !request.is_pending() {
            self.read.remove(&id);
            self.requests.remove(&id);
            return None;
        }
        self.requests.insert(id.clone(), Arc::clone(request));
        let is_whole = request.body.chars().count() <= INLINE && !request.body.contains('\n');
        if is_whole {
            self.read.insert(id.clone(), request.digest());
            return Some(format!("Request {id}: {}", sanitise(&request.body)));
        }
        Some(format!("Request {id}: its text has {} lines; type show {id} to read it.", request.body.lines().count()))
    }

    /// Members, tasks and what waits for the person.
    pub fn status(&self) -> Vec<String> {
        let counts = self.board.counts();
        let mut lines =
            vec![format!("Board: {} ready, {} in progress, {} blocked, {} done.", counts.ready, counts.doing, counts.blocked, counts.done)];
        for member in self.members.values() {
            let event = TeamEvent::MemberChanged { member: Arc::clone(member), why: None };
            lines.extend(sentence(&event));
        }
        for request in self.requests.values() {
            lines.extend(sentence(&TeamEvent::RequestChanged { request: Arc::clone(request) }));
        }
        if self.requests.is_empty() {
            lines.push("Nothing waits for you.".into());
        }
        lines
    }

    /// A request or a task in full. A request counts as read from now on.
    pub fn show(&mut self, id: &str) -> Vec<String> {
        let request = RequestId::parse(id).and_then(|id| self.requests.get(&id));
        if let Some(request) = request {
            self.read.insert(request.id.clone(), request.digest());
            return show_request(request);
        }
        match TaskId::parse(id).map(|id| self.board.find(id)) {
            Some(Ok(task)) => {
                let owner = task.owner.as_ref().map_or_else(|| "nobody".to_owned(), ToString::to_string);
                let mut lines = vec![format!("Task {}: {}", task.id, one_line(&task.subject, INLINE)), format!("Owner: {owner}")];
                lines.extend(text(&task.description));
                lines
            }
            Some(Err(_)) | None => vec![format!("Error: there is no pending request and no task {}.", one_line(id, 40))],
        }
    }

    /// The command that answers a request, if its text was read as it is now.
    pub fn answer(&self, id: &RequestId, verdict: Verdict) -> Result<TeamCommand, String> {
        let request = self.requests.get(id).ok_or_else(|| Refusal::UnknownRequest(id.to_string()).to_string())?;
        let read = self.read.get(id).filter(|digest| **digest == request.digest());
        let shown = read.ok_or_else(|| format!("request {id} was not read yet: type show {id} first"))?;
        Ok(TeamCommand::Answer { id: id.clone(), verdict, shown: shown.clone() })
    }
}

fn show_request(request: &Request) -> Vec<String> {
    let mut lines =
        vec![format!("Request {}: {} of {}: {}", request.id, request.kind.word(), request.target, one_line(&request.title, INLINE))];
    lines.extend(text(&request.body));
    lines.push(format!("End of request {}.", request.id));
    lines
}

/// Lines of a text, marked so that none can be taken for one of ours.
fn text(text: &str) -> impl Iterator<Item = String> {
    let lines: Vec<String> = sanitise(text).lines().map(|line| format!("  {line}")).collect();
    lines.into_iter()
}

/// What came of a command, as the end of a line that begins with "Done".
pub fn reply(reply: &Reply) -> String {
    match reply {
        Reply::Done | Reply::Authorized => ".".into(),
        Reply::Said(text) | Reply::ProtocolSaid { text, .. } => format!(": {}", one_line(text, INLINE)),
        Reply::Task(task) => format!(": task {}.", task.id),
        Reply::Tasks(tasks) => format!(": {} tasks.", tasks.len()),
        Reply::Members(members) => format!(": {} members.", members.len()),
        Reply::Request(request) => format!(": request {} is {}.", request.id, request.state.word()),
        Reply::PlanAlreadyApproved => ": that plan is approved already.".into(),
        Reply::Spawned(member) => format!(": {} was started.", member.name),
        Reply::Sent(names) => format!(": sent to {}.", names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}
