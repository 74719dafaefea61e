//! Floods and bombs: output without an end, lines without an end, JSON nested without an end. They cost little memory and time,
//! and nothing falls over.

#![allow(clippy::disallowed_methods, reason = "a test measures time")]

use super::rig::{Asked, Rig, call, ended, say};
use serde_json::json;
use std::time::{Duration, Instant};

/// What a flood may cost on top of an ordinary run, in KiB.
const MORE_MAX: u64 = 16 * 1024;

/// The least that an ordinary run takes, in KiB: one that is over at once may be seen only before it has begun.
const USUAL_MIN: u64 = 24 * 1024;

fn full() -> bool {
    std::env::var_os("SIGNOFF_FULL").is_some()
}

/// The most memory a run took, in KiB, how long it took, and what it printed.
async fn measured(rig: &Rig, args: &[&str]) -> (u64, Duration, super::rig::Ran) {
    let start = Instant::now();
    let child = rig.start(args);
    let status = format!("/proc/{}/status", child.id().unwrap());
    let mut end = Box::pin(ended(child));
    let mut most = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        most = most.max(peak.unwrap_or_default());
        tokio::select! {
            ran = &mut end => return (most, start.elapsed(), ran),
            () = tokio::time::sleep(Duration::from_millis(2)) => {}
        }
    }
}

/// A lead that runs one command and then ends.
async fn runs(command: &'static str) -> Rig {
    Rig::with("[permissions]\ncommands = \"allow\"\n", move |asked: &Asked| match asked.nth {
        1 => call("bash", json!({ "command": command })),
        _ => say("All is done."),
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_output_costs_little_memory_and_time() {
    let quiet = runs("true").await;
    let (base, usual, _) = measured(&quiet, &["run", "go", "--plans", "auto"]).await;
    let floods: [&'static str; 2] = match full() {
        true => ["yes 0123456789abcde | head -c 1073741824", "head -c 209715200 /dev/zero | tr '\\0' x"],
        false => ["yes 0123456789abcde | head -c 67108864", "head -c 33554432 /dev/zero | tr '\\0' x"],
    };
    println!("an ordinary run: {base} KiB, {usual:?}");
    for flood in floods {
        let rig = runs(flood).await;
        let (peak, took, ran) = measured(&rig, &["run", "go", "--plans", "auto"]).await;
        println!("{flood}: {peak} KiB, {} KiB more, {:?} more", peak.saturating_sub(base), took.saturating_sub(usual));
        let told = rig.server.requests().iter().any(|seen| seen.body.to_string().contains("characters left out"));
        assert!(ran.code == 0 && told, "{ran:?}");
        assert!(peak.saturating_sub(base) < MORE_MAX, "{flood}: {base} KiB without it, {peak} KiB with it");
        assert!(
            cfg!(debug_assertions) || took.saturating_sub(usual) < Duration::from_secs(if full() { 3 } else { 1 }),
            "{flood}: {took:?}"
        );
    }
}

const DEEP: usize = 100_000;

fn nested(open: &str, close: &str) -> String {
    open.repeat(DEEP) + &close.repeat(DEEP)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_that_are_nested_without_an_end_are_a_fault_of_the_call() {
    let rig = Rig::with("[permissions]\ncommands = \"allow\"\n", |asked: &Asked| {
        let deep = |raw: String| {
            let call = json!({ "index": 0, "id": format!("c{}", asked.nth), "type": "function", "function": { "name": "bash", "arguments": raw } });
            let chunks = [crate::provider::fake::call(call), crate::provider::fake::finish("tool_calls")];
            super::rig::other(crate::provider::fake::Reply::chunks(&chunks))
        };
        match asked.nth {
            1 => deep(format!("{{\"command\":{}}}", nested("[", "]"))),
            2 => deep(nested("{\"a\":", "}")),
            3 => deep("[".repeat(DEEP)),
            4 => {
                // The stream itself.
                let chunk = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":{}}}}}]}}\n\n", nested("[", "]"));
                let end = crate::provider::fake::events(&[crate::provider::fake::text("on"), crate::provider::fake::finish("stop")]);
                super::rig::other(crate::provider::fake::Reply::stream(chunk + &end))
            }
            _ => say("All is done."),
        }
    })
    .await;
    let (peak, took, ran) = measured(&rig, &["run", "go", "--plans", "auto"]).await;
    println!("nested arguments: {peak} KiB, {took:?}");
    assert!(ran.code == 0 || ran.code == 1, "{ran:?}");
    let told = rig.server.requests().iter().any(|seen| seen.body.to_string().contains("recursion limit"));
    assert!(told, "the model is told what is wrong");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_are_nested_without_an_end_are_reported_and_nothing_falls_over() {
    let rig = runs("true").await;
    let usual = measured(&rig, &["status", "--json"]).await;
    assert_eq!(rig.run(&["task", "add", "one"]).await.code, 0);
    let deep = format!("{{\"id\":2,\"subject\":\"deep\",\"more\":{}}}", nested("[", "]"));
    let files = [
        (".tasks/task_2.json", deep.clone()),
        ("team/requests/dead0001.json", deep.clone()),
        ("team/inbox/lead.jsonl", format!("{deep}\n")),
        ("team/events.jsonl", format!("{deep}\n")),
        ("team/transcripts/lead.jsonl", format!("{deep}\n")),
        (".signoff/config.toml", format!("x = {}\n", nested("[", "]"))),
        ("team/config.json", deep),
    ];
    for (name, text) in files {
        let path = rig.workspace().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = std::fs::read(&path).ok();
        std::fs::write(&path, text).unwrap();
        for args in [
            &["status", "--json"][..],
            &["doctor"],
            &["task", "list"],
            &["requests"],
            &["inbox", "lead"],
            &["run", "go", "--plans", "auto"],
        ] {
            let (peak, took, ran) = measured(&rig, args).await;
            assert!((0..=4).contains(&ran.code), "{name}, {args:?}: {ran:?}");
            assert!(!ran.err.contains("panicked"), "{name}, {args:?}: {}", ran.err);
            assert!(peak < usual.0.max(USUAL_MIN) + 2 * MORE_MAX, "{name}, {args:?}: {peak} KiB, an ordinary one {} KiB", usual.0);
            assert!(took < Duration::from_secs(20), "{name}, {args:?}: {took:?}");
        }
        match before {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
    }
}
