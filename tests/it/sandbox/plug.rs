//! The `bash` tool under guard and wall.

use super::child;
use super::yard::Yard;
use futures::future::BoxFuture;
use serde_json::json;
use signoff::domain::{Generation, MemberName, Refusal, Reply, TeamCommand};
use signoff::tool::sandbox::{Sandbox, Surroundings};
use signoff::tool::shell::{Bash, Jobs};
use signoff::tool::{ShellSettings, TeamPort, Tool as _, ToolContext, ToolOutcome};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

struct Nobody;

impl TeamPort for Nobody {
    fn command(&self, _command: TeamCommand) -> BoxFuture<'_, Result<Reply, Refusal>> {
        Box::pin(async { Ok(Reply::Done) })
    }

    fn take_mail(&self) -> BoxFuture<'_, Result<String, Refusal>> {
        Box::pin(async { Ok(String::new()) })
    }

    fn notify_later(&self, _text: String) {}

    fn live(&self, _text: &str) {}
}

async fn call(yard: &Yard, sandbox: Sandbox, command: &str, cancel: CancellationToken) -> ToolOutcome {
    let (bash, context) = tool(yard, sandbox, cancel);
    bash.run(json!({ "command": command }), context).await
}

fn tool(yard: &Yard, sandbox: Sandbox, cancel: CancellationToken) -> (Bash, ToolContext) {
    let settings = ShellSettings { launcher: child::launcher(), ..ShellSettings::default() }.behind(sandbox);
    let context = ToolContext {
        member: MemberName::lead(),
        generation: Generation::default(),
        workspace: yard.workspace.clone().into(),
        team: Arc::new(Nobody),
        cancel,
        jobs: Arc::new(Jobs::default()),
        output_limit: 10_000,
        command_timeout: Duration::from_secs(60),
    };
    (Bash::new(settings), context)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_job_is_ended_by_its_number() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let (bash, context) = tool(&yard, wall, CancellationToken::new());
    let started = bash.run(json!({ "command": "touch up; sleep 600", "run_in_background": true }), context.clone()).await;
    assert!(started.ok && started.content.contains("end-job 1"), "{started:?}");
    while !yard.workspace.join("up").exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(bash.intent(&json!({ "command": "end-job 1" }), &yard.workspace).unwrap().is_none());
    assert!(bash.intent(&json!({ "command": "end-job 1; rm x" }), &yard.workspace).unwrap().is_some());
    assert!(bash.run(json!({ "command": "end-job 1" }), context.clone()).await.ok);
    tokio::time::timeout(Duration::from_secs(10), context.jobs.settled()).await.unwrap();
    let again = bash.run(json!({ "command": "end-job 1" }), context).await;
    assert!(!again.ok && again.content.contains("no background job 1; running: none"), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_the_bash_tool_runs_behind_the_wall() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let outcome =
        call(&yard, wall, "hostname; echo x > team/forged || echo refused; (sleep 600 &) ; exit 3", CancellationToken::new()).await;
    assert!(!outcome.ok, "{outcome:?}");
    for word in ["sandbox\n", "refused", "left running", "[exit code 3]"] {
        assert!(outcome.content.contains(word), "{word}: {}", outcome.content);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_command_may_end_well_before_it_is_killed() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let cancel = CancellationToken::new();
    let stop = async {
        while !yard.workspace.join("up").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
    };
    let command = "trap 'sleep 0.3; echo saved > saved; exit 0' TERM; touch up; while :; do sleep 0.05; done";
    let (outcome, ()) = tokio::join!(call(&yard, wall, command, cancel.clone()), stop);
    assert!(outcome.content.contains("interrupted"), "{outcome:?}");
    assert!(yard.workspace.join("saved").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_command_that_will_not_end_is_killed() {
    let yard = Yard::new();
    let Some(wall) = yard.usual() else { return };
    let cancel = CancellationToken::new();
    let stop = async {
        while !yard.workspace.join("up").exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
        Instant::now()
    };
    let command = "trap '' TERM; touch up; while :; do date +%s%N > beat; sleep 0.05; done";
    let (_, start) = tokio::join!(call(&yard, wall, command, cancel.clone()), stop);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let last = std::fs::read(yard.workspace.join("beat")).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(std::fs::read(yard.workspace.join("beat")).unwrap(), last);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_working_sandbox_a_command_is_refused_with_the_reason() {
    let yard = Yard::new();
    // What stands inside the wall does not know its argument: no trial succeeds.
    let surroundings = Surroundings { again: vec!["--list".into()], ..yard.surroundings.clone() };
    let outcome = call(&yard, Sandbox::new(yard.policy(), surroundings), "echo ran > ran", CancellationToken::new()).await;
    assert!(!outcome.ok && outcome.content.contains("no sandbox works") && outcome.content.contains("--unsafe-no-sandbox"), "{outcome:?}");
    assert!(!yard.workspace.join("ran").exists());
}
