//! `signoff` and `signoff demo`: the full screen, or the linear mode.

use super::compose::{Choice, Fallback, choose_model};
use super::demo;
use super::doctor;
use super::error::{CliError, Exit};
use super::out::Out;
use super::session::{Session, Walls};
use super::team::{self, Opening};
use crate::app::{ColorMode, Keymap, State, StateOptions};
use crate::config::{AsciiMode, Env, env_var, read_plain};
use crate::domain::{MemberName, Party, TeamCommand, TranscriptEntry};
use crate::llm::scripted::demo::GOAL;
use crate::runtime::{Team, clock};
use crate::store::TeamStore;
use crate::tui::plain::{PlainEnd, Stay, plain};
use crate::tui::style::Style;
use crate::tui::{Ended, Options, TeamScreen, TranscriptSource, TuiError};
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// How the app is opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opened {
    /// What the lead is told at once.
    pub goal: Option<String>,
    /// How fast a script plays; `None` as its file says.
    pub speed: Option<f64>,
}

impl Opened {
    /// As the demonstration; the goal is for a team that is new.
    pub fn demo(speed: f64, is_new: bool) -> Self {
        Self { goal: is_new.then(|| GOAL.into()), speed: Some(speed) }
    }
}

/// Whether a screen can be shown at all; checked before anything is written.
///
/// # Errors
/// [`TuiError::NoTerminal`] when standard output is none and the linear mode was not asked for.
pub fn check_terminal(plain: bool) -> Result<(), CliError> {
    if plain || std::io::stdout().is_terminal() { Ok(()) } else { Err(TuiError::NoTerminal.into()) }
}

/// Opens the app on a session and runs it to its end.
///
/// # Errors
/// When the settings, the terminal or the team cannot be used.
pub async fn open(session: Session, opened: Opened, out: &mut Out) -> Result<Exit, CliError> {
    check_terminal(session.loaded.config.screen.plain)?;
    session.mention_untrusted(out);
    let screen = face(&session)?;
    let store = session.store()?;
    let slot: Slot = Arc::default();
    let is_plain = session.loaded.config.screen.plain;
    let env = session.env.clone();
    let opener = attach(session, opened, slot.clone());
    let exit = if is_plain { linear(opener.await?).await } else { full(screen, store, &env, opener).await };
    let team = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(team) = team {
        team.close().await;
    }
    exit
}

/// The team that was opened, for the end.
type Slot = Arc<Mutex<Option<Arc<dyn Team>>>>;

/// Chooses the model and opens the team, after the first frame: looking for servers on this machine takes a moment.
async fn attach(session: Session, opened: Opened, slot: Slot) -> Result<Arc<dyn Team>, CliError> {
    let team: Arc<dyn Team> = match team::running_elsewhere(&session)? {
        Some(remote) => Arc::new(remote),
        None => {
            let Session { loaded, env, .. } = &session;
            let choice = Choice { config: &loaded.config, env, speed: opened.speed, fallback: Fallback::Scripted };
            let mut chosen = choose_model(choice).await?;
            if chosen.no_model && demo::is_made_by_us(&session.workspace) {
                let dir = session.workspace.display();
                chosen.notice =
                    Some(format!("No model answers. A demonstration has made this folder: `signoff demo --dir {dir}` goes on with it."));
            }
            team::open(Opening::new(&session, session.team_settings(), chosen)?).await?
        }
    };
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(team.clone());
    if let Some(goal) = opened.goal {
        team.command(Party::Human, TeamCommand::Send { to: "lead".into(), content: goal }).await?;
    }
    Ok(team)
}

async fn linear(team: Arc<dyn Team>) -> Result<Exit, CliError> {
    let stay = if std::io::stdin().is_terminal() { Stay::UntilLeft } else { Stay::UntilFinished };
    let input = tokio::io::BufReader::new(tokio::io::stdin());
    let end = plain(team, input, tokio::io::stdout(), stay).await.map_err(|source| match source.kind() {
        std::io::ErrorKind::BrokenPipe => CliError::ReaderGone,
        _ => CliError::Io { action: "write to standard output".into(), source },
    })?;
    Ok(match end {
        PlainEnd::Left | PlainEnd::Finished { ok: true } => Exit::Done,
        PlainEnd::Finished { ok: false } => Exit::Failed,
    })
}

