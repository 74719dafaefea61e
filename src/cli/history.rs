//! What the event log alone knows, for commands of another shell.

use super::error::CliError;
use crate::domain::shown::{NodeMark, Section};
use crate::domain::usage::Spending;
use crate::domain::{Activity, EventRecord, MemberName, TeamEvent};
use crate::store::TeamStore;
use std::collections::{HashMap, VecDeque};

/// How much of the log is read in one go, in bytes.
const CHUNK: usize = 1 << 20;

/// What the event log alone knows.
#[derive(Default)]
pub struct History {
    pub activities: HashMap<MemberName, Activity>,
    pub spending: Spending,
    pub pid: Option<u32>,
    pub acting: Vec<NodeMark>,
    pub sections: Vec<Section>,
    pub steps: VecDeque<EventRecord>,
}

/// Steps that `status` tells, the last ones; all are in the event log.
const STEPS_MAX: usize = 100;

/// Folds the whole log.
pub fn history(store: &TeamStore) -> Result<History, CliError> {
    let (mut history, mut offset) = (History::default(), 0);
    loop {
        let read = store.events_after(offset, CHUNK)?;
        if read.next == offset {
            return Ok(history);
        }
        offset = read.next;
        for record in read.records {
            if let TeamEvent::ProtocolShown { marks, sections, .. } = record.event {
                (history.acting, history.sections) = (marks, sections);
            } else if let TeamEvent::ProtocolChanged { .. } = record.event {
                (history.acting, history.sections) = (Vec::new(), Vec::new());
            } else if let TeamEvent::Traced { .. } = record.event {
                history.steps.push_back(record);
                if history.steps.len() > STEPS_MAX {
                    history.steps.pop_front();
                }
            } else if let TeamEvent::UsageAdded { name, model, usage, cost, task, .. } = &record.event {
                history.spending.add_call(name, model, *task, *usage, *cost);
            } else if let TeamEvent::ActivityChanged { name, activity } = record.event {
                history.activities.insert(name, activity);
            } else if let TeamEvent::Opened { pid, .. } = record.event {
                history.pid = Some(pid);
            }
        }
    }
}
