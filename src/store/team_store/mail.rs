//! Mail: one log a member, one for the person. Reading never removes anything; readers keep their own offset.

use super::TeamStore;
use super::log::Page;
use crate::domain::{Envelope, MemberName, Party};
use crate::store::{Fault, StoreError, Topic};

/// Mail after an offset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mail {
    /// The messages, oldest first.
    pub messages: Vec<Envelope>,
    /// The offset after them, in bytes. Recorded together with their effect, it is the acknowledgement.
    pub next: u64,
    /// Lines that are no messages; `next` is after them, too.
    pub faults: Vec<Fault>,
}

impl TeamStore {
    /// Puts a message into the inbox of its `to` (a member or `human`); returns the inbox's length after it, in bytes.
    pub fn deliver(&self, message: &Envelope) -> Result<u64, StoreError> {
        let topic = match Party::read(&message.to) {
            Party::Human => Topic::HumanInbox,
            Party::Member(name) => Topic::Inbox(name),
            Party::System | Party::Outside(_) => {
                return Err(StoreError::BadName { name: message.to.clone(), reason: "has no inbox: write to a member or to human" });
            }
        };
        self.write_lines(&topic, std::slice::from_ref(message))
    }

    /// A member's mail after `offset`, at most about `max_bytes` of it.
    pub fn mail_after(&self, name: &MemberName, offset: u64, max_bytes: usize) -> Result<Mail, StoreError> {
        self.mail(&Topic::Inbox(name.clone()), offset, max_bytes)
    }

    /// The person's mail after `offset`, at most about `max_bytes` of it.
    pub fn human_mail_after(&self, offset: u64, max_bytes: usize) -> Result<Mail, StoreError> {
        self.mail(&Topic::HumanInbox, offset, max_bytes)
    }

    fn mail(&self, topic: &Topic, offset: u64, max_bytes: usize) -> Result<Mail, StoreError> {
        let page: Page<Envelope> = self.read_lines(topic, offset, max_bytes)?;
        let mut messages = page.items;
        for message in messages.iter_mut().filter(|message| message.to.is_empty()) {
            message.to = topic.stem().to_owned();
        }
        Ok(Mail { messages, next: page.next, faults: page.faults })
    }

    /// The offset after a member's last message: where the mail of a new generation begins.
    pub fn inbox_end(&self, name: &MemberName) -> Result<u64, StoreError> {
        self.backend.end(&Topic::Inbox(name.clone()))
    }

    /// The offset after the person's last message.
    pub fn human_inbox_end(&self) -> Result<u64, StoreError> {
        self.backend.end(&Topic::HumanInbox)
    }

    /// Moves a member's inbox aside (`NAME.gN.jsonl`), so that the next generation does not see it.
    pub fn archive_inbox(&self, name: &MemberName, generation: crate::domain::Generation) -> Result<(), StoreError> {
        self.backend.archive(&Topic::Inbox(name.clone()), &format!("g{}", generation.0))
    }
}