async fn full<F>(mut screen: TeamScreen, store: TeamStore, env: &Env, opener: F) -> Result<Exit, CliError>
where
    F: Future<Output = Result<Arc<dyn Team>, CliError>>,
{
    crate::tui::restore::install_panic_hook();
    let mut options = Options::detect(|name| env_var(env, name).map(str::to_owned));
    options.mouse = screen.state.options.mouse.into();
    options.transcripts = Some(Arc::new(Transcripts(store)));
    Ok(match crate::tui::run(&mut screen, opener, options).await? {
        Ended::Quit => Exit::Done,
        Ended::Signal(_) | Ended::HangUp => Exit::Interrupted,
    })
}

struct Transcripts(TeamStore);

impl TranscriptSource for Transcripts {
    fn load(&self, name: &MemberName) -> Result<Vec<TranscriptEntry>, String> {
        let (entries, faults) = self.0.transcript(name).map_err(|error| error.to_string())?;
        faults.iter().for_each(|fault| tracing::warn!(%fault, "a transcript is damaged"));
        Ok(entries)
    }
}

/// The screen as the settings want it.
fn face(session: &Session) -> Result<TeamScreen, CliError> {
    let screen = &session.loaded.config.screen;
    let color = if screen.color { ColorMode::Themed } else { ColorMode::Mono };
    let ascii = match screen.ascii {
        AsciiMode::Always => true,
        AsciiMode::Never => false,
        AsciiMode::Auto => !doctor::is_utf8(&session.env),
    };
    let options = StateOptions {
        // The team tells these itself as soon as it is open.
        provider: String::new(),
        model: String::new(),
        scripted: false,
        workspace: short(&session.workspace, &session.env),
        sandbox: doctor::SANDBOX.into(),
        untrusted: session.untrusted().unwrap_or_default(),
        ascii,
        color,
        keymap: keymap(session)?,
        is_runner: true,
        utc_offset: super::words::utc_offset(clock::now()),
        mouse: screen.mouse,
    };
    Ok(TeamScreen { state: State::new(options), style: style(&screen.theme, color, ascii)?, notify: screen.notify })
}

/// The theme's looks: a bundled name, or a file (a name with a slash or ending in `.toml`).
fn style(theme: &str, color: ColorMode, ascii: bool) -> Result<Style, CliError> {
    if !theme.contains('/') && Path::new(theme).extension().is_none() {
        let known = ["default", "dark", "light", "mono"];
        if !known.contains(&theme) {
            return Err(CliError::Usage(format!(
                "screen.theme: there is no theme {theme:?}: choose one of {}, or the path of a file",
                known.join(", ")
            )));
        }
        return Ok(Style::new(theme, color, ascii));
    }
    let text = read_plain(Path::new(theme)).map_err(CliError::io(format!("read the theme {theme}")))?;
    Style::from_theme(&text, theme, color, ascii).map_err(|error| CliError::Usage(error.to_string()))
}

/// The default keys with the file's changes and then those of the settings.
fn keymap(session: &Session) -> Result<Keymap, CliError> {
    let screen = &session.loaded.config.screen;
    let wrong = |error: crate::app::KeymapError| CliError::Usage(error.to_string());
    let own = screen.keys_as_keymap();
    let file = match &screen.keymap {
        Some(path) => {
            Some((read_plain(path).map_err(CliError::io(format!("read the keymap {}", path.display())))?, path.display().to_string()))
        }
        None => None,
    };
    match (file, own) {
        (None, None) => Ok(Keymap::default()),
        (Some((text, origin)), None) => Keymap::with_overrides(&text, &origin).map_err(wrong),
        (None, Some(text)) => Keymap::with_overrides(&text, "screen.keys").map_err(wrong),
        (Some(_), Some(_)) => {
            Err(CliError::Usage("screen.keymap and [screen.keys] cannot be used together: move the keys into the file".into()))
        }
    }
}

/// The workspace as people know it: `~` for the home.
fn short(path: &Path, env: &Env) -> String {
    let home = env_var(env, "HOME").and_then(|home| path.strip_prefix(home).ok());
    match home {
        Some(rest) if rest.as_os_str().is_empty() => "~".into(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Writes the sample project, if it is not there, and sets a session up for it. Says whether the demonstration is a new one.
///
/// # Errors
/// When the directory holds something else or cannot be written, or the settings are wrong.
pub fn demo_session(global: &super::args::Global, dir: Option<&Path>) -> Result<(Session, bool), CliError> {
    check_terminal(global.plain)?;
    let demo::Prepared { dir, is_new } = demo::prepare(dir)?;
    let mut session = Session::open(&super::args::Global { workspace: Some(dir), ..global.clone() }, None)?;
    demo::configure(&mut session.loaded.config);
    if session.walls == Walls::Wanted {
        session.walls = Walls::Bundled;
    }
    Ok((session, is_new))
}
