//! The demonstration and the exercises, played with a toy team on real files.

use super::team::{Decision, Toy};
use signoff::llm::ChatModel;
use signoff::llm::scripted::{ScriptedModel, demo};
use std::path::Path;

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in demo::PROJECT {
        let path = dir.path().join(file.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, file.text).unwrap();
    }
    dir
}

async fn play(seed: u64, decisions: &[Decision], prepare: impl FnOnce(&mut Toy)) -> (tempfile::TempDir, Toy) {
    let dir = project();
    let mut toy = Toy::new(dir.path().to_owned(), ScriptedModel::demo(), seed);
    toy.decisions.extend(decisions);
    prepare(&mut toy);
    assert!(!toy.bash("sh check.sh").0, "the sample project is broken at first");
    toy.run(demo::GOAL).await;
    (dir, toy)
}

fn assert_done(toy: &Toy) {
    let open: Vec<_> = toy.tasks.iter().filter(|t| !t.done).collect();
    assert!(toy.tasks.len() >= 6 && open.is_empty(), "open tasks: {open:?}");
    let (green, output) = toy.bash("sh check.sh");
    assert!(green, "{output}");
    assert!(output.contains("6 suites passed, 0 failed"), "{output}");
    assert!(toy.mates.values().all(|mate| mate.nudged == 0), "nobody needs a nudge");
    assert!(!toy.mail.iter().any(|(_, _, text)| text.contains("still red")), "{:?}", toy.mail);
}

#[tokio::test]
async fn the_demo_makes_the_check_pass_whoever_claims_what() {
    for seed in 0..12 {
        let (_dir, toy) = play(seed, &[Decision::Approve], |_| {}).await;
        assert_done(&toy);
        assert_eq!(toy.order.len(), 4, "a lead and three teammates");
        assert_eq!(toy.plans.len(), 1, "one plan waits for the person");
        assert!(toy.mates["carol"].stopped && !toy.mates["bob"].stopped, "carol is sent home by handshake");
        assert!(toy.mail.iter().any(|(from, to, _)| from == "lead" && to != "human"), "the lead writes");
        assert!(toy.mail.iter().any(|(_, to, _)| to == "lead"), "teammates write");
        assert!(std::fs::read_to_string(toy.dir.join("README.md")).unwrap().contains("prices.csv` (`sku;name;cents`). An unknown"));
    }
}

#[tokio::test]
async fn a_rejected_plan_is_revised_until_it_is_approved() {
    let verdicts = [Decision::Reject, Decision::RejectWithFeedback, Decision::RejectWithFeedback, Decision::ApproveWithNote];
    let (_dir, toy) = play(3, &verdicts, |_| {}).await;
    assert_done(&toy);
    assert_eq!(toy.plans.len(), 4);
    assert!(toy.plans[2].1.contains("You said: keep a way back"), "{}", toy.plans[2].1);
    let texts: std::collections::HashSet<_> = toy.plans.iter().map(|(_, plan)| plan).collect();
    assert_eq!(texts.len(), 4, "no plan is handed in twice");
}

#[tokio::test]
async fn an_edited_plan_is_followed() {
    let (_dir, toy) = play(4, &[Decision::ApproveEdited], |_| {}).await;
    assert_done(&toy);
    let said = toy.mates.values().flat_map(|mate| &mate.messages).any(|m| format!("{m:?}").contains("Approved with your changes"));
    assert!(said);
}

#[tokio::test]
async fn the_demo_survives_compaction() {
    for seed in 0..6 {
        let (_dir, toy) = play(seed, &[Decision::Reject, Decision::Approve], |toy| toy.compact_at = 6).await;
        assert_done(&toy);
        assert_eq!(toy.tasks.len(), 8, "no task is created twice");
    }
}

#[tokio::test]
async fn the_demo_works_where_every_task_needs_a_plan() {
    let (_dir, toy) = play(5, &[], |toy| toy.require_plan = true).await;
    assert_done(&toy);
    assert!(toy.plans.len() >= 7, "a plan for every task that changes files: {}", toy.plans.len());
}

