//! What a sandbox keeps between commands: what was found out once, its private folder, and what it made.

use super::layout::Host;
use super::{Detection, SandboxError, SandboxPolicy, Surroundings, Tier, etc, layout, places, reduced};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use tempfile::TempDir;

#[derive(Debug)]
pub(super) struct Prepared {
    policy: SandboxPolicy,
    surroundings: Surroundings,
    /// How the tier is found out.
    detect: fn(&Surroundings) -> Detection,
    found: OnceLock<Detection>,
    kept: Mutex<Option<Kept>>,
}

/// On disk, for the life of the sandbox.
#[derive(Debug)]
struct Kept {
    folder: TempDir,
    program: PathBuf,
    /// Empty folders that were made to keep others from making them.
    placeholders: Vec<PathBuf>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Those that are in use by now stay.
        for placeholder in &self.placeholders {
            let _ = std::fs::remove_dir(placeholder);
        }
    }
}

impl Prepared {
    pub(super) fn new(policy: SandboxPolicy, surroundings: Surroundings, detect: fn(&Surroundings) -> Detection) -> Self {
        Self { policy, surroundings, detect, found: OnceLock::new(), kept: Mutex::new(None) }
    }

    pub(super) fn detection(&self) -> &Detection {
        self.found.get_or_init(|| (self.detect)(&self.surroundings))
    }

    pub(super) fn wrapper(&self) -> Result<Vec<OsString>, SandboxError> {
        self.wrapper_of(self.detection())
    }

    /// The wrapper of a tier, whether it was tried or not.
    pub(super) fn wrapper_of(&self, found: &Detection) -> Result<Vec<OsString>, SandboxError> {
        let home = self.surroundings.home.as_deref();
        places::check_workspace(&self.policy.workspace, home)?;
        places::check_extras(&self.policy, home)?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = match &mut *kept {
            Some(kept) => kept,
            none @ None => none.insert(Kept::make(&self.policy.workspace)?),
        };
        kept.placeholders.extend(places::prepare(&self.policy.workspace)?);
        let [tmp, empty, etc] = FOLDERS.map(|name| kept.folder.path().join(name));
        let blank = kept.folder.path().join(BLANK);
        match (found.tier, &found.bubblewrap) {
            (Tier::Full, Some(bubblewrap)) => {
                let host = Host { bubblewrap, program: &kept.program, tmp: &tmp, empty: &empty, blank: &blank, etc: &etc };
                Ok(layout::argv(&self.policy, &self.surroundings, &host))
            }
            (Tier::Reduced, _) => reduced::argv(&self.policy, &self.surroundings, &tmp),
            (Tier::None | Tier::Full, _) => Err(SandboxError::Unavailable { reasons: found.reasons.join("; ") }),
        }
    }
}

/// In the private folder: for temporary files, for nothing, for settings. Commands see the first one only as it is.
const FOLDERS: [&str; 3] = ["tmp", "empty", "etc"];
/// An empty file in the private folder.
const BLANK: &str = "blank";
const OURSELVES: &str = "/proc/self/exe";

impl Kept {
    fn make(workspace: &Path) -> Result<Self, SandboxError> {
        let io = |action, path: &Path| {
            let path = path.to_owned();
            move |source| SandboxError::Io { action, path, source }
        };
        let root = std::env::temp_dir();
        let folder = tempfile::Builder::new().prefix("signoff-").tempdir_in(&root).map_err(io("make a folder in", &root))?;
        for path in FOLDERS.map(|name| folder.path().join(name)) {
            std::fs::create_dir(&path).map_err(io("make", &path))?;
        }
        let blank = folder.path().join(BLANK);
        std::fs::write(&blank, "").map_err(io("make", &blank))?;
        etc::copy(Path::new("/etc"), &folder.path().join(FOLDERS[2])).map_err(io("copy settings of /etc to", folder.path()))?;
        let program = program(workspace, folder.path()).map_err(io("copy this program to", folder.path()))?;
        Ok(Self { folder, program, placeholders: Vec::new() })
    }
}

/// The file of this program that commands cannot replace: its own, or a copy when it lies in the workspace or was
/// replaced while it runs.
fn program(workspace: &Path, folder: &Path) -> std::io::Result<PathBuf> {
    let named = std::env::current_exe()?;
    let running = std::fs::metadata(OURSELVES)?;
    let same = std::fs::metadata(&named).is_ok_and(|file| (file.dev(), file.ino()) == (running.dev(), running.ino()));
    if same && !named.starts_with(workspace) {
        return Ok(named);
    }
    let copy = folder.join("inside");
    std::fs::copy(OURSELVES, &copy)?;
    Ok(copy)
}
