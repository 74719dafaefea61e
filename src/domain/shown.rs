//! What a collaboration protocol shows of itself: its graph, who is at work there, and small tables of what is particular
//! to it. Neutral, so that one view draws every protocol and the log carries it.

use super::MemberName;
use super::text::one_line;
use serde::{Deserialize, Serialize};

/// Rows of a table; what is beyond is counted in a last row.
pub const ROWS_MAX: usize = 64;
/// Longest cell, in characters.
pub const CELL_MAX: usize = 160;

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its rows; a row may be shorter than the columns.
    #[serde(default)]
    pub rows: Vec<Vec<String>>,
}

impl Section {
    /// A table without rows.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        Self { title: one_line(&title.into(), CELL_MAX), columns: columns.iter().map(|c| (*c).to_owned()).collect(), rows: Vec::new() }
    }

    /// With rows: cells on one line and cut, and no more than [`ROWS_MAX`].
    #[must_use]
    pub fn with<const N: usize>(mut self, rows: impl IntoIterator<Item = [String; N]>) -> Self {
        let mut more = 0usize;
        for row in rows {
            if self.rows.len() < ROWS_MAX {
                self.rows.push(row.iter().map(|cell| one_line(cell, CELL_MAX)).collect());
            } else {
                more += 1;
            }
        }
        if more > 0 {
            self.rows.push(vec![format!("and {more} more")]);
        }
        self
    }
}

/// A graph as it is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownGraph {
    /// In order.
    pub nodes: Vec<ShownNode>,
    /// In order.
    pub edges: Vec<ShownEdge>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownNode {
    /// Unique in its graph.
    pub id: String,
    /// What happens there, as one word: `start`, `member`, `supervisor`, `bidding`, `fork`, `join`, `choice`, `end`.
    pub kind: String,
    /// Who works there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberName>,
}

/// A way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownEdge {
    /// The node it leaves.
    pub from: String,
    /// The node it enters.
    pub to: String,
    /// When it is taken, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
}

/// A node where something is to be seen; the others are at rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMark {
    /// The node.
    pub node: String,
    /// What is to be seen.
    pub state: NodeState,
}

/// What is to be seen at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// Somebody acts there now.
    Running,
    /// Somebody waits there for a verdict or for the person.
    Held,
    /// The last run there failed.
    Failed,
    /// Who worked there has left.
    Gone,
    /// The last run there ended well.
    Done,
}
