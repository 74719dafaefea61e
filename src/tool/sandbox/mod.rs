//! The operating system's wall around every command that a member runs.
//!
//! Permission rules guard against mistakes; this guards against malice: a command sees the workspace, the system's
//! programs and the person's toolchains, and nothing else; it writes to the workspace and to private places only; it
//! cannot touch `.git`, `.tasks`, `team` and `.signoff`, so that it can neither forge an approval nor plant a hook.
//!
//! | tier | made of | network | may run unasked |
//! |---|---|---|---|
//! | [`Tier::Full`] | bubblewrap: own root, processes, network, users; then Landlock and seccomp inside | own loopback, or the host's when the policy opens it | yes, as the permission rules say |
//! | [`Tier::Reduced`] | Landlock and seccomp | none, loopback neither | no: every command asks |
//! | [`Tier::None`] | nothing | - | nothing runs, unless the person starts the program without a sandbox |
//!
//! A command is started as `guard… wrapper… shell -c COMMAND`, where the wrapper ends in this very program with the
//! hidden argument [`ARGUMENT`] ([`run_inside`]): it restricts itself and then starts the shell. That needs no `unsafe`,
//! which a hook between fork and exec would. In the full tier it stays as the first process of its own process
//! namespace, so that whatever the command leaves behind ends with it, even after `setsid` and a double fork.
//!
//! Imports the rest of this room and `domain` only. Deliberately absent: which command may run (`policy`), a proxy that
//! lets single hosts through, limits on memory and processor time, other systems than Linux (they have tier
//! [`Tier::None`]).
//!
//! | file | holds |
//! |---|---|
//! | `detect` | which tier works here, found by trying it |
//! | `layout`, `etc` | what bubblewrap mounts, in order; the harmless part of `/etc` |
//! | `places` | the workspace, its protected folders, what may not be opened |
//! | `toolchains`, `repository` | which folders of the person a build and git need for reading |
//! | `prepared`, `reduced` | what is kept between commands; the tier without bubblewrap |
//! | `order`, `inside`, `inherited` | the hidden argument; files that must not reach a command |
//! | `access`, `seccomp` | Landlock rules; refused system calls |

use super::ToolError;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(target_os = "linux")]
mod access;
#[cfg(target_os = "linux")]
mod detect;
#[cfg(target_os = "linux")]
mod etc;
#[cfg(target_os = "linux")]
mod inherited;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(target_os = "linux")]
mod order;
#[cfg(target_os = "linux")]
mod places;
#[cfg(target_os = "linux")]
mod prepared;
#[cfg(target_os = "linux")]
mod reduced;
#[cfg(target_os = "linux")]
mod repository;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod toolchains;

#[cfg(not(target_os = "linux"))]
mod elsewhere;

#[cfg(not(target_os = "linux"))]
use elsewhere::Prepared;
#[cfg(target_os = "linux")]
use prepared::Prepared;

/// The hidden argument of the program: `signoff --exec-inside …`. `main` must hand what follows to [`run_inside`] before it
/// does anything else, and exit with its result.
pub const ARGUMENT: &str = "--exec-inside";

/// How strong the wall is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Everything: commands may run as the permission rules say.
    Full,
    /// Files are guarded and the network is shut, but processes and readable system files are the host's: ask before
    /// every command.
    Reduced,
    /// Nothing works here: commands are refused.
    None,
}

/// What was found by trying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The strongest tier that works.
    pub tier: Tier,
    /// What it is made of, and why nothing stronger is there with what to do about it; one sentence each, for people.
    pub reasons: Vec<String>,
    #[cfg(target_os = "linux")]
    bubblewrap: Option<PathBuf>,
}

/// What commands may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxPolicy {
    /// The folder that commands may write to, canonical. Neither the home folder nor one that holds it.
    pub workspace: PathBuf,
    /// Whether commands reach the network, the services on the host's loopback included. Full tier only.
    pub network: bool,
    /// Whether commands may write to `.git` (hooks and configuration stay shut; a malicious command can still make git
    /// run its own programs for the person, through a file that git looks for: open it for commands that are trusted).
    pub writable_git: bool,
    /// More files and folders to read, absolute.
    pub extra_read: Vec<PathBuf>,
    /// More files and folders to write, absolute.
    pub extra_write: Vec<PathBuf>,
}

impl SandboxPolicy {
    /// The usual policy: the workspace, no network, git for reading.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self { workspace: workspace.into(), network: false, writable_git: false, extra_read: Vec::new(), extra_write: Vec::new() }
    }
}

