//! The sample project's directory.

use signoff::cli::demo::{configure, prepare};
use signoff::config::Config;
use signoff::domain::settings::Access;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn the_project_is_written_into_a_new_or_empty_directory() {
    let dir = tempfile::tempdir().unwrap();
    let new = dir.path().join("a/b");
    prepare(Some(&new)).unwrap();
    assert!(new.join("lib/totals.sh").is_file());
    assert_eq!(std::fs::metadata(new.join("check.sh")).unwrap().permissions().mode() & 0o111, 0o111);
    let made = prepare(None).unwrap();
    assert!(made.is_new && made.dir.join("README.md").is_file());
    std::fs::remove_dir_all(made.dir).unwrap();
}

#[test]
fn a_directory_that_a_demonstration_has_made_is_opened_again_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    assert!(prepare(Some(dir.path())).unwrap().is_new);
    std::fs::write(dir.path().join("lib/totals.sh"), "changed by bob").unwrap();
    std::fs::remove_file(dir.path().join("README.md")).unwrap();
    let again = prepare(Some(dir.path())).unwrap();
    assert_eq!((again.dir.as_path(), again.is_new), (dir.path(), false));
    assert_eq!(std::fs::read_to_string(dir.path().join("lib/totals.sh")).unwrap(), "changed by bob");
    assert!(!dir.path().join("README.md").exists());
}

#[test]
fn nothing_of_anybody_is_written_over() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("mine"), "work").unwrap();
    assert!(prepare(Some(dir.path())).unwrap_err().to_string().contains("not empty"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn the_demonstration_asks_no_provider_whatever_the_settings_say() {
    let mut config = Config { provider: "openai".into(), model: "gpt-5".into(), script: Some("own.toml".into()), ..Config::default() };
    configure(&mut config);
    assert_eq!((config.provider.as_str(), config.model.as_str(), config.script), ("scripted", "", None));
    assert_eq!(config.team.permissions.commands, Access::Allow);
}
