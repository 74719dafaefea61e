//! The command line and the composition root: the only room that names concrete backends and models.
//!
//! Imports everything below. Deliberately absent: rules of the team, drawing.

pub mod app;
pub mod args;
mod change;
pub mod compose;
mod configure;
mod costs;
pub mod demo;
pub mod doctor;
pub mod error;
mod history;
pub mod logs;
pub mod out;
mod protocols;
mod read;
pub mod run;
pub mod session;
mod status;
pub mod team;
mod words;

pub use error::{CliError, Exit};

use args::{Cli, Command, ConfigCommand};
use clap::{CommandFactory as _, Parser as _};
use out::{Form, Out};
use session::Session;
use std::ffi::OsString;
use std::time::Duration;

/// How long work on other threads may still take when everything is done.
const LEAVE_TIME: Duration = Duration::from_millis(500);

/// Runs a command line (the program's name first) and returns the exit code. What failed is told on standard error.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
    let mut out = Out::standard();
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    match dispatch(cli, &mut out) {
        Ok(exit) => exit.code(),
        Err(error) => {
            if !matches!(error, CliError::ReaderGone) {
                out.say(&format!("signoff: {error}"));
            }
            error.exit().code()
        }
    }
}

/// clap prints help and version to standard output, faults to standard error.
fn usage(error: &clap::Error) -> u8 {
    let _ = error.print();
    if error.use_stderr() { Exit::Usage.code() } else { Exit::Done.code() }
}

fn dispatch(cli: Cli, out: &mut Out) -> Result<Exit, CliError> {
    let Cli { global, directory, command } = cli;
    let Some(command) = command else {
        let session = Session::open(&global, directory.as_deref())?;
        app::check_terminal(session.loaded.config.screen.plain)?;
        let _logging = log(&session, out)?;
        return block_on(Threads::Many, app::open(session, app::Opened::default(), out));
    };
    if let Some(directory) = directory {
        let text = format!("{} stands before a command: name the workspace with --workspace", directory.display());
        return Err(CliError::Usage(text));
    }
    match command {
        Command::Completions { shell } => completions(shell, out),
        Command::Protocols(args) => protocols::protocols(&args, out),
        Command::Demo(args) => {
            let (session, is_new) = app::demo_session(&global, args.dir.as_deref())?;
            let _logging = log(&session, out)?;
            let verb = if is_new { "works" } else { "goes on" };
            out.say(&format!("the demonstration {verb} in {}", session.workspace.display()));
            block_on(Threads::Many, app::open(session, app::Opened::demo(args.speed, is_new), out))
        }
        Command::Run(args) => {
            let session = Session::open(&global, None)?;
            session.mention_untrusted(out);
            let _logging = log(&session, out)?;
            block_on(Threads::Many, run::run(&session, &args, out))
        }
        Command::Doctor(args) if args.reset_terminal => doctor::reset_terminal(out),
        Command::Config(ConfigCommand::Init) => {
            with_files(&Session::open_for_new_settings(&global)?, Command::Config(ConfigCommand::Init), out)
        }
        command => with_files(&Session::open(&global, None)?, command, out),
    }
}

/// Commands that look at the files, or write into them, and are done.
fn with_files(session: &Session, command: Command, out: &mut Out) -> Result<Exit, CliError> {
    let one = Threads::One;
    match command {
        Command::Status(args) => status::status(session, Form::of(args.json), out),
        Command::Team(args) => read::members(session, Form::of(args.json), out),
        Command::Inbox(args) => read::inbox(session, &args, out),
        Command::Requests(args) => read::requests(session, &args, out),
        Command::Costs(args) => costs::costs(session, Form::of(args.json), out),
        Command::Task(command) => block_on(one, change::task(session, &command, out)),
        Command::Send(args) => block_on(one, change::send(session, &args, out)),
        Command::Approve(args) => block_on(one, change::approve(session, &args, out)),
        Command::Reject(args) => block_on(one, change::reject(session, &args, out)),
        Command::Spawn(args) => block_on(one, change::spawn(session, &args, out)),
        Command::Shutdown(args) => block_on(one, change::shutdown(session, &args, out)),
        Command::Doctor(args) => block_on(one, doctor::doctor(session, &args, out)),
        Command::Config(command) => configure::config(session, command, out),
        Command::Completions { .. } | Command::Protocols(_) | Command::Demo(_) | Command::Run(_) => {
            Err(CliError::Failed("this command does not work on files".into()))
        }
    }
}

/// Begins to log; tells when that is not possible.
fn log(session: &Session, out: &mut Out) -> Result<logs::Logging, CliError> {
    let (logging, trouble) = logs::start(session)?;
    trouble.iter().for_each(|trouble| out.say(&format!("note: {trouble}")));
    Ok(logging)
}

/// Handles that the async runtime and its signals need.
const HANDLES_MIN: usize = 12;
/// Threads for the members' work, on any machine: it is waiting, mostly for servers and sometimes for the disk.
const WORKERS: usize = 4;

/// How many threads a command needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Threads {
    /// It asks one thing after the other.
    One,
    /// It runs a team, or a screen beside one.
    Many,
}

/// The async runtime does not answer but panics where it cannot open its own handles: so that is tried before.
fn check_handles() -> Result<(), CliError> {
    let mut held = Vec::new();
    for number in 0..HANDLES_MIN {
        match std::fs::File::open("/dev/null") {
            Ok(file) => held.push(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                return Err(CliError::Failed(format!("only {number} more files can be opened ({error}): raise the limit (`ulimit -n`)")));
            }
        }
    }
    Ok(())
}

fn block_on(threads: Threads, command: impl Future<Output = Result<Exit, CliError>>) -> Result<Exit, CliError> {
    check_handles()?;
    let mut builder = match threads {
        Threads::One => tokio::runtime::Builder::new_current_thread(),
        Threads::Many => tokio::runtime::Builder::new_multi_thread(),
    };
    builder.worker_threads(WORKERS);
    let runtime = builder.enable_all().build().map_err(CliError::io("start the runtime"))?;
    let exit = runtime.block_on(command);
    // Nobody waits for a thread that still reads from a terminal or a disk.
    runtime.shutdown_timeout(LEAVE_TIME);
    exit
}

fn completions(shell: clap_complete::Shell, out: &mut Out) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "signoff", &mut script);
    out.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