/// The person's surroundings that decide what is let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// The home folder: hidden but for toolchains.
    pub home: Option<PathBuf>,
    /// The environment: `PATH` and the variables that name toolchains are read.
    pub variables: BTreeMap<OsString, OsString>,
    /// What starts this program's [`run_inside`], without the program itself; usually [`ARGUMENT`] alone.
    pub again: Vec<OsString>,
    /// Where bubblewrap may be, absolute, first one first. Not `PATH`: a folder of the workspace may be on it.
    pub bubblewrap: Vec<PathBuf>,
    /// The strongest tier that is tried ([`LIMIT`]). A weaker one asks more, so that nothing is gained by naming it.
    pub strongest: Tier,
}

/// A variable that holds back stronger tiers (`reduced`, `none`): to see what a system without bubblewrap does.
pub const LIMIT: &str = "SIGNOFF_SANDBOX";

/// Where systems keep bubblewrap.
const BUBBLEWRAP: [&str; 4] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

impl Surroundings {
    /// Those of this process.
    pub fn of_process() -> Self {
        let variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let home = variables.get(OsStr::new("HOME")).map(PathBuf::from).filter(|home| home.is_absolute());
        let strongest = match variables.get(OsStr::new(LIMIT)).and_then(|word| word.to_str()) {
            Some("reduced") => Tier::Reduced,
            Some("none") => Tier::None,
            Some(_) | None => Tier::Full,
        };
        Self { home, variables, again: vec![ARGUMENT.into()], bubblewrap: BUBBLEWRAP.map(PathBuf::from).into(), strongest }
    }
}

/// Why a command cannot be put behind the wall. Nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// No tier works here.
    #[error(
        "no sandbox works on this system, so commands are refused ({reasons}); `signoff doctor` tells more, and --unsafe-no-sandbox runs them without one"
    )]
    Unavailable { reasons: String },
    /// The workspace cannot be walled in.
    #[error("commands cannot be kept inside {}: {reason}", path.display())]
    Workspace { path: PathBuf, reason: &'static str },
    /// One of the protected places is not what it should be.
    #[error("{} cannot be protected from commands: {reason}", path.display())]
    Protected { path: PathBuf, reason: String },
    /// The policy opens a place that must stay shut.
    #[error("{} cannot be opened for commands: {reason}", path.display())]
    Extra { path: PathBuf, reason: &'static str },
    /// The operating system said no.
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
}

impl From<SandboxError> for ToolError {
    fn from(error: SandboxError) -> Self {
        Self::Start { reason: error.to_string() }
    }
}

/// The wall around the commands of one team. Cheap to clone; the last clone that goes removes its private folder.
#[derive(Clone, Debug)]
pub struct Sandbox(Arc<Prepared>);

impl PartialEq for Sandbox {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Sandbox {}

impl Sandbox {
    /// For commands under `policy`. Does nothing yet: what works here is tried at first use.
    pub fn new(policy: SandboxPolicy, surroundings: Surroundings) -> Self {
        Self(Arc::new(Prepared::new(policy, surroundings, detect)))
    }

    /// Which tier works here. The first call tries it (about 50 ms, at most about 20 s on a system that hangs) and blocks;
    /// later calls are free.
    pub fn detection(&self) -> &Detection {
        self.0.detection()
    }

    /// The argv between guard and shell for one command. Blocks for some file look-ups, and at first use for
    /// [`Sandbox::detection`]. Makes protected folders that are missing. Call it anew for each command.
    pub fn wrapper(&self) -> Result<Vec<OsString>, SandboxError> {
        self.0.wrapper()
    }
}

/// Which tier works here, for `doctor`: see [`Sandbox::detection`]. Blocks.
pub fn detect(surroundings: &Surroundings) -> Detection {
    #[cfg(target_os = "linux")]
    return detect::detect(surroundings);
    #[cfg(not(target_os = "linux"))]
    return elsewhere::detect(surroundings);
}

/// Runs on the inner side of the wall, with what followed [`ARGUMENT`]: restricts this process, starts the command and
/// returns the exit code (126: the wall could not be built and nothing was run). Must be called on the main thread of an
/// otherwise idle process.
pub fn run_inside(args: impl IntoIterator<Item = OsString>) -> i32 {
    #[cfg(target_os = "linux")]
    return inside::run(args.into_iter().collect());
    #[cfg(not(target_os = "linux"))]
    return elsewhere::run(args);
}
