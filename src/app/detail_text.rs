//! What is open in full, as lines: made when it is opened, resized or changed, not for every frame.

use super::clip::{clean, one_line};
use super::markdown;
use super::overlay::{DetailKind, help};
use super::projection::Projection;
use super::projection::requests_outcome;
use super::protocol_text;
use super::rich::{Indent, Ink, RichLine, Span, hard_wrap, line, wrap};
use super::state::State;
use super::view::DetailLines;
use super::words;
use crate::domain::{Envelope, Request, RequestKind, Task, TaskId, Verdict};
use similar::{Algorithm, ChangeTag, TextDiff};
use std::sync::Arc;

/// Longer plans are shown without a difference: nobody reads one of that size, and computing it would freeze the screen.
const DIFF_MAX: usize = 200_000;
/// Unchanged lines around a change.
const DIFF_CONTEXT: usize = 2;

/// Makes the lines of what is open anew if something changed, and keeps them in the view memory.
pub fn refresh(state: &mut State, cols: usize) {
    let stamp = (state.team.revision, cols);
    if state.view.detail.stamp == stamp && !state.view.detail.lines.is_empty() {
        return;
    }
    if state.help.is_none() && matches!(state.detail.as_ref().map(|d| &d.kind), Some(DetailKind::Trace)) {
        let page = protocol_text::page(&state.team, cols, state.options.utc_offset);
        state.view.detail = DetailLines { stamp, lines: Arc::new(page.lines), targets: Arc::new(page.targets) };
        return;
    }
    let lines = if state.help.is_some() {
        help::lines(&state.options.keymap, cols)
    } else {
        state.detail.as_ref().map(|detail| lines(state, &detail.kind, cols)).unwrap_or_default()
    };
    state.view.detail = DetailLines { stamp, lines: Arc::new(lines), targets: Arc::default() };
}

fn lines(state: &State, kind: &DetailKind, cols: usize) -> Vec<RichLine> {
    let mut page = Page { out: Vec::new(), cols, utc_offset: state.options.utc_offset };
    match kind {
        DetailKind::Request(id) => match state.team.requests.get(id) {
            Some(request) => page.request(request, &state.team),
            None => page.say("This request is not known any more.", Ink::Dim),
        },
        DetailKind::Task(id) => match state.team.board.get(*id) {
            Some(task) => page.task(task, &state.team),
            None => page.say("This task was deleted.", Ink::Dim),
        },
        DetailKind::Message(message) => page.message(message),
        DetailKind::Costs => return super::spend_text::lines(&state.team, cols),
        DetailKind::Trace | DetailKind::Transcript(_) => {}
    }
    page.out
}

struct Page {
    out: Vec<RichLine>,
    cols: usize,
    utc_offset: i32,
}

impl Page {
    fn say(&mut self, text: &str, ink: Ink) {
        wrap(&[Span::new(one_line(text, 4_000), ink)], self.cols, &Indent::default(), &mut self.out);
    }

    fn field(&mut self, label: &str, text: &str, ink: Ink) {
        let head = Span::new(super::clip::left(label, 10), Ink::Dim);
        let indent = Indent { first: vec![head], rest: line(" ".repeat(10), Ink::Text) };
        wrap(&[Span::new(one_line(text, 4_000), ink)], self.cols, &indent, &mut self.out);
    }

    fn blank(&mut self) {
        self.out.push(Vec::new());
    }

    fn heading(&mut self, text: &str) {
        self.blank();
        self.out.push(line(text, Ink::Heading));
    }

    fn request(&mut self, request: &Request, team: &Projection) {
        let place = team.requests.place(&request.id).map(|at| format!(" · {at} of {}", team.requests.pending_len())).unwrap_or_default();
        let state = if request.is_pending() { format!("waits for you{place}") } else { requests_outcome(request) };
        let ink = if request.is_pending() { Ink::Attention } else { Ink::Text };
        // A title that the text begins with need not be read twice.
        let first = request.body.lines().next().unwrap_or_default();
        if one_line(first.trim_start_matches('#'), 4_000) != one_line(&request.title, 4_000) {
            self.say(&request.title, Ink::Strong);
        }
        self.field("state", &state, ink);
        self.field("asked", &format!("{} · id {}", words::clock(request.created, self.utc_offset), request.id), Ink::Text);
        if let Some(task) = request.task {
            let subject = team.board.get(task).map_or("", |t| t.subject.as_str());
            self.field("task", &format!("{task} {subject}"), Ink::Text);
        }
        if let Some(cwd) = request.extra.get("cwd").and_then(|v| v.as_str()) {
            self.field("in", cwd, Ink::Text);
        }
        if let Some(rule) = &request.rule {
            self.field("rule", &format!("{rule}  (what \"always\" would permit for this session)"), Ink::Text);
        }
        self.answer(request);
        if let Some(previous) = request.previous.as_ref().and_then(|id| team.requests.get(id)) {
            self.difference(previous, request);
        }
        self.blank();
        match request.kind {
            RequestKind::Plan => self.out.extend(markdown::render(request.approved_text().unwrap_or(&request.body), self.cols)),
            RequestKind::Permission | RequestKind::Shutdown => self.verbatim(&request.body),
        }
    }