#[tokio::test]
async fn without_a_decision_the_rest_of_the_board_goes_on() {
    let dir = project();
    let mut toy = Toy::new(dir.path().to_owned(), ScriptedModel::demo(), 1);
    // Play by hand until only the plan is left: the first decision would come when nobody can do anything else.
    toy.decisions.extend([Decision::Approve]);
    toy.run(demo::GOAL).await;
    let verdict_at = |mate: &super::team::Mate| mate.messages.iter().any(|m| format!("{m:?}").contains("plan-verdict"));
    let planner = toy.mates.iter().find(|(_, mate)| verdict_at(mate)).map(|(name, _)| name.clone()).unwrap();
    let migrated: Vec<_> = toy.tasks.iter().filter(|t| t.owner.as_ref() == Some(&planner)).map(|t| t.subject.as_str()).collect();
    assert!(migrated.contains(&"Migrate the price table"), "{migrated:?}");
    assert!(migrated.len() <= 2, "while {planner} waited the others did the rest: {migrated:?}");
}

#[test]
fn the_embedded_project_is_the_one_in_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/project");
    let mut found = Vec::new();
    let mut open = vec![root.clone()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { found.push(path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()) }
        }
    }
    found.sort();
    let mut embedded: Vec<_> = demo::PROJECT.iter().map(|file| file.path.to_owned()).collect();
    embedded.sort();
    assert_eq!(found, embedded);
    let programs: Vec<_> = demo::PROJECT.iter().filter(|f| f.is_program()).map(|f| f.path).collect();
    assert_eq!(programs, ["check.sh", "invoice.sh"]);
}

#[test]
fn the_demo_runs_only_the_commands_it_announces() {
    let starts: Vec<_> = demo::ALLOWED_COMMANDS.iter().map(|pattern| pattern.trim_end_matches('*')).collect();
    let commands = demo::SCRIPT.split("command = \"").skip(1).map(|rest| rest.split('"').next().unwrap());
    for command in commands {
        assert!(starts.iter().any(|start| command.starts_with(start)), "{command}");
    }
    assert!(ScriptedModel::demo().is_scripted());
}

async fn exercise(file: &str, decisions: &[Decision]) -> (tempfile::TempDir, Toy) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/exercises").join(file);
    let model = ScriptedModel::from_str(&std::fs::read_to_string(path).unwrap(), file).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut toy = Toy::new(dir.path().to_owned(), model, 7);
    toy.decisions.extend(decisions);
    toy.run("Begin.").await;
    (dir, toy)
}

fn last_words(toy: &Toy, name: &str) -> String {
    format!("{:?}", toy.mates[name].messages.last())
}

#[tokio::test]
async fn exercise_1_alice_leaves_and_the_roster_says_so() {
    let (_dir, toy) = exercise("1-shutdown.toml", &[]).await;
    assert!(toy.mates["alice"].stopped);
    assert!(last_words(&toy, "lead").contains("alice stopped=true"), "{}", last_words(&toy, "lead"));
}

#[tokio::test]
async fn exercise_2_bob_is_rejected_and_charlie_approved() {
    let (_dir, toy) = exercise("2-plans.toml", &[Decision::RejectWithFeedback, Decision::Approve]).await;
    let planners: Vec<_> = toy.plans.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(planners, ["bob", "charlie"]);
    assert!(!toy.dir.join("storage.txt").exists() && toy.dir.join("storage-v2.txt").exists());
}

#[tokio::test]
async fn exercise_3_the_worker_leaves_in_good_order() {
    let (_dir, toy) = exercise("3-graceful.toml", &[]).await;
    assert!(toy.mates["worker"].stopped);
    assert!(toy.dir.join("report.note").exists() || toy.tasks[0].done);
}

#[tokio::test]
async fn exercise_4_one_worker_clears_the_board_by_itself() {
    let (_dir, toy) = exercise("4-autonomous.toml", &[]).await;
    assert!(toy.tasks.iter().all(|t| t.done && t.owner.as_deref() == Some("worker")));
    assert_eq!(toy.tasks[2].blocked_by, [1]);
    assert!(toy.dir.join("task-3.txt").exists());
}
