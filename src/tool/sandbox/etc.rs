//! What programs need of `/etc`: names, time, certificates, loader, language; no host keys, no shadow, no settings of
//! services.
//!
//! Files are copied once into one folder: one mount in place of thirty, which would cost each command 10 ms. Folders are
//! mounted on it, as are the files that may change while an open network is used ([`FRESH`]).

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Files.
pub(super) const FILES: [&str; 28] = [
    "passwd",
    "group",
    "nsswitch.conf",
    "hosts",
    "host.conf",
    "hostname",
    "resolv.conf",
    "gai.conf",
    "services",
    "protocols",
    "networks",
    "rpc",
    "ethertypes",
    "localtime",
    "timezone",
    "locale.conf",
    "locale.alias",
    "default/locale",
    "os-release",
    "lsb-release",
    "debian_version",
    "ssl/openssl.cnf",
    "ssl/cert.pem",
    "pki/tls/openssl.cnf",
    "ld.so.cache",
    "ld.so.conf",
    "profile",
    "mime.types",
];
/// Folders, let through whole.
const FOLDERS: [&str; 6] = ["ssl/certs", "pki/tls/certs", "pki/ca-trust/extracted", "crypto-policies", "alternatives", "fonts"];
/// Beginnings of more folders: settings of language runtimes, by version.
const BEGINNINGS: [&str; 2] = ["java-", "python3"];
/// What tells where servers are.
pub(super) const FRESH: [&str; 2] = ["resolv.conf", "hosts"];
/// Largest file that is copied: more is no setting.
const SIZE_MAX: u64 = 4 << 20;

/// The folders that are there.
pub(super) fn folders(etc: &Path) -> Vec<PathBuf> {
    let runtimes = fs::read_dir(etc).into_iter().flatten().flatten().map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
    });
    let mut all: Vec<PathBuf> = FOLDERS.iter().map(|name| etc.join(name)).chain(runtimes).filter(|path| path.is_dir()).collect();
    all.sort();
    all
}

/// Copies the files that are there and readable into the empty folder `to`, and makes places for the folders.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for folder in folders(from) {
        fs::create_dir_all(to.join(folder.strip_prefix(from).unwrap_or(&folder)))?;
    }
    for name in FILES {
        let (source, target) = (from.join(name), to.join(name));
        // What cannot be read is left out, as it would be for the command.
        let Ok(kind) = fs::metadata(&source) else { continue };
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        if leads_to_a_program(&source) {
            let _ = fs::read_link(&source).and_then(|link| symlink(link, target));
        } else if kind.is_file() && kind.len() <= SIZE_MAX {
            let _ = fs::copy(source, target);
        }
    }
    Ok(())
}

/// Whether it is a link into `/usr`, which is there inside too (the time zone is told by where such a link leads).
fn leads_to_a_program(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|kind| kind.is_symlink()) && path.canonicalize().is_ok_and(|target| target.starts_with("/usr"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_copied_and_secrets_are_not() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for name in ["passwd", "shadow", "ssl/openssl.cnf", "ssl/certs/a.pem", "ssl/private/key", "java-17-openjdk/x", "ssh/ssh_host_key"] {
            let path = from.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        let elsewhere = from.path().join("elsewhere");
        fs::write(&elsewhere, "nameserver").unwrap();
        symlink(&elsewhere, from.path().join("resolv.conf")).unwrap();
        copy(from.path(), to.path()).unwrap();
        for name in ["passwd", "ssl/openssl.cnf"] {
            assert_eq!(fs::read_to_string(to.path().join(name)).unwrap(), name);
        }
        assert_eq!(fs::read_to_string(to.path().join("resolv.conf")).unwrap(), "nameserver");
        assert!(!fs::symlink_metadata(to.path().join("resolv.conf")).unwrap().is_symlink());
        assert_eq!(folders(from.path()), ["java-17-openjdk", "ssl/certs"].map(|name| from.path().join(name)));
        assert!(to.path().join("ssl/certs").is_dir() && to.path().join("java-17-openjdk").is_dir());
        for name in ["shadow", "ssl/private", "ssh"] {
            assert!(!to.path().join(name).exists(), "{name}");
        }
    }
}