    fn answer(&mut self, request: &Request) {
        match request.answer.as_ref().map(|a| &a.verdict) {
            Some(Verdict::Approve { note, edited, .. }) => {
                if let Some(note) = note {
                    self.field("note", note, Ink::Text);
                }
                if edited.is_some() {
                    self.field("edited", "the text below was approved with edits", Ink::Text);
                }
            }
            Some(Verdict::Reject { feedback: Some(feedback) }) => self.field("feedback", feedback, Ink::Text),
            Some(Verdict::Reject { feedback: None }) | None => {}
        }
    }

    fn verbatim(&mut self, text: &str) {
        for row in clean(text).lines() {
            hard_wrap(row, Ink::Code, self.cols, &Indent::default(), &mut self.out);
        }
    }

    fn difference(&mut self, previous: &Request, request: &Request) {
        self.heading(&format!("Changed since the version that was {}", previous.state.word()));
        if let Some(Verdict::Reject { feedback: Some(feedback) }) = previous.answer.as_ref().map(|a| &a.verdict) {
            self.field("you said", feedback, Ink::Text);
        }
        if previous.body.len() + request.body.len() > DIFF_MAX {
            return self.say("Both versions are too long to compare here.", Ink::Dim);
        }
        let (old, new) = (clean(&previous.body), clean(&request.body));
        // Lines that are the same in both anchor it, so that a step which stayed is not shown as gone and new.
        let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(old.as_ref(), new.as_ref());
        let groups = diff.grouped_ops(DIFF_CONTEXT);
        if groups.is_empty() {
            return self.say("Nothing: both versions say the same.", Ink::Dim);
        }
        for (at, group) in groups.iter().enumerate() {
            if at > 0 {
                self.out.push(line("  ⋯", Ink::Dim));
            }
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let (sign, ink) = match change.tag() {
                    ChangeTag::Delete => ("- ", Ink::Removed),
                    ChangeTag::Insert => ("+ ", Ink::Added),
                    ChangeTag::Equal => ("  ", Ink::Dim),
                };
                let text = change.value().trim_end_matches('\n');
                let blank = &text[..text.len() - text.trim_start().len()];
                let indent = Indent { first: line(format!("{sign}{blank}"), ink), rest: line(format!("  {blank}"), ink) };
                wrap(&[Span::new(text.trim_start(), ink)], self.cols, &indent, &mut self.out);
            }
        }
        self.heading("The whole text");
    }

    fn task(&mut self, task: &Task, team: &Projection) {
        let stuck = team.stuck(task.id);
        let (tone, state) = words::task(&team.board, task, stuck.is_some());
        self.say(&format!("{} {}", task.id, task.subject), Ink::Strong);
        self.field("state", &format!("{} {state}", tone.glyph()), Ink::Text);
        self.field("owner", task.owner.as_ref().map_or("nobody", |name| name.as_str()), Ink::Text);
        for blocker in &task.blocked_by {
            self.related("waits for", *blocker, team);
        }
        if let Some(why) = stuck {
            self.field("stuck", &format!("{}; f repairs it", words::stuck(why)), Ink::Attention);
        }
        for dependant in team.board.dependants(task.id).take(20) {
            self.related("blocks", dependant, team);
        }
        if let Some(spend) = team.by_task.get(&task.id) {
            let text = format!("{} tokens {}", words::tokens(spend.usage.total()), words::cost(spend));
            self.field("spent", &text, Ink::Text);
        }
        if !task.description.trim().is_empty() {
            self.blank();
            self.out.extend(markdown::render(&task.description, self.cols));
        }
        if !task.notes.is_empty() {
            self.heading("History");
        }
        for note in &task.notes {
            let text = format!("{} {} {}", words::clock(note.at, self.utc_offset), note.by, note.text);
            self.say(&text, Ink::Text);
        }
    }

    fn related(&mut self, label: &str, id: TaskId, team: &Projection) {
        match team.board.get(id) {
            Some(other) => {
                let (tone, state) = words::task(&team.board, other, team.stuck(id).is_some());
                self.field(label, &format!("{id} {} {state}  {}", tone.glyph(), other.subject), Ink::Text);
            }
            None => self.field(label, &format!("{id} missing"), Ink::Attention),
        }
    }

    fn message(&mut self, message: &Envelope) {
        self.say(&format!("{} → {}", message.from, message.to), Ink::Strong);
        self.field("at", &words::clock(message.at, self.utc_offset), Ink::Text);
        if let Some(id) = &message.request_id {
            self.field("request", id.as_str(), Ink::Text);
        }
        self.blank();
        self.out.extend(markdown::render(&message.content, self.cols));
    }
}
