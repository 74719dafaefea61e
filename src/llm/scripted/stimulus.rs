//! What a user message tells, taken apart: mail, a claimed task, a verdict, a nudge, or plain words. The forms are those
//! that the runtime writes; nothing here gives any authority, a script only chooses its next words by them.

use super::script::{Trigger, VerdictWord};
use std::collections::BTreeMap;

/// A stimulus keeps at most this many characters of a text.
pub(super) const TEXT_MAX: usize = 8_000;

/// Values for placeholders.
pub(super) type Vars = BTreeMap<String, String>;

/// Something that was told.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stimulus {
    /// Which rules it may start.
    pub triggers: Vec<Trigger>,
    /// What it says.
    pub vars: Vars,
    /// For a verdict.
    pub verdict: Option<VerdictWord>,
}

impl Stimulus {
    /// A stimulus with its text and further values.
    pub fn new(triggers: &[Trigger], text: &str, vars: &[(&str, &str)]) -> Self {
        let cut = |text: &str| text.chars().take(TEXT_MAX).collect::<String>();
        let mut all: Vars = vars.iter().filter(|(_, v)| !v.is_empty()).map(|(k, v)| ((*k).to_owned(), cut(v))).collect();
        all.insert("text".into(), cut(text));
        Self { triggers: triggers.to_vec(), vars: all, verdict: None }
    }
}

/// Whether plain words beside an `<identity>` are words to the member (its first instruction) or about the team.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// A teammate's first instruction.
    Words,
    /// The lead's roster and open tasks.
    Notices,
}

const TAGS: [&str; 6] = ["mail", "auto-claimed", "plan-verdict", "nudge", "board-finished", "identity"];

/// Takes a user message apart, in order.
pub(super) fn read(text: &str, beside: Beside) -> Vec<Stimulus> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    let notices = rest.starts_with("<identity>") && beside == Beside::Notices;
    while !rest.is_empty() {
        match TAGS.iter().find_map(|tag| element(rest, tag)) {
            Some((element, after)) => {
                all.extend(stimulus(&element));
                rest = after.trim_start();
            }
            None => {
                let end = next_tag(rest);
                let plain = rest[..end].trim();
                if !plain.starts_with('<') && !notices {
                    all.push(Stimulus::new(&[Trigger::Prompt, Trigger::Goal], plain, &[("goal", plain)]));
                }
                rest = rest[end..].trim_start();
            }
        }
    }
    all
}

/// Where the next known tag begins a line; the end without one.
fn next_tag(text: &str) -> usize {
    let begins = |at: &usize| TAGS.iter().any(|tag| element(&text[*at + 1..], tag).is_some());
    text.match_indices('\n').map(|(at, _)| at).find(begins).map_or(text.len(), |at| at + 1)
}

struct Element<'a> {
    tag: &'a str,
    attributes: &'a str,
    content: &'a str,
}

/// The element that `text` begins with. Without a closing tag it reaches to the end.
fn element<'a>(text: &'a str, tag: &'a str) -> Option<(Element<'a>, &'a str)> {
    let after = text.strip_prefix('<')?.strip_prefix(tag)?;
    if !after.starts_with(['>', ' ']) {
        return None;
    }
    let close = after.find('>')?;
    let (attributes, body) = (&after[..close], &after[close + 1..]);
    let closing = format!("</{tag}>");
    let (content, rest) = body.split_once(&closing).unwrap_or((body, ""));
    Some((Element { tag, attributes, content: content.trim() }, rest))
}

/// The value of an attribute, empty when it is absent.
fn attribute(attributes: &str, name: &str) -> String {
    let start = format!(" {name}=\"");
    let value = attributes.split_once(&start).and_then(|(_, rest)| rest.split_once('"')).map_or("", |(value, _)| value);
    value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn stimulus(element: &Element<'_>) -> Option<Stimulus> {
    let content = element.content;
    match element.tag {
        "mail" => Some(mail(element)),
        "auto-claimed" => Some(claimed(content)),
        "plan-verdict" => Some(verdict(element)),
        "nudge" => Some(Stimulus::new(&[Trigger::Nudge], content, &[])),
        "board-finished" => Some(Stimulus::new(&[Trigger::BoardFinished], content, &[])),
        _ => None,
    }
}

fn mail(element: &Element<'_>) -> Stimulus {
    let from = attribute(element.attributes, "from");
    let request = attribute(element.attributes, "request_id");
    let kind = match attribute(element.attributes, "type").as_str() {
        "" => "message".to_owned(),
        kind => kind.to_owned(),
    };
    let content = element.content;
    let base = [("from", from.as_str()), ("kind", &kind), ("mail", content), ("request_id", &request)];
    match kind.as_str() {
        "shutdown_request" => {
            let own = [("shutdown_request_id", request.as_str())];
            Stimulus::new(&[Trigger::ShutdownRequest], content, &[&base[..], &own].concat())
        }
        "message" | "broadcast" if from == "human" => {
            Stimulus::new(&[Trigger::Goal, Trigger::Mail], content, &[&base[..], &[("goal", content)]].concat())
        }
        _ => Stimulus::new(&[Trigger::Mail], content, &base),
    }
}

fn claimed(content: &str) -> Stimulus {
    let (line, description) = content.split_once('\n').unwrap_or((content, ""));
    let head = line.trim().strip_prefix("Task").unwrap_or(line).trim_start();
    let (id, subject) = head.split_once(':').unwrap_or((head, ""));
    let id = id.trim().trim_start_matches('#');
    let vars = [("task_id", id), ("task", subject.trim()), ("description", description.trim())];
    Stimulus::new(&[Trigger::Claimed], content, &vars)
}

fn verdict(element: &Element<'_>) -> Stimulus {
    let (edited, words) = match element.content.split_once("<edited-plan>") {
        Some((before, rest)) => {
            let (plan, after) = rest.split_once("</edited-plan>").unwrap_or((rest, ""));
            (plan.trim(), format!("{before}{after}"))
        }
        None => ("", element.content.to_owned()),
    };
    let words = words.trim();
    let approved = attribute(element.attributes, "verdict").starts_with("approve");
    let word = match (approved, !edited.is_empty(), !words.is_empty()) {
        (true, true, _) => VerdictWord::Edited,
        (true, false, true) => VerdictWord::Noted,
        (true, false, false) => VerdictWord::Approved,
        (false, _, true) => VerdictWord::Feedback,
        (false, _, false) => VerdictWord::Rejected,
    };
    let (request, by) = (attribute(element.attributes, "request"), attribute(element.attributes, "by"));
    let key = if approved { "note" } else { "feedback" };
    let vars = [("request_id", request.as_str()), ("by", &by), ("plan", edited), (key, words)];
    Stimulus { verdict: Some(word), ..Stimulus::new(&[Trigger::Verdict], words, &vars) }
}
