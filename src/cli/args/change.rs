//! Arguments of the commands that change the team from another shell.

use super::ListArgs;
use clap::{Args, Subcommand};

/// `task …`
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// All tasks
    List(ListArgs),
    /// One task in full
    Show {
        /// Its number
        number: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Put a task on the board
    Add {
        /// One line
        subject: String,
        /// As long as it needs to be
        #[arg(long, default_value = "")]
        description: String,
        /// Numbers of the tasks it waits for: 3,4
        #[arg(long, value_name = "N,N", value_delimiter = ',')]
        blocked_by: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Mark a task as done
    Done {
        /// Its number
        number: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Give a task back to the board
    Release {
        /// Its number
        number: String,
        /// Why
        #[arg(long)]
        note: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a task off the board
    Delete {
        /// Its number
        number: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// `send`
#[derive(Clone, Debug, Args)]
pub struct SendArgs {
    /// Who
    pub name: String,
    /// What; "-" reads it from standard input
    pub text: String,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `approve`
#[derive(Clone, Debug, Args)]
pub struct ApproveArgs {
    /// The request's id
    pub id: String,
    /// Words for the asker
    #[arg(long)]
    pub note: Option<String>,
    /// For a permission: its rule holds for the rest of this session
    #[arg(long)]
    pub always: bool,
    /// The digest of the text you read, or its beginning (`requests --json`): refused when the text has changed since
    #[arg(long, value_name = "HEX")]
    pub digest: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `reject`
#[derive(Clone, Debug, Args)]
pub struct RejectArgs {
    /// The request's id
    pub id: String,
    /// Words for the asker
    #[arg(long)]
    pub feedback: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `spawn`
#[derive(Clone, Debug, Args)]
pub struct SpawnArgs {
    /// A free name
    pub name: String,
    /// What it is for
    #[arg(long)]
    pub role: String,
    /// Its first instruction
    #[arg(long)]
    pub prompt: Option<String>,
    /// Read-only until a plan is approved
    #[arg(long)]
    pub require_plan: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `shutdown`
#[derive(Clone, Debug, Args)]
pub struct ShutdownArgs {
    /// Who
    pub name: String,
    /// Cancel its model call, kill its commands
    #[arg(long)]
    pub now: bool,
    /// Why, for the member
    #[arg(long)]
    pub reason: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
