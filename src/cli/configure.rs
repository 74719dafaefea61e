//! `signoff config …`

use super::args::ConfigCommand;
use super::error::{CliError, Exit};
use super::out::{Align, Form, Out, Table};
use super::session::{Session, trust_book};
use crate::config::fields::{FIELDS, dotted};
use crate::config::{Config, EXAMPLE, Origin, ProviderConfig, WORKSPACE_FILE};
use crate::domain::Refusal;
use serde::Serialize;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;

/// `config …`
pub fn config(session: &Session, command: ConfigCommand, out: &mut Out) -> Result<Exit, CliError> {
    match command {
        ConfigCommand::Path(args) => path(session, Form::of(args.json), out),
        ConfigCommand::Show(args) => show(session, Form::of(args.json), out),
        ConfigCommand::Init => init(session, out),
        ConfigCommand::Trust { yes } => trust(session, if yes { Consent::Given } else { Consent::Asked }, out),
    }
}

#[derive(Serialize)]
struct Place {
    name: &'static str,
    path: String,
    exists: bool,
}

fn user_file(session: &Session) -> Option<PathBuf> {
    session.config_flag.clone().or_else(|| session.places.as_ref().map(|places| places.config_file()))
}

fn path(session: &Session, form: Form, out: &mut Out) -> Result<Exit, CliError> {
    let places = session.places.as_ref();
    let all = [
        ("user", user_file(session)),
        ("workspace", Some(session.workspace.join(WORKSPACE_FILE))),
        ("trust", places.map(|places| places.trust_file())),
        ("logs", places.map(|places| places.log_dir())),
    ];
    let mut table = Table::new(&[("what", Align::Left), ("path", Align::Left), ("exists", Align::Left)]);
    for (name, path) in all {
        let Some(path) = path else { continue };
        let place = Place { name, exists: path.exists(), path: path.display().to_string() };
        match form {
            Form::Json => out.json(&place)?,
            Form::Table => table.row([name.to_owned(), place.path, if place.exists { "yes" } else { "no" }.into()]),
        }
    }
    if form == Form::Table {
        out.table(&table)?;
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Shown {
    key: String,
    value: toml::Value,
    origin: String,
}

fn show(session: &Session, form: Form, out: &mut Out) -> Result<Exit, CliError> {
    let (config, provenance) = (&session.loaded.config, &session.loaded.provenance);
    let bare = Config { providers: [("any".to_owned(), ProviderConfig::default())].into(), ..Config::default() };
    let mut table = Table::new(&[("key", Align::Left), ("value", Align::Left), ("from", Align::Left)]);
    for field in FIELDS {
        for (path, value) in field.values(config) {
            let origin = provenance.of(&path);
            // The known providers would bury the rest: of them, what differs from a bare one.
            let usual = field.path.first() == Some(&"providers") && field.values(&bare).first().is_some_and(|(_, plain)| *plain == value);
            if form == Form::Table && usual && origin == Origin::Default {
                continue;
            }
            match form {
                Form::Json => out.json(&Shown { key: dotted(&path), value, origin: origin.to_string() })?,
                Form::Table => table.row([dotted(&path), value.to_string(), origin.to_string()]),
            }
        }
    }
    if form == Form::Table {
        out.table(&table)?;
        session.mention_untrusted(out);
    }
    Ok(Exit::Done)
}

fn init(session: &Session, out: &mut Out) -> Result<Exit, CliError> {
    let file = user_file(session).ok_or(crate::config::ConfigError::NoHome { what: "settings" })?;
    let failed = || CliError::io(format!("write {}", file.display()));
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir).map_err(failed())?;
    }
    let made = std::fs::File::create_new(&file);
    if made.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists) {
        return Err(Refusal::Invalid(format!("{} is there already; nothing was written", file.display())).into());
    }
    made.and_then(|mut made| made.write_all(EXAMPLE.as_bytes())).map_err(failed())?;
    out.line(&file.display().to_string())?;
    Ok(Exit::Done)
}

/// Whether the person was asked already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Consent {
    Given,
    Asked,
}

fn trust(session: &Session, consent: Consent, out: &mut Out) -> Result<Exit, CliError> {
    let Some(notice) = &session.loaded.untrusted else {
        out.say("nothing to trust: this workspace's file is trusted, or sets nothing that needs it");
        return Ok(Exit::Done);
    };
    out.say(&format!("{} sets:", notice.file.display()));
    notice.keys.iter().for_each(|key| out.say(&format!("  {key}")));
    if consent == Consent::Asked {
        if !std::io::stdin().is_terminal() {
            return Err(CliError::Usage("nobody is there to ask: read the file, then add --yes".into()));
        }
        out.say("These decide what runs, where text is sent and who decides. Trust this file as it is? [y/N]");
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map_err(CliError::io("read the answer"))?;
        if !matches!(line.trim(), "y" | "Y" | "yes") {
            return Err(Refusal::Denied("the file stays untrusted".into()).into());
        }
    }
    trust_book(session.places.as_ref())?.trust(notice)?;
    out.line(&format!("trusted: {}", notice.file.display()))?;
    Ok(Exit::Done)
}
