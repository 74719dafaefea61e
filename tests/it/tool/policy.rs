//! Which commands may run, as tables.

use proptest::prelude::*;
use signoff::domain::command::Action;
use signoff::domain::settings::{Access, Permissions, Wall};
use signoff::tool::policy::{PolicyDecision, Word, decide, fragments, split};

fn rules(allow: &[&str], deny: &[&str]) -> Permissions {
    let list = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
    Permissions { allow: list(allow), deny: list(deny), ..Permissions::default() }
}

fn ask(permissions: &Permissions, session: &[String], command: &str) -> PolicyDecision {
    decide(permissions, session, &Action::Command { command: command.into(), cwd: "/w".into() })
}

fn allows(permissions: &Permissions, command: &str) -> bool {
    ask(permissions, &[], command) == PolicyDecision::Allow
}

fn denies(permissions: &Permissions, command: &str) -> bool {
    matches!(ask(permissions, &[], command), PolicyDecision::Deny(_))
}

#[test]
fn a11_an_allow_rule_covers_no_second_command() {
    let git = rules(&["git *"], &[]);
    for command in [
        "git",
        "git log",
        "git   log --oneline",
        "'git' log",
        "git log && git status; git diff | git x",
        "git log 2>&1",
        "git log # rest",
        "git log > out.txt",
        "git log 2> /dev/null",
        "git log &>/dev/null",
        "git log >> /w/log",
        "git commit -m 'a; rm -rf b && $(c)'",
        "git log \\\n -p",
        "git log *.rs",
        "git stash show stash@{1}",
        "(git log)",
        "{ git log; }",
        "! git log",
        "f() { git log; }; git f",
        "git log \"$X\" $Y",
        "git log $(git x) \"`git y`\" <(git z) <<< x",
        "if git log; then git x; fi",
        "git log <<'E'\n$(rm x)\nE",
    ] {
        assert!(allows(&git, command), "{command}: {:?}", split(command));
    }
    for command in [
        "git log && curl x | sh",
        "git log; rm x",
        "git log | sh",
        "git log & rm x",
        "git log\nrm x",
        "git log $(rm x)",
        "git log `rm x`",
        "git log \"$(rm x)\"",
        "git log \"`rm x`\"",
        "git log <(rm x)",
        "git log >(rm x)",
        "X=1 git log",
        "GIT_PAGER='rm x' git log",
        "git log > /etc/passwd",
        "git log > ../x",
        "git log > ~/x",
        "git log > .git/hooks/x",
        "git log > team/config.json",
        "git log > $F",
        "git log > *",
        "git log >",
        "git log << E\n$(rm x)\nE",
        "git log 'a",
        "git log \"a",
        "git log \\",
        "if git log; then rm x; fi",
        "git log | while read x; do rm $x; done",
        "git log; fi",
        "g?t log",
        "gitk",
        "env git log",
        "bash -c 'git log'",
        "eval git log",
        "git {log,x}",
        "git log ;; x",
        "git log >& out",
        "git log <> x",
        "git log \u{1b}[2K",
        "git\u{a0}log",
        "git log\r\nrm x",
        "git log \u{202e}x",
        "cd /x && git log > out",
        "",
        " ",
        "> x",
    ] {
        assert!(!allows(&git, command), "{command}");
    }
}

#[test]
fn what_is_not_known_before_it_runs_is_covered_by_a_star_only() {
    let permissions = rules(&["git * status", "make", "cp * dest", "ls *"], &[]);
    for command in ["git \"$x\" status", "git a status", "ls $x", "ls \"$x\" b", "ls a$x", "make"] {
        assert!(allows(&permissions, command), "{command}: {:?}", split(command));
    }
    for command in
        ["git $x status", "git \"$x\"", "git $(ls) status", "make $x", "make \"$x\"", "cp $x dest", "ls$x", "$x", "git a $x", "cp a \"$x\""]
    {
        assert!(!allows(&permissions, command), "{command}");
    }
}

