//! Where entities and logs live below a workspace, and back: which one a file name belongs to.

use super::{Change, Key, KeyKind, StoreError, Topic};
use crate::domain::{MemberName, RequestId, TaskId};
use std::fmt;

/// A folder of the workspace that the store looks into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    Tasks,
    Team,
    Inbox,
    Requests,
    Transcripts,
}

impl Folder {
    /// Its path below the workspace.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Tasks => ".tasks",
            Self::Team => "team",
            Self::Inbox => "team/inbox",
            Self::Requests => "team/requests",
            Self::Transcripts => "team/transcripts",
        }
    }
}

impl KeyKind {
    pub(super) fn folder(self) -> Folder {
        match self {
            Self::Tasks => Folder::Tasks,
            Self::Requests => Folder::Requests,
        }
    }

    /// The key of a file in this kind's folder. Only the exact form that we write counts: `task_01.json` is nobody's.
    pub(super) fn key_of(self, file_name: &str) -> Option<Key> {
        match self {
            Self::Tasks => task_of(file_name).map(Key::Task),
            Self::Requests => request_of(file_name).map(Key::Request),
        }
    }
}

impl Key {
    pub(super) fn folder(&self) -> Folder {
        match self {
            Self::Task(_) => Folder::Tasks,
            Self::Team | Self::Memory(_) => Folder::Team,
            Self::Request(_) => Folder::Requests,
        }
    }

    /// Its file's name. A protocol's memory may not take the name of the team's own file, in any case.
    pub(super) fn file_name(&self) -> Result<String, StoreError> {
        match self {
            Self::Task(id) => Ok(format!("task_{}.json", id.0)),
            Self::Team => Ok("config.json".into()),
            Self::Request(id) => Ok(format!("{id}.json")),
            Self::Memory(name) if name.same("config") => {
                Err(StoreError::BadName { name: name.to_string(), reason: "is the name of the team's own file" })
            }
            Self::Memory(name) => Ok(format!("{}.json", name.as_str())),
        }
    }
}

impl Topic {
    pub(super) fn folder(&self) -> Folder {
        match self {
            Self::Inbox(_) | Self::HumanInbox => Folder::Inbox,
            Self::Transcript(_) => Folder::Transcripts,
            Self::Events => Folder::Team,
        }
    }

    /// Its file's name without `.jsonl`.
    pub(super) fn stem(&self) -> &str {
        match self {
            Self::Inbox(name) | Self::Transcript(name) => name.as_str(),
            Self::HumanInbox => "human",
            Self::Events => "events",
        }
    }

    pub(super) fn file_name(&self) -> String {
        format!("{}.jsonl", self.stem())
    }
}

/// The path below the workspace, with `/`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file_name() {
            Ok(name) => write!(f, "{}/{name}", self.folder().path()),
            Err(_) => write!(f, "{}/?", self.folder().path()),
        }
    }
}

/// The path below the workspace, with `/`.
impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}.jsonl", self.folder().path(), self.stem())
    }
}

/// What changes when this file does; `None` for files that are not the store's.
pub(super) fn change_of(folder: Folder, file_name: &str) -> Option<Change> {
    match folder {
        Folder::Tasks => task_of(file_name).map(|id| Change::Key(Key::Task(id))),
        Folder::Requests => request_of(file_name).map(|id| Change::Key(Key::Request(id))),
        Folder::Inbox if file_name == "human.jsonl" => Some(Change::Topic(Topic::HumanInbox)),
        Folder::Inbox => member_of(file_name, ".jsonl").map(|name| Change::Topic(Topic::Inbox(name))),
        Folder::Transcripts => member_of(file_name, ".jsonl").map(|name| Change::Topic(Topic::Transcript(name))),
        Folder::Team => match file_name {
            "config.json" => Some(Change::Key(Key::Team)),
            "events.jsonl" => Some(Change::Topic(Topic::Events)),
            other => member_of(other, ".json").map(|name| Change::Key(Key::Memory(name))),
        },
    }
}

fn task_of(file_name: &str) -> Option<TaskId> {
    let digits = file_name.strip_prefix("task_")?.strip_suffix(".json")?;
    TaskId::parse(digits).filter(|id| id.0.to_string() == digits)
}

fn request_of(file_name: &str) -> Option<RequestId> {
    let stem = file_name.strip_suffix(".json")?;
    RequestId::parse(stem).filter(|id| id.as_str() == stem)
}

/// The member whose file this is, if the name is in the one form that we write.
pub(super) fn member_of(file_name: &str, suffix: &str) -> Option<MemberName> {
    let stem = file_name.strip_suffix(suffix)?;
    MemberName::parse(stem).ok().filter(|name| name.as_str() == stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_form_of_a_task_file_is_a_task() {
        assert_eq!(task_of("task_12.json"), Some(TaskId(12)));
        for odd in ["task_01.json", "task_0.json", "task_.json", "task_#3.json", "task_1.json~", "Task_1.json", "task_1e3.json"] {
            assert_eq!(task_of(odd), None, "{odd}");
        }
        assert_eq!(task_of("task_99999999999999999999999.json"), None);
    }

    #[test]
    fn every_place_maps_back_to_what_it_belongs_to() {
        let name = MemberName::parse("alice").unwrap();
        let request = RequestId::parse("0a1b2c3d").unwrap();
        for key in [Key::Task(TaskId(7)), Key::Team, Key::Request(request), Key::Memory(name.clone())] {
            assert_eq!(change_of(key.folder(), &key.file_name().unwrap()), Some(Change::Key(key)));
        }
        for topic in [Topic::Inbox(name.clone()), Topic::HumanInbox, Topic::Transcript(name), Topic::Events] {
            assert_eq!(change_of(topic.folder(), &topic.file_name()), Some(Change::Topic(topic)));
        }
    }

    #[test]
    fn a_protocols_memory_cannot_take_the_teams_own_file() {
        assert!(Key::Memory(MemberName::parse("Config").unwrap()).file_name().is_err());
    }
}
