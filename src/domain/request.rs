//! A request: a question with an id that gets exactly one answer. One state machine, three uses.
//!
//! ```text
//!             submit            answer(approve)  -> approved
//!  (none) -----------> pending  answer(reject)   -> rejected
//!                               withdraw         -> withdrawn
//!                               deadline         -> expired
//! ```
//! Origin: learn-claude-code s10 (one FSM for shutdown and plans); exactly-once, digests and deadlines are ours.

use super::{Digest, Extra, Generation, MemberName, Party, Refusal, RequestId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// The target should end its work.
    Shutdown,
    /// A plan should be carried out.
    Plan,
    /// A command should run or a path be touched.
    Permission,
}

impl RequestKind {
    /// The word that screens use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Shutdown => "shutdown",
            Self::Plan => "plan",
            Self::Permission => "permission",
        }
    }
}

/// Where a request stands. Everything but pending is terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// Not answered yet.
    #[default]
    Pending,
    /// Answered with yes.
    Approved,
    /// Answered with no.
    Rejected,
    /// The asker is gone or its work changed.
    Withdrawn,
    /// The deadline passed.
    Expired,
}

impl RequestState {
    /// The word that screens use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
        }
    }
}

/// What a decider says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// Yes, with an optional note, and for plans optionally an edited text that replaces the submitted one.
    Approve {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<String>,
        /// For a permission: the rule also holds for the rest of this session.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        always: bool,
    },
    /// No, with words that go to the asker.
    Reject {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
}

impl Verdict {
    /// A bare yes.
    pub fn approve() -> Self {
        Self::Approve { note: None, edited: None, always: false }
    }

    /// A bare no.
    pub fn reject() -> Self {
        Self::Reject { feedback: None }
    }

    /// Whether this is a yes.
    pub fn is_approval(&self) -> bool {
        matches!(self, Self::Approve { .. })
    }
}

/// A verdict, with who gave it, when, and on exactly which text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Who decided.
    pub by: Party,
    /// When.
    pub at: Timestamp,
    /// Digest of the text that was shown to the decider.
    pub digest: Digest,
    /// What was said.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// A question with exactly one answer; `team/requests/ID.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// 8 hex digits.
    pub id: RequestId,
    /// What is asked.
    pub kind: RequestKind,
    /// Who asks.
    pub asker: Party,
    /// For a shutdown the member that should end; otherwise the asking member.
    pub target: MemberName,
    /// The generation of `target` it is bound to.
    #[serde(default)]
    pub generation: Generation,
    /// One line for lists.
    pub title: String,
    /// The plan, the command, or the reason: what is decided upon.
    pub body: String,
    /// The task the plan is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The plan's previous version, for the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<RequestId>,
    /// For a permission: the rule that "always" would add, shown word for word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// When it was asked.
    pub created: Timestamp,
    /// When it expires by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// For a shutdown: by force, at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Where it stands.
    #[serde(default)]
    pub state: RequestState,
    /// Set once, together with a terminal state of approved or rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Why it was withdrawn or expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Fields of other programs.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Who may decide plans besides the human.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanReviewer {
    /// Only the person.
    #[default]
    Human,
    /// The person or the lead, whoever is first.
    Lead,
}

impl Request {
    /// The digest of what is decided upon.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.body)
    }

    /// Whether it still waits for an answer.
    pub fn is_pending(&self) -> bool {
        self.state == RequestState::Pending
    }

    /// Whether `by` may answer: a shutdown only by its target or the runtime for it; a plan or permission by the
    /// human, or a plan by the lead where `reviewer` allows it; never by the asker itself.
    pub fn may_answer(&self, by: &Party, reviewer: PlanReviewer) -> bool {
        match self.kind {
            RequestKind::Shutdown => *by == Party::System || by.member() == Some(&self.target),
            RequestKind::Plan => *by == Party::Human || (by.is_lead() && reviewer == PlanReviewer::Lead && !self.target.is_lead()),
            RequestKind::Permission => *by == Party::Human,
        }
    }

    /// The request with its answer. `shown` is the digest of the text the decider saw.
    pub fn answered(&self, by: &Party, verdict: Verdict, shown: &Digest, reviewer: PlanReviewer, at: Timestamp) -> Result<Self, Refusal> {
        self.check_open()?;
        if !self.may_answer(by, reviewer) {
            return Err(Refusal::NotYours { id: self.id.clone(), by: by.clone(), kind: self.kind });
        }
        if *shown != self.digest() {
            return Err(Refusal::Changed { id: self.id.clone() });
        }
        if let Verdict::Approve { edited: Some(text), .. } = &verdict
            && (self.kind != RequestKind::Plan || text.trim().is_empty())
        {
            return Err(Refusal::Invalid(format!(
                "only a plan is approved with edits, and only with words in it: reject this {} request",
                self.kind.word()
            )));
        }
        let state = if verdict.is_approval() { RequestState::Approved } else { RequestState::Rejected };
        let answer = Answer { by: by.clone(), at, digest: shown.clone(), verdict };
        Ok(Self { state, answer: Some(answer), ..self.clone() })
    }

    /// The request withdrawn or expired, with the reason.
    pub fn closed(&self, state: RequestState, reason: impl Into<String>) -> Result<Self, Refusal> {
        self.check_open()?;
        Ok(Self { state, ended: Some(reason.into()), ..self.clone() })
    }

    fn check_open(&self) -> Result<(), Refusal> {
        if self.is_pending() {
            return Ok(());
        }
        let answer = self.answer.as_ref();
        Err(Refusal::AlreadyDecided { id: self.id.clone(), state: self.state, by: answer.map(|a| a.by.clone()), at: answer.map(|a| a.at) })
    }

    /// The text that was approved: the edited one where there is one.
    pub fn approved_text(&self) -> Option<&str> {
        match self.answer.as_ref().map(|a| &a.verdict) {
            Some(Verdict::Approve { edited, .. }) => Some(edited.as_deref().unwrap_or(&self.body)),
            Some(Verdict::Reject { .. }) | None => None,
        }
    }
}

/// What a shutdown request says when its asker gave no reason.
pub fn please_finish(asker: &Party) -> String {
    let who = if *asker == Party::Human { "the person".to_owned() } else { asker.to_string() };
    format!("{who} asks you to finish")
}