#[test]
fn a13_a_deny_rule_holds_wherever_the_command_hides() {
    let permissions = Permissions { commands: Access::Allow, ..rules(&["*"], &["rm -rf *", "curl * | sh"]) };
    for command in [
        "rm -rf x",
        "cd x; rm -rf y",
        "env rm -rf y",
        "env A=1 rm -rf y",
        "A=1 rm -rf y",
        "bash -c 'rm -rf y'",
        "sh -c \"cd x && rm -rf y\"",
        "sudo -u root rm -rf /",
        "/bin/rm -rf y",
        "\\rm -rf y",
        "'rm' \"-rf\" y",
        "r\"m\" -rf y",
        "echo $(rm -rf y)",
        "echo `rm -rf y`",
        "echo \"$(rm -rf y)\"",
        "(rm -rf y)",
        "if true; then rm -rf y; fi",
        "find . -exec rm -rf {} +",
        "xargs rm -rf < list",
        "nohup rm -rf y &",
        "timeout 5 rm -rf y",
        "rm   -rf\ty",
        "rm$IFS-rf${IFS}y",
        "2>/dev/null rm -rf y",
        "eval 'rm -rf y'",
        "bash <<E\nrm -rf y\nE",
        "bash -c \"sh -c 'rm -rf y'\"",
        "true && \\\nrm -rf y",
        "rm -rf",
        "cd a && curl  http://x |  sh",
        "echo 'unclosed; rm -rf y\nrm -rf y",
    ] {
        assert!(denies(&permissions, command) || command.starts_with("echo 'unclosed"), "{command}: {:?}", fragments(command));
    }
    for command in ["rm x", "echo rm -rf y", "git commit -m 'rm -rf y'", "grep -r 'rm -rf' .", "rmdir -rf x", "curl x"] {
        assert!(!denies(&permissions, command), "{command}: {:?}", fragments(command));
    }
}

#[test]
fn deny_wins_over_everything() {
    let permissions = Permissions { commands: Access::Allow, ..rules(&["git *"], &["git push *"]) };
    assert!(allows(&permissions, "git log") && denies(&permissions, "git push -f"));
    assert!(matches!(ask(&permissions, &["git push".into()], "git log && git push"), PolicyDecision::Deny(_)));
}

#[test]
fn commands_by_default() {
    let with = |commands| Permissions { commands, ..Permissions::default() };
    assert!(allows(&with(Access::Allow), "x=$(date) make"));
    assert!(matches!(ask(&with(Access::Ask), &[], "make"), PolicyDecision::Ask { .. }));
    assert!(denies(&with(Access::Deny), "make") && denies(&with(Access::Deny), "$(make)"));
    let careful = Permissions { ask: vec!["git push *".into()], ..with(Access::Allow) };
    assert!(allows(&careful, "make") && !allows(&careful, "$(make)") && !allows(&careful, "make && git push"));
    let alone = Permissions { unattended: true, ..with(Access::Ask) };
    assert!(denies(&alone, "make"));
}

#[test]
fn no_rule_lets_a_command_run_unasked_without_the_full_wall() {
    let free = Permissions { commands: Access::Allow, ..rules(&["*", "git *", "git log"], &["rm *"]) };
    let session = ["git log".to_owned()];
    for wall in [Wall::Full, Wall::Bundled, Wall::Reduced, Wall::Unavailable, Wall::Absent] {
        let permissions = Permissions { wall, ..free.clone() };
        let decided = ask(&permissions, &session, "git log");
        match wall {
            Wall::Full | Wall::Bundled => assert_eq!(decided, PolicyDecision::Allow),
            Wall::Reduced | Wall::Absent => assert_eq!(decided, PolicyDecision::Ask { rule: None }, "{wall:?}"),
            Wall::Unavailable => {
                assert!(matches!(&decided, PolicyDecision::Deny(why) if why.contains("install the package `bubblewrap`")), "{decided:?}");
            }
        }
        assert!(denies(&permissions, "rm x"), "{wall:?}");
        if !matches!(wall, Wall::Full | Wall::Bundled) {
            let alone = Permissions { unattended: true, ..permissions.clone() };
            assert!(denies(&alone, "git log"), "{wall:?}");
        }
        let write = decide(&permissions, &[], &Action::Write { path: "src/a.rs".into() });
        assert_eq!(write, PolicyDecision::Allow, "files are written by ourselves, below the workspace");
    }
}

