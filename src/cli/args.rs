//! The command line as it is typed.

mod change;

pub use change::{ApproveArgs, RejectArgs, SendArgs, ShutdownArgs, SpawnArgs, TaskCommand};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  signoff demo                     see it work: a bundled project, no key, no network
  signoff                          open the screen here
  signoff run \"Make the tests pass\" --timeout 30m --json
  signoff status                   look at the team from another shell
  signoff approve 3f9a01bc --note \"go on\"

A directory that is named like a command needs ./ before it.
Exit codes: 0 done, 1 failed, 2 usage, 3 refused or unknown, 4 timed out, 130 interrupted.";

/// Run and supervise a team of coding agents: sign off their plans, sign off the agents.
#[derive(Debug, Parser)]
#[command(name = "signoff", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Cli {
    /// Settings for every command.
    #[command(flatten)]
    pub global: Global,
    /// The directory the team works in [default: the current one]
    #[arg(value_name = "WORKSPACE")]
    pub directory: Option<PathBuf>,
    /// What to do instead of opening the screen.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Settings for every command.
#[derive(Clone, Debug, Default, Args)]
pub struct Global {
    /// The directory the team works in
    #[arg(long, value_name = "DIR", global = true)]
    pub workspace: Option<PathBuf>,
    /// A settings file instead of the usual one
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Which provider is asked: a name from the settings, or "scripted"
    #[arg(long, value_name = "NAME", global = true)]
    pub provider: Option<String>,
    /// The model, as the server knows it
    #[arg(long, value_name = "MODEL", global = true)]
    pub model: Option<String>,
    /// The script that the scripted model plays
    #[arg(long, value_name = "FILE", global = true)]
    pub script: Option<PathBuf>,
    /// The way the team works together (see `signoff protocols`), instead of the one it has
    #[arg(long, value_name = "NAME", global = true)]
    pub protocol: Option<String>,
    /// No colours
    #[arg(long, global = true)]
    pub no_color: bool,
    /// One line an event instead of the full screen, for screen readers
    #[arg(long, global = true)]
    pub plain: bool,
    /// Run commands without the sandbox, even where one works
    #[arg(long, global = true)]
    pub unsafe_no_sandbox: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The app on a bundled sample project with the scripted model: no key, no network
    Demo(DemoArgs),
    /// A team without a screen
    Run(RunArgs),
    /// The team at a glance
    Status(ListArgs),
    /// The members
    Team(ListArgs),
    /// Tokens and money by member, model and task
    Costs(ListArgs),
    /// A member's mail
    Inbox(InboxArgs),
    /// What waits for a decision; with an id: the whole text
    Requests(RequestsArgs),
    /// The board
    #[command(subcommand)]
    Task(TaskCommand),
    /// Write to a member; "all" writes to everybody
    Send(SendArgs),
    /// Approve a request
    Approve(ApproveArgs),
    /// Reject a request
    Reject(RejectArgs),
    /// Start a teammate
    Spawn(SpawnArgs),
    /// Ask a member to shut down
    Shutdown(ShutdownArgs),
    /// Check terminal, workspace, provider and sandbox; says what to mend
    Doctor(DoctorArgs),
    /// Settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// The ways a team can work together; with a name: graph, tools and rules of one
    Protocols(ProtocolsArgs),
    /// A completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

/// A list.
#[derive(Clone, Copy, Debug, Args)]
pub struct ListArgs {
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `protocols`
#[derive(Clone, Debug, Args)]
pub struct ProtocolsArgs {
    /// Show this one in full
    pub name: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `demo`
#[derive(Clone, Debug, Args)]
pub struct DemoArgs {
    /// Where the sample project is written: a new or empty directory [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// How fast the script plays: 2 is twice as fast, 0 without any wait
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    pub speed: f64,
}

/// `run`
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// What the team should do; "-" reads it from standard input
    pub goal: String,
    /// What happens to plans: ask waits for `signoff approve` in another shell
    ///
    /// [default: as the settings say, where they say auto; else deny]
    #[arg(long, value_enum)]
    pub plans: Option<Plans>,
    /// Each event as a JSON object on a line
    #[arg(long)]
    pub json: bool,
    /// Stop after this time: 90s, 5m, 1h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,
}

/// What happens to plans without a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Plans {
    /// Wait for a decision from another shell; commands that need permission wait, too
    Ask,
    /// Approve, and say so
    Auto,
    /// Reject
    Deny,
}

/// `inbox`
#[derive(Clone, Debug, Args)]
pub struct InboxArgs {
    /// A member's name, or "human" for what was written to you
    pub name: String,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Only the last N messages
    #[arg(long, value_name = "N")]
    pub last: Option<usize>,
}

/// `requests`
#[derive(Clone, Debug, Args)]
pub struct RequestsArgs {
    /// Show this one in full
    pub id: Option<String>,
    /// Decided ones, too
    #[arg(long)]
    pub all: bool,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// `doctor`
#[derive(Clone, Copy, Debug, Args)]
pub struct DoctorArgs {
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Print what brings a terminal back that a killed program left unusable, and nothing else
    #[arg(long)]
    pub reset_terminal: bool,
}

/// `config …`
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Where settings, state and logs lie
    Path(ListArgs),
    /// Each setting and where it comes from
    Show(ListArgs),
    /// Write a settings file with every key and its default
    Init,
    /// Let this workspace's file set what spends, sends, runs or decides
    Trust {
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// Reads `250ms`, `90s`, `5m`, `1h`, `1h30m`; a bare number is seconds.
///
/// # Errors
/// In words, when it is none of these, or zero.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no duration: write 90s, 5m or 1h");
    let mut total = Duration::ZERO;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit_end = rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| digits + at);
        let millis = match &rest[digits..unit_end] {
            "ms" => 1,
            "" | "s" => 1_000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        let part = number.checked_mul(millis).map(Duration::from_millis).ok_or_else(wrong)?;
        total = total.checked_add(part).ok_or_else(wrong)?;
        rest = &rest[unit_end..];
    }
    if total.is_zero() { Err(wrong()) } else { Ok(total) }
}
