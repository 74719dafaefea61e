//! Opening files below the workspace. On Linux the kernel itself keeps a path beneath the directory (`openat2`); where
//! it cannot, each folder of the path is opened without following links.

use super::TEXT_MAX;
use super::place::check_write;
use crate::tool::ToolError;
use crate::tool::error::io;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The workspace, held open.
pub(super) struct Root {
    folder: OwnedFd,
    path: PathBuf,
}

/// Tells whether a file is still the one that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    node: (u64, u64),
    size: u64,
    modified: (i64, i64),
}

/// A folder is opened only to open something in it.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Never waits: opening a FIFO or a device must not hang.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

impl Root {
    pub(super) fn open(workspace: &Path) -> Result<Self, ToolError> {
        let folder = rustix::fs::open(workspace, FOLDER, Mode::empty()).map_err(|e| io("open", workspace)(e.into()))?;
        Ok(Self { folder, path: workspace.to_owned() })
    }

    /// A plain file, for reading.
    pub(super) fn file(&self, relative: &Path) -> Result<File, ToolError> {
        let file = File::from(self.beneath(relative, FILE).map_err(|e| explain("open", relative, e))?);
        let kind = file.metadata().map_err(io("look at", relative))?.file_type();
        if kind.is_file() {
            return Ok(file);
        }
        let (what, advice) = if kind.is_dir() { ("a directory", "use list_files") } else { ("not a plain file", "it is not opened") };
        Err(ToolError::NotPlain { path: relative.to_owned(), what, advice: advice.into() })
    }

    /// A text file with its stamp, at most [`TEXT_MAX`] bytes long.
    pub(super) fn text(&self, relative: &Path) -> Result<(String, Stamp), ToolError> {
        let file = self.file(relative)?;
        let stamp = Stamp::of(&file).map_err(io("look at", relative))?;
        let unreadable = |reason: String| ToolError::Unreadable { path: relative.to_owned(), reason };
        if stamp.size > TEXT_MAX {
            return Err(unreadable(format!("is {} bytes long, and at most {TEXT_MAX} are edited: use bash", stamp.size)));
        }
        let mut bytes = Vec::new();
        file.take(TEXT_MAX + 1).read_to_end(&mut bytes).map_err(io("read", relative))?;
        let text = String::from_utf8(bytes).map_err(|_| unreadable("is not UTF-8 text: use bash".into()))?;
        Ok((text, stamp))
    }

    /// The real path of a folder below the workspace, links resolved.
    pub(super) fn real_folder(&self, relative: &Path) -> Result<PathBuf, ToolError> {
        let folder = self.beneath(relative, FOLDER).map_err(|e| explain("open", relative, e))?;
        self.real(&folder, relative)
    }

    /// Replaces (or creates) a file in one step. `expect`: what is there must still be that.
    pub(super) fn replace(&self, relative: &Path, bytes: &[u8], expect: Option<Stamp>) -> Result<(), ToolError> {
        check_write(relative)?;
        let name = relative.file_name().unwrap_or_default();
        let folder = self.make_folders(relative.parent().unwrap_or(Path::new("")))?;
        // A link inside the workspace may lead to a protected folder under another name.
        let real = self.real(&folder, relative)?;
        check_write(&real.strip_prefix(&self.path).unwrap_or(&real).join(name))?;
        let mode = existing_mode(&folder, name, relative)?;
        let temporary = format!(".{}.tmp", uuid::Uuid::new_v4());
        let done = self.fill(&folder, &temporary, bytes, mode).map_err(io("write", relative)).and_then(|()| {
            if expect.is_some_and(|stamp| self.file(relative).ok().and_then(|file| Stamp::of(&file).ok()) != Some(stamp)) {
                return Err(ToolError::Changed { path: relative.to_owned() });
            }
            rustix::fs::renameat(&folder, &temporary, &folder, name).map_err(|e| io("write", relative)(e.into()))
        });
        if done.is_err() {
            let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        }
        done
    }

