//! How commands are started, and behind which wall.

use super::sandbox::Sandbox;
use super::{ToolError, guard};
use std::ffi::OsString;
use std::path::PathBuf;

/// How commands are started: `launcher… sandbox… wrapper… shell -c COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellSettings {
    /// A guard before the command ([`guard::launcher`]); its standard input is a pipe that closes when the command must
    /// end or the app died. Empty: none; then a killed app leaves its commands running.
    pub launcher: Vec<OsString>,
    /// Another program before the shell, behind the wall, such as `nice`. Empty: none.
    pub wrapper: Vec<OsString>,
    /// The wall around each command. When it cannot be built the command is refused. Absent: none.
    pub sandbox: Option<Sandbox>,
    /// The shell, absolute.
    pub shell: PathBuf,
}

impl Default for ShellSettings {
    fn default() -> Self {
        Self { launcher: Vec::new(), wrapper: Vec::new(), sandbox: None, shell: find_shell() }
    }
}

impl ShellSettings {
    /// Commands run under this program's own guard: needs a `main` that knows [`guard::ARGUMENT`].
    pub fn guarded() -> Self {
        Self { launcher: guard::launcher(), ..Self::default() }
    }

    /// The same behind a wall: needs a `main` that knows [`super::sandbox::ARGUMENT`].
    #[must_use]
    pub fn behind(self, sandbox: Sandbox) -> Self {
        Self { sandbox: Some(sandbox), ..self }
    }

    /// Tries the sandbox, should nobody have done so yet, without holding up the runtime.
    pub(super) async fn settle_sandbox(&self) {
        if let Some(sandbox) = self.sandbox.clone() {
            let _ = tokio::task::spawn_blocking(move || sandbox.detection().tier).await;
        }
    }

    /// The whole argv of a command. Fails when it cannot be put behind the wall.
    pub(super) fn argv(&self, command: &str) -> Result<Vec<OsString>, ToolError> {
        let shell = [self.shell.clone().into_os_string(), "-c".into(), command.into()];
        let wall = self.sandbox.as_ref().map(Sandbox::wrapper).transpose()?.unwrap_or_default();
        Ok(self.launcher.iter().cloned().chain(wall).chain(self.wrapper.iter().cloned()).chain(shell).collect())
    }
}

/// Bash where there is one. By absolute path: a search along `PATH` at each start costs time when our memory is large.
fn find_shell() -> PathBuf {
    let usual = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"].map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let searched = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join("bash"));
    usual.into_iter().chain(searched).find(|shell| shell.is_file()).unwrap_or_else(|| "/bin/sh".into())
}
