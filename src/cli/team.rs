//! Opens the team of a workspace: as the process that runs it, or through its files where another one does.

use super::compose::Chosen;
use super::error::CliError;
use super::session::{Session, Walls};
use crate::collaboration::{ProtocolConfig, describe};
use crate::config::Origin;
use crate::config::instructions::{self, Instructions};
use crate::domain::settings::Wall;
use crate::domain::{Generation, MemberName, TeamSettings, TranscriptEntry};
use crate::runtime::clock;
use crate::runtime::remote::{RemoteTeam, Runner};
use crate::runtime::{LiveBoard, Prompts, RuntimeEnv, Team};
use crate::store::{Expect, TeamStore, import};
use crate::tool::sandbox::{Sandbox, SandboxPolicy, Surroundings, Tier};
use crate::tool::{Registry, ShellSettings};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a team that runs here is made of.
pub struct Opening {
    /// The directory the team works in, canonical.
    pub workspace: PathBuf,
    /// Its files.
    pub store: TeamStore,
    /// Rules and limits.
    pub settings: TeamSettings,
    /// Who answers.
    pub chosen: Chosen,
    /// What the protocols are set up with.
    pub protocol_config: ProtocolConfig,
    /// The protocol that the person named for this time, whatever the team had.
    pub protocol: Option<String>,
    /// `AGENTS.md` of the project and of the person.
    pub instructions: Vec<Instructions>,
    /// Whether commands are put behind the sandbox.
    pub walls: Walls,
}

impl Opening {
    /// From a session, with settings that the command may have changed.
    ///
    /// # Errors
    /// When the workspace cannot be opened.
    pub fn new(session: &Session, settings: TeamSettings, chosen: Chosen) -> Result<Self, CliError> {
        let config_dir = session.places.as_ref().map(|places| places.config_dir.as_path());
        let instructions = instructions::find(&session.workspace, config_dir);
        let config = &session.loaded.config;
        let named = matches!(session.loaded.provenance.of(&["team", "protocol"]), Origin::Flag(_));
        Ok(Self {
            workspace: session.workspace.clone(),
            store: session.store()?,
            protocol: named.then(|| config.team.protocol.clone()),
            protocol_config: config.protocol_config(),
            settings,
            chosen,
            instructions,
            walls: session.walls,
        })
    }
}

/// How commands are started, and what stands around them. Tries what works here, which takes about 50 ms.
fn shell(workspace: &Path, walls: Walls) -> (ShellSettings, Wall) {
    let guarded = ShellSettings::guarded();
    let without = if walls == Walls::Bundled { Wall::Bundled } else { Wall::Absent };
    if walls == Walls::Declined || !cfg!(target_os = "linux") {
        return (guarded, without);
    }
    let sandbox = Sandbox::new(SandboxPolicy::new(workspace), Surroundings::of_process());
    let wall = match sandbox.detection().tier {
        Tier::Full => Wall::Full,
        Tier::Reduced | Tier::None if walls == Walls::Bundled => return (guarded, without),
        Tier::Reduced => Wall::Reduced,
        Tier::None => Wall::Unavailable,
    };
    // Where none works the sandbox itself refuses, too.
    (guarded.behind(sandbox), wall)
}

/// The team through its files, if another process runs it.
///
/// # Errors
/// When the files cannot be read.
pub fn running_elsewhere(session: &Session) -> Result<Option<RemoteTeam>, CliError> {
    let remote = RemoteTeam::new(session.store()?, session.team_settings());
    Ok((remote.runner()? == Runner::Elsewhere).then_some(remote))
}

/// Takes the team's lock and runs its members in this process; when another process was quicker, the team through its files.
/// What an origin program left in the workspace is taken over first, if there is no team of ours yet.
///
/// # Errors
/// When the files or the model cannot be used.
pub async fn open(opening: Opening) -> Result<Arc<dyn Team>, CliError> {
    let Opening { workspace, store, mut settings, chosen, protocol_config, protocol, instructions, walls } = opening;
    settings.no_model = chosen.no_model;
    let mut notices = take_over(&workspace, &store)?;
    let place = workspace.clone();
    let (shell, wall) = tokio::task::spawn_blocking(move || shell(&place, walls))
        .await
        .map_err(|error| CliError::Failed(format!("the sandbox could not be tried: {error}")))?;
    notices.push(format!("sandbox {}", wall.words()));
    settings.permissions.wall = wall;
    if chosen.model.is_scripted() {
        let free = crate::domain::usage::Price { input: 0.0, output: 0.0, cached: None };
        settings.prices.insert(chosen.model_name.clone(), free);
    }
    let remote = RemoteTeam::new(store.clone(), settings.clone());
    if let Some(protocol) = protocol.filter(|_| matches!(remote.runner(), Ok(Runner::Nobody))) {
        change_protocol(&store, &protocol)?;
    }
    let env = RuntimeEnv {
        model: chosen.model,
        model_name: chosen.model_name,
        tools: Registry::with_shell(shell),
        store,
        settings,
        workspace: workspace.into(),
        prompts: prompts(),
        instructions: instructions::joined(&instructions),
        protocol_config,
        choice: chosen.notice,
        notices,
        live: Arc::new(LiveBoard::default()),
    };
    let runtime = tokio::runtime::Handle::current();
    let opened = tokio::task::spawn_blocking(move || crate::runtime::open(env, &runtime)).await;
    match opened.map_err(|error| CliError::Failed(format!("the team could not be opened: {error}")))?? {
        Some(opened) => Ok(Arc::new(opened.handle)),
        None => Ok(Arc::new(remote)),
    }
}

/// Gives a team that exists another protocol, before it is opened.
fn change_protocol(store: &TeamStore, protocol: &str) -> Result<(), CliError> {
    let name = describe(protocol).map_err(|error| CliError::Usage(error.to_string()))?.name;
    if let Some((mut team, revision)) = store.team()?
        && team.protocol != name
    {
        team.protocol = name.to_owned();
        store.put_team(&team, Expect::At(revision))?;
    }
    Ok(())
}

fn prompts() -> Prompts {
    Prompts {
        lead: include_str!("../../assets/prompts/lead.md").into(),
        teammate: include_str!("../../assets/prompts/teammate.md").into(),
        compact: include_str!("../../assets/prompts/compact.md").into(),
    }
}

/// The team of an origin program, copied into our places once; the originals stay as they are.
fn take_over(workspace: &Path, store: &TeamStore) -> Result<Vec<String>, CliError> {
    let mut said = Vec::new();
    for found in import::detect(workspace) {
        let report = import::import(&found, store)?;
        leave_unread(store)?;
        said.push(format!(
            "took over the {} team of this workspace: {} members, {} messages, {} tasks; its files stay as they are",
            found.origin.word(),
            report.members.len(),
            report.messages,
            report.tasks.len()
        ));
        said.extend(report.faults.iter().map(|fault| format!("not taken over: {fault}")));
    }
    Ok(said)
}

/// Mail of another program is there to be read by the person; it must not set the lead to work when the app opens.
fn leave_unread(store: &TeamStore) -> Result<(), CliError> {
    let lead = MemberName::lead();
    let begin = TranscriptEntry::Started { at: clock::now(), generation: Generation::default(), inbox_offset: store.inbox_end(&lead)? };
    Ok(store.append_transcript(&lead, &[begin]).map(|_| ())?)
}
