//! The tier without bubblewrap.

use super::child;
use super::yard::Yard;
use signoff::tool::sandbox::{Sandbox, Surroundings, Tier};

fn walled(yard: &Yard) -> Option<Sandbox> {
    let surroundings = Surroundings { bubblewrap: Vec::new(), again: child::again(), ..yard.surroundings.clone() };
    let wall = Sandbox::new(yard.policy(), surroundings);
    let found = wall.detection();
    if found.tier == Tier::Reduced {
        return Some(wall);
    }
    assert!(std::env::var_os("CI").is_none(), "no reduced sandbox in CI: {:?}", found.reasons);
    eprintln!("\n*** SKIPPED: the reduced sandbox does not work here: {:?}\n", found.reasons);
    None
}

#[test]
fn without_bubblewrap_the_reasons_say_what_to_install() {
    let yard = Yard::new();
    let Some(wall) = walled(&yard) else { return };
    let reasons = wall.detection().reasons.join("\n");
    assert!(reasons.contains("install the package `bubblewrap`") && reasons.contains("Landlock"), "{reasons}");
}

const HOSTILE: &[&str] = &[
    r#"echo x > "$OUT/a""#,
    r#"ln -s "$OUT" src/link && echo x > src/link/a"#,
    r#"ln "$OUT/precious" src/hard"#,
    r#"echo x > "/proc/1/root$OUT/a""#,
    r#"cat "$OUT/precious""#,
    r#"cat "$HOME/.ssh/id_ed25519""#,
    r#"cat "$HOME/.cargo/credentials.toml""#,
    "cat /etc/shadow",
    "echo '{}' >> team/inbox/lead.jsonl",
    "cat team/requests/dead0001.json",
    "echo '{}' > team/requests/cafe0001.json",
    "echo '{}' > .tasks/task_1.json",
    "mv team old",
    "ln .tasks/task_1.json src/t",
    "flock -n team/.lock true",
    "echo x > .git/hooks/pre-commit",
    "git config core.hooksPath x",
    "echo x > .signoff/config.toml",
    "mkdir new",
    "(exec 3<>/dev/tcp/127.0.0.1/1) 2>&1 | grep -q 'Connection refused'",
    r#"grep -q VICTIMS_SECRET "/proc/$VICTIM/environ""#,
    r#"kill -0 "$VICTIM""#,
    "unshare -U true",
    "chmod 4755 src/a.txt",
    "mknod src/node c 1 3",
    "grep -qv 0000000000000000 <(grep Cap /proc/self/status)",
];

#[test]
fn the_reduced_tier_guards_files_keys_processes_and_the_network() {
    let yard = Yard::new();
    let Some(wall) = walled(&yard) else { return };
    yard.run(Some(&wall), "true", &[]);
    let mut victim = std::process::Command::new("sleep").arg("600").env("VICTIMS_SECRET", "1").spawn().unwrap();
    let number = victim.id().to_string();
    let before = yard.picture();
    let mut broken = Vec::new();
    for script in HOSTILE {
        let ran = yard.run(Some(&wall), &format!("{script} && echo BREACH"), &[("VICTIM", &number)]);
        if ran.text.contains("BREACH") || matches!(ran.code, Some(125..=126) | None) || yard.picture() != before {
            broken.push(format!("{script}: {ran:?}"));
        }
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(broken.is_empty(), "{} of {} got through:\n{}", broken.len(), HOSTILE.len(), broken.join("\n"));
}

#[test]
fn ordinary_commands_work_in_the_reduced_tier() {
    let yard = Yard::new();
    let Some(wall) = walled(&yard) else { return };
    let script = r#"echo two >> src/a.txt && git diff --stat | tail -1 && ls | tr '\n' ' ' && t=$(mktemp) && echo x > $t && mkdir src/deep && cat src/a.txt | sed s/two/2/ > /dev/null && git log --oneline | wc -l && exit 7"#;
    let ran = yard.run(Some(&wall), script, &[]);
    assert_eq!(ran.code, Some(7), "{ran:?}");
    assert!(ran.text.contains("1 insertion") && ran.text.contains("src team"), "{ran:?}");
}