    fn fill(&self, folder: &OwnedFd, name: &str, bytes: &[u8], mode: Option<Mode>) -> std::io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o666))?);
        file.write_all(bytes)?;
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, mode)?;
        }
        file.sync_all()
    }

    /// Opens a folder, creating what is missing of its path.
    fn make_folders(&self, relative: &Path) -> Result<OwnedFd, ToolError> {
        match self.beneath(relative, FOLDER) {
            Err(Errno::NOENT) => {}
            other => return other.map_err(|e| explain("open", relative, e)),
        }
        let mut made = PathBuf::new();
        let mut folder = self.beneath(Path::new(""), FOLDER).map_err(|e| explain("open", relative, e))?;
        for name in relative {
            made.push(name);
            match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(explain("create", &made, error)),
            }
            folder = self.beneath(&made, FOLDER).map_err(|e| explain("open", &made, e))?;
        }
        Ok(folder)
    }

    fn beneath(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        #[cfg(target_os = "linux")]
        match open_kept(&self.folder, relative, flags) {
            // Kernels before 5.6, and sandboxes that do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            other => return other,
        }
        self.step_by_step(relative, flags)
    }

    fn step_by_step(&self, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut folder = rustix::io::fcntl_dupfd_cloexec(&self.folder, 0)?;
        let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else {
            return rustix::fs::openat(&folder, ".", flags, Mode::empty());
        };
        for step in parent {
            folder = rustix::fs::openat(&folder, step, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        }
        rustix::fs::openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())
    }

    fn real(&self, folder: &OwnedFd, relative: &Path) -> Result<PathBuf, ToolError> {
        use std::os::fd::AsRawFd as _;
        let real = if cfg!(target_os = "linux") {
            std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd()))
        } else {
            self.path.join(relative.parent().unwrap_or(relative)).canonicalize()
        };
        let real = real.map_err(io("look at", relative))?;
        if real.starts_with(&self.path) { Ok(real) } else { Err(ToolError::Outside { path: relative.to_string_lossy().into_owned() }) }
    }
}

#[cfg(target_os = "linux")]
fn open_kept(folder: &OwnedFd, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    /// The kernel gives up when folders are moved at that moment.
    const TRIES: usize = 8;
    let keep = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut result = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        result = openat2(folder, relative, flags, Mode::empty(), keep);
        if !matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    result
}

/// The permissions of the plain file that is there; `None` when there is none.
fn existing_mode(folder: &OwnedFd, name: &OsStr, relative: &Path) -> Result<Option<Mode>, ToolError> {
    let stat = match rustix::fs::statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(explain("look at", relative, error)),
    };
    let refuse = |what, advice: String| Err(ToolError::NotPlain { path: relative.to_owned(), what, advice });
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Some(Mode::from_raw_mode(stat.st_mode & 0o7777))),
        FileType::Directory => refuse("a directory", "give a file's path".into()),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(folder.as_fd(), name, Vec::new()).map(|text| text.to_string_lossy().into_owned());
            refuse("a link", format!("write to what it points to ({})", target.unwrap_or_default()))
        }
        _ => refuse("not a plain file", "it is not written".into()),
    }
}

fn explain(action: &'static str, relative: &Path, error: Errno) -> ToolError {
    match error {
        Errno::XDEV => ToolError::Outside { path: format!("{} (through a link)", relative.display()) },
        Errno::LOOP => ToolError::NotPlain { path: relative.to_owned(), what: "a link", advice: "it is not followed".into() },
        other => io(action, relative)(other.into()),
    }
}

impl Stamp {
    pub(super) fn of(file: &File) -> std::io::Result<Self> {
        let data = file.metadata()?;
        Ok(Self { node: (data.dev(), data.ino()), size: data.size(), modified: (data.mtime(), data.mtime_nsec()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_openat2_no_link_on_the_way_is_followed() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("real/deep")).unwrap();
        std::fs::write(place.path().join("real/deep/f"), "x").unwrap();
        std::os::unix::fs::symlink("real", place.path().join("link")).unwrap();
        std::os::unix::fs::symlink("deep/f", place.path().join("real/last")).unwrap();
        let root = Root::open(place.path()).unwrap();
        assert!(root.step_by_step(Path::new("real/deep/f"), FILE).is_ok());
        assert!(root.step_by_step(Path::new("link/deep/f"), FILE).is_err());
        assert!(root.step_by_step(Path::new("real/last"), FILE).is_err());
        assert!(root.step_by_step(Path::new("."), FOLDER).is_ok());
    }
}
