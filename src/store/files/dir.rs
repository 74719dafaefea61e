//! A folder's handle. Everything in it is opened relative to the handle and never through a link, so that no link put
//! there by somebody else leads a read or a write out of the workspace, not even between a check and a use.

use super::Durability;
use crate::store::{SIZE_MAX, StoreError};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::cell::Cell;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Tells temporary files of one process apart.
static STAGED: AtomicU64 = AtomicU64::new(0);
const STAGE_TRIES: u32 = 100;

/// An open folder with the path it was opened by, for messages.
pub(in crate::store) struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

/// Tells one state of a file from another: its number, size and time of change. No clock is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(u64, i64, i64, i64);

impl Stamp {
    #[allow(clippy::unnecessary_cast, clippy::cast_possible_wrap, reason = "the types differ between systems")]
    fn of(stat: &Stat) -> Self {
        Self(stat.st_ino as u64, stat.st_size as i64, stat.st_ctime as i64, stat.st_ctime_nsec as i64)
    }
}

/// Whether a rename may replace what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Landing {
    /// Only where there is nothing.
    New,
    /// Over what is there.
    Over,
}

/// A temporary file, complete and (if so wished) on the disk; removed when it is not moved into place.
pub(super) struct Staged<'a> {
    dir: &'a Dir,
    name: String,
    /// Whether the name is (still) this file's.
    ours: Cell<bool>,
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.ours.get() {
            // Failing leaves a file that is swept when the team is next locked.
            let _ = fs::unlinkat(&self.dir.fd, &self.name, AtFlags::empty());
        }
    }
}

impl Dir {
    /// Opens a workspace.
    pub(in crate::store) fn root(path: &Path) -> Result<Self, StoreError> {
        let io = |source| StoreError::Io { action: "open the workspace", path: path.to_owned(), source };
        let path = path.canonicalize().map_err(io)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = fs::open(&path, flags, Mode::empty()).map_err(|errno| io_error("open the workspace", &path, errno))?;
        Ok(Self { fd, path })
    }

    pub(in crate::store) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder below this one, step by step; `None` if a step is not there.
    pub(in crate::store) fn descend(&self, path: &str) -> Result<Option<Self>, StoreError> {
        let mut at: Option<Self> = None;
        for step in path.split('/') {
            match at.as_ref().unwrap_or(self).child(step)? {
                Some(next) => at = Some(next),
                None => return Ok(None),
            }
        }
        Ok(at)
    }

    /// The folder below this one, made where it is missing.
    pub(super) fn make(&self, path: &str, durability: Durability) -> Result<Self, StoreError> {
        let mut at: Option<Self> = None;
        for step in path.split('/') {
            let parent = at.as_ref().unwrap_or(self);
            let next = match parent.child(step)? {
                Some(next) => next,
                None => parent.make_child(step, durability)?,
            };
            at = Some(next);
        }
        at.ok_or_else(|| io_error("make", &self.path, Errno::INVAL))
    }