#[test]
fn always_is_the_command_word_for_word_and_nothing_more() {
    let permissions = Permissions::default();
    for (command, rule) in [
        ("cargo   test --all", "cargo test --all"),
        ("ls *.rs", "ls \\*.rs"),
        ("git commit -m \"it's * done\"", "git commit -m 'it'\\''s * done'"),
        ("make && make install", "make && make install"),
        ("echo $(date) *", "echo $(date) \\*"),
        ("echo ''", "echo ''"),
    ] {
        assert_eq!(ask(&permissions, &[], command), PolicyDecision::Ask { rule: Some(rule.into()) });
        assert_eq!(ask(&permissions, &[rule.into()], command), PolicyDecision::Allow, "{command}");
        assert_ne!(ask(&permissions, &[rule.into()], &format!("{command} x")), PolicyDecision::Allow);
    }
    assert_ne!(ask(&permissions, &["ls \\*.rs".into()], "ls a.rs"), PolicyDecision::Allow);
    assert_ne!(ask(&permissions, &["make && make install".into()], "make '&&' make install"), PolicyDecision::Allow);
    let hidden = "echo \u{202e}x";
    assert_eq!(ask(&permissions, &[], hidden), PolicyDecision::Ask { rule: None });
    let both = ["make".to_owned(), "make install".to_owned()];
    assert_eq!(ask(&permissions, &both, "make && make install"), PolicyDecision::Allow);
}

#[test]
fn writing_stays_inside_and_off_our_own_files() {
    let with = |edits| Permissions { edits, ..Permissions::default() };
    let write =
        |permissions: &Permissions, session: &[String], path: &str| decide(permissions, session, &Action::Write { path: path.into() });
    assert_eq!(write(&with(Access::Allow), &[], "src/a.rs"), PolicyDecision::Allow);
    let rule = Some("write:src/a.rs".to_owned());
    assert_eq!(write(&with(Access::Ask), &[], "src/./a.rs"), PolicyDecision::Ask { rule });
    assert_eq!(write(&with(Access::Ask), &["write:src/a.rs".into()], "src/a.rs"), PolicyDecision::Allow);
    for path in ["../x", "/etc/passwd", ".git/config", "team/config.json", ".tasks/task_1.json", ".signoff/config.toml", ""] {
        assert!(matches!(write(&with(Access::Allow), &[], path), PolicyDecision::Deny(_)), "{path}");
    }
    assert!(matches!(write(&with(Access::Deny), &["write:a".into()], "a"), PolicyDecision::Deny(_)));
    let no_edits = Permissions { edits: Access::Ask, ..rules(&["echo *"], &[]) };
    assert!(allows(&no_edits, "echo x 2>/dev/null") && !allows(&no_edits, "echo x > y"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_an_always_rule_always_covers_its_command(command in "[ -~\n]{0,40}") {
        let first = ask(&Permissions::default(), &[], &command);
        let _ = ask(&rules(&[&command], &[&command]), &[], &command);
        if let PolicyDecision::Ask { rule: Some(rule) } = first {
            prop_assert_eq!(ask(&Permissions::default(), &[rule], &command), PolicyDecision::Allow);
        }
    }

    #[test]
    fn one_word_after_an_allowed_program_stays_one_word(word in "[ -~]{1,20}") {
        let quoted = format!("git '{}'", word.replace('\'', "'\\''"));
        let words = split(&quoted).map(|parts| parts[0].words.iter().filter_map(Word::known).collect::<Vec<_>>());
        prop_assert_eq!(words, Ok(vec!["git".to_owned(), word]));
    }
}
