//! What is typed.

use clap::{CommandFactory as _, Parser as _};
use signoff::cli::args::{Cli, Command, Plans, TaskCommand, duration};
use std::path::Path;
use std::time::Duration;

fn parse(line: &str) -> Cli {
    try_parse(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn try_parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split_whitespace())
}

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn a_word_alone_is_the_workspace_unless_it_is_a_command() {
    assert_eq!(parse("signoff some/dir").directory.as_deref(), Some(Path::new("some/dir")));
    assert!(matches!(parse("signoff status").command, Some(Command::Status(_))));
    let dir = parse("signoff ./status");
    assert!(dir.command.is_none() && dir.directory.is_some());
}

#[test]
fn flags_for_all_commands_stand_before_or_after_them() {
    for line in ["signoff --workspace w --model m task list", "signoff task list --workspace w --model m"] {
        let cli = parse(line);
        assert_eq!((cli.global.workspace.as_deref(), cli.global.model.as_deref()), (Some(Path::new("w")), Some("m")), "{line}");
    }
}

#[test]
fn every_documented_command_parses() {
    let lines = [
        "signoff demo --dir d --speed 4",
        "signoff run goal --protocol swarm --plans ask --json --timeout 5m",
        "signoff status --json",
        "signoff team --json",
        "signoff inbox alice --json",
        "signoff requests --json",
        "signoff requests 3f9a01bc",
        "signoff task list --json",
        "signoff task show 3",
        "signoff task add subject --description d --blocked-by 1,2",
        "signoff task done 3",
        "signoff task release 3",
        "signoff task delete 3",
        "signoff send alice hello",
        "signoff approve 3f9a01bc --note go",
        "signoff reject 3f9a01bc --feedback no",
        "signoff spawn bob --role coder --prompt p",
        "signoff shutdown bob --now",
        "signoff doctor --json",
        "signoff doctor --reset-terminal",
        "signoff config path",
        "signoff config show --json",
        "signoff config init",
        "signoff config trust --yes",
        "signoff completions bash",
        "signoff protocols",
        "signoff protocols a2a --json",
        "signoff --protocol a2a",
        "signoff --provider p --script f --config c --plain --no-color",
    ];
    for line in lines {
        parse(line);
    }
}

#[test]
fn details_arrive() {
    let Some(Command::Task(TaskCommand::Add { blocked_by, .. })) = parse("signoff task add s --blocked-by 3,#4").command else { panic!() };
    assert_eq!(blocked_by, ["3", "#4"]);
    let Some(Command::Run(args)) = parse("signoff run g").command else { panic!() };
    assert_eq!((args.plans, args.timeout), (None::<Plans>, None));
}

#[test]
fn durations_are_read_and_nonsense_is_told() {
    let good = [("90s", 90_000), ("5m", 300_000), ("1h", 3_600_000), ("1h30m", 5_400_000), ("250ms", 250), ("7", 7_000)];
    for (text, millis) in good {
        assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
    }
    for text in ["", "s", "5x", "-1s", "0", "0s", "99999999999999999999s", "18446744073709551615h", "1.5h", "5 m"] {
        assert!(duration(text).is_err(), "{text:?} was taken");
    }
}