    fn child(&self, name: &str) -> Result<Option<Self>, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(Self { fd, path: self.path.join(name) })),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.refusal(name, FileType::Directory, errno)),
        }
    }

    fn make_child(&self, name: &str, durability: Durability) -> Result<Self, StoreError> {
        match fs::mkdirat(&self.fd, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => self.sync(durability)?,
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(io_error("make the folder", &self.path.join(name), errno)),
        }
        self.child(name)?.ok_or_else(|| io_error("open the folder", &self.path.join(name), Errno::NOENT))
    }

    /// Opens a plain file; `None` if there is nothing. Never waits for the other end of a FIFO.
    pub(super) fn open(&self, name: &str, flags: OFlags) -> Result<Option<(File, Stat)>, StoreError> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::io::retry_on_intr(|| fs::openat(&self.fd, name, flags, Mode::from_raw_mode(0o666)));
        let fd = match opened {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(self.refusal(name, FileType::RegularFile, errno)),
        };
        let stat = fs::fstat(&fd).map_err(|errno| io_error("look at", &self.path.join(name), errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some((File::from(fd), stat))),
            other => Err(self.not_plain(name, other, FileType::RegularFile)),
        }
    }

    /// Opens a plain file, making it if it is not there. Tells whether it was made.
    pub(super) fn open_or_make(&self, name: &str, flags: OFlags) -> Result<(File, Stat, bool), StoreError> {
        for _ in 0..STAGE_TRIES {
            if let Some((file, stat)) = self.open(name, flags)? {
                return Ok((file, stat, false));
            }
            match self.open(name, flags | OFlags::CREATE | OFlags::EXCL) {
                Ok(Some((file, stat))) => return Ok((file, stat, true)),
                Ok(None) => {}
                Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(other) => return Err(other),
            }
        }
        Err(io_error("make", &self.path.join(name), Errno::AGAIN))
    }

    /// How a file is now, without opening it; `None` if there is nothing that can be asked.
    pub(super) fn stamp(&self, name: &str) -> Option<Stamp> {
        fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| Stamp::of(&stat))
    }

    /// A plain file's bytes; `None` if there is nothing.
    pub(in crate::store) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.read_stamped(name)?.map(|(bytes, _)| bytes))
    }

    /// A plain file's bytes, and how it was before they were read; `None` if there is nothing.
    pub(super) fn read_stamped(&self, name: &str) -> Result<Option<(Vec<u8>, Stamp)>, StoreError> {
        let Some((file, stat)) = self.open(name, OFlags::RDONLY)? else { return Ok(None) };
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if size > SIZE_MAX as u64 {
            return Err(StoreError::TooLarge { path: self.path.join(name), size, max: SIZE_MAX as u64 });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
        // Files are replaced as a whole, so this one does not grow: asking for its end would be one call more for each.
        file.take(size).read_to_end(&mut bytes).map_err(|source| self.io("read", name, source))?;
        Ok(Some((bytes, Stamp::of(&stat))))
    }

    /// The names in this folder that are valid UTF-8, in no order.
    pub(in crate::store) fn names(&self) -> Result<Vec<String>, StoreError> {
        let list = |errno| io_error("list", &self.path, errno);
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.fd).map_err(list)? {
            let entry = entry.map_err(list)?;
            if let Ok(name) = entry.file_name().to_str() {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Writes a temporary file whose name ends like `name`.
    pub(super) fn stage(&self, name: &str, bytes: &[u8], durability: Durability) -> Result<Staged<'_>, StoreError> {
        for _ in 0..STAGE_TRIES {
            let number = STAGED.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}.{number}.{name}", std::process::id());
            let staged = Staged { dir: self, name, ours: Cell::new(false) };
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            let mut file = match self.open(&staged.name, flags) {
                Ok(Some((file, _))) => file,
                Ok(None) => continue,
                // Somebody else's: the same process id in another container.
                Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::AlreadyExists => continue,
                Err(other) => return Err(other),
            };
            staged.ours.set(true);
            file.write_all(bytes).map_err(|source| self.io("write", &staged.name, source))?;
            if durability == Durability::Synced {
                file.sync_all().map_err(|source| self.io("sync", &staged.name, source))?;
            }
            return Ok(staged);
        }
        Err(io_error("make a temporary file in", &self.path, Errno::EXIST))
    }

    /// Moves a staged file into this folder under `name`. False: there is something already, and nothing was moved.
    pub(super) fn land(&self, staged: &Staged<'_>, name: &str, landing: Landing) -> Result<bool, StoreError> {
        let landed = self.rename_from(staged.dir, &staged.name, name, landing)?;
        staged.ours.set(!landed);
        Ok(landed)
    }

    /// Moves `old` of `from` into this folder under `name`. False: there is something already.
    pub(super) fn rename_from(&self, from: &Self, old: &str, name: &str, landing: Landing) -> Result<bool, StoreError> {
        let moved = match landing {
            Landing::Over => fs::renameat(&from.fd, old, &self.fd, name),
            Landing::New => match fs::renameat_with(&from.fd, old, &self.fd, name, RenameFlags::NOREPLACE) {
                // The file system knows no exclusive rename; our lock still keeps our own processes apart.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if self.is_free(name)? => fs::renameat(&from.fd, old, &self.fd, name),
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(Errno::EXIST),
                other => other,
            },
        };
        match moved {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) if landing == Landing::New => Ok(false),
            Err(errno) => Err(io_error("write", &self.path.join(name), errno)),
        }
    }

    /// Whether nothing has this name.
    pub(super) fn is_free(&self, name: &str) -> Result<bool, StoreError> {
        match fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Ok(false),
            Err(Errno::NOENT) => Ok(true),
            Err(errno) => Err(io_error("look at", &self.path.join(name), errno)),
        }
    }

    /// Removes a file.
    pub(super) fn remove(&self, name: &str) -> Result<(), StoreError> {
        fs::unlinkat(&self.fd, name, AtFlags::empty()).map_err(|errno| io_error("remove", &self.path.join(name), errno))
    }

    /// Makes renames and removals in this folder durable.
    pub(super) fn sync(&self, durability: Durability) -> Result<(), StoreError> {
        match durability {
            Durability::Synced => fs::fsync(&self.fd).map_err(|errno| io_error("sync", &self.path, errno)),
            Durability::Buffered => Ok(()),
        }
    }

    /// Whether `name` still is this open file: nobody removed or replaced it.
    pub(super) fn is_current(&self, name: &str, file: &File) -> Result<bool, StoreError> {
        let open = fs::fstat(file).map_err(|errno| io_error("look at", &self.path.join(name), errno))?;
        match fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => Ok((there.st_dev, there.st_ino) == (open.st_dev, open.st_ino)),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(io_error("look at", &self.path.join(name), errno)),
        }
    }

    /// An I/O error about a file of this folder.
    pub(super) fn io(&self, action: &'static str, name: &str, source: std::io::Error) -> StoreError {
        StoreError::Io { action, path: self.path.join(name), source }
    }

    /// Why an open failed: what is there is of the wrong kind, or the system's own reason.
    fn refusal(&self, name: &str, expected: FileType, errno: Errno) -> StoreError {
        match fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Ok(kind) if kind != expected => self.not_plain(name, kind, expected),
            Ok(_) | Err(_) => io_error("open", &self.path.join(name), errno),
        }
    }

    fn not_plain(&self, name: &str, kind: FileType, expected: FileType) -> StoreError {
        let expected = if expected == FileType::Directory { "directory" } else { "file" };
        StoreError::NotPlain { path: self.path.join(name), what: word(kind), expected }
    }
}

fn io_error(action: &'static str, path: &Path, errno: Errno) -> StoreError {
    StoreError::Io { action, path: path.to_owned(), source: errno.into() }
}

fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a link",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something unknown",
    }
}
