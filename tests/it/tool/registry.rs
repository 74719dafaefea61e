//! Finding tools and reading what models write as arguments.

use serde_json::{Value, json};
use signoff::tool::{Audience, Registry};

fn prepare(name: &str, raw: &str, audience: Audience) -> Result<(String, Value), String> {
    Registry::standard().prepare(name, raw, audience).map(|(tool, arguments)| (tool.spec().name, arguments))
}

fn teammate(name: &str, raw: &str) -> Result<(String, Value), String> {
    prepare(name, raw, Audience::Teammate)
}

fn names(audience: Audience) -> Vec<String> {
    Registry::standard().offered(audience).iter().map(|spec| spec.name.clone()).collect()
}

#[test]
fn lead_and_teammates_are_offered_what_the_contract_says() {
    let base = "bash read_file write_file edit_file list_files search task_create task_get task_list task_update claim_task send_message read_inbox";
    let expect = |more: &str| {
        let mut names: Vec<String> = base.split(' ').chain(more.split(' ')).map(String::from).collect();
        names.sort();
        names
    };
    let sorted = |audience| {
        let mut names = names(audience);
        names.sort();
        names
    };
    assert_eq!(sorted(Audience::Teammate), expect("shutdown_response plan_approval idle"));
    assert_eq!(sorted(Audience::Lead), expect("spawn_teammate list_teammates broadcast shutdown_request shutdown_check plan_review"));
}

#[test]
fn every_schema_is_an_object_with_described_known_types() {
    for spec in Registry::standard().offered(Audience::Lead).iter() {
        assert_eq!(spec.parameters["type"], "object", "{}", spec.name);
        let required = spec.parameters["required"].as_array().unwrap();
        assert!(required.iter().all(|key| spec.parameters["properties"].get(key.as_str().unwrap()).is_some()), "{}", spec.name);
        assert!(spec.name.len() <= 64 && !spec.description.is_empty());
    }
}

#[test]
fn upstream_names_are_understood() {
    for (name, meant) in [("taskCreate", "task_create"), ("readFile", "read_file"), ("sendMessage", "send_message"), ("Bash", "bash")] {
        let found = Registry::standard().find(name, Audience::Teammate).map(|tool| tool.spec().name);
        assert_eq!(found.as_deref(), Some(meant));
    }
    assert_eq!(prepare("spawnTeammate", r#"{"name":"a","role":"b","prompt":"c"}"#, Audience::Lead).unwrap().0, "spawn_teammate");
}

#[test]
fn the_lead_may_use_a_teammates_names_as_queries() {
    let (name, arguments) = prepare("shutdown_response", r#"{"request_id":"0a1b2c3d"}"#, Audience::Lead).unwrap();
    assert_eq!((name.as_str(), arguments), ("shutdown_check", json!({ "request_id": "0a1b2c3d" })));
    let (name, arguments) =
        prepare("plan_approval", r#"{"requestId":"0a1b2c3d","approve":"true","feedback":"ok"}"#, Audience::Lead).unwrap();
    assert_eq!(name, "plan_review");
    assert_eq!(arguments, json!({ "request_id": "0a1b2c3d", "approve": true, "feedback": "ok" }));
}

#[test]
fn wrong_names_are_answered_with_the_right_ones() {
    let fault = teammate("read_fil", "{}").unwrap_err();
    assert!(fault.contains("did you mean read_file?") && fault.contains("list_files"), "{fault}");
    let fault = teammate("spawn_teammate", "{}").unwrap_err();
    assert!(fault.contains("for the lead only"), "{fault}");
    assert!(teammate("\u{1b}[2Jx", "{}").unwrap_err().chars().all(|c| !c.is_control()));
}

#[test]
fn p20_broken_arguments_name_the_fault() {
    for (raw, words) in [
        (r#"{"command":"#, "they end in the middle"),
        (r#"{"command":"ls",}"#, "trailing comma"),
        ("None", "not valid JSON"),
        ("", "`command` is missing"),
        ("[1]", "not a list"),
        (r#"{"command":7}"#, ""),
        (r#"{"command":null}"#, "not null"),
        (r#"{"command":["ls"]}"#, "not a list"),
        (r#"{"cmd":"ls"}"#, "there is no argument `cmd`"),
        (r#"{"command":""}"#, "must not be empty"),
        (r#"{"command":"ls","timeout":"soon"}"#, "`timeout` must be a whole number, not the text"),
        (r#"{"command":"ls","timeout":0}"#, "at least 1"),
        (r#"{"command":"ls","timeout":1.5}"#, "whole number"),
        (r#"{"command":"ls","timeout":120000}"#, "at most 3600"),
    ] {
        match teammate("bash", raw) {
            Err(fault) => assert!(!words.is_empty() && fault.starts_with("bash was not run: ") && fault.contains(words), "{raw}: {fault}"),
            Ok(_) => assert!(words.is_empty(), "{raw} passed"),
        }
    }
}

#[test]
fn p22_a_megabyte_of_broken_arguments_is_not_sent_back() {
    let raw = format!("{{\"command\": \"{}", "x".repeat(1_000_000));
    let fault = teammate("bash", &raw).unwrap_err();
    assert!(fault.chars().count() < 1_000 && fault.contains("characters left out"), "{}", fault.len());
    let raw = format!("{{\"command\": \"{}\"}}", "x".repeat(5_000_000));
    assert!(teammate("bash", &raw).unwrap_err().contains("in pieces"));
}

#[test]
fn what_is_plainly_meant_is_taken() {
    let cases = [
        ("bash", r#""{\"command\":\"ls\",\"timeout\":\"5\"}""#, json!({ "command": "ls", "timeout": 5 })),
        ("bash", r#"{"command":"ls","timeout":null,"runInBackground":"false"}"#, json!({ "command": "ls", "run_in_background": false })),
        ("task_get", r##"{"taskId":"#3"}"##, json!({ "task_id": 3 })),
        ("task_get", r#"{"task_id":3.0}"#, json!({ "task_id": 3 })),
        ("task_update", r#"{"task_id":1,"status":"inProgress"}"#, json!({ "task_id": 1, "status": "in_progress" })),
        ("task_create", r#"{"subject":"s","blocked_by":"[1,2]"}"#, json!({ "subject": "s", "blockedBy": [1, 2] })),
        ("task_create", r#"{"subject":"s","blockedBy":4}"#, json!({ "subject": "s", "blockedBy": [4] })),
        ("idle", "", json!({})),
        ("read_inbox", "null", json!({})),
        ("read_inbox", r#"{"why":"x"}"#, json!({})),
    ];
    for (name, raw, expected) in cases {
        assert_eq!(teammate(name, raw).map(|(_, arguments)| arguments), Ok(expected), "{raw}");
    }
}

#[test]
fn intents_tell_what_is_touched_and_refuse_what_never_may_be() {
    let registry = Registry::standard();
    let workspace = std::path::Path::new("/w");
    let intent = |name: &str, arguments: Value| registry.find(name, Audience::Teammate).unwrap().intent(&arguments, workspace);
    assert!(format!("{:?}", intent("bash", json!({ "command": "ls" }))).contains(r#"Command { command: "ls", cwd: "/w" }"#));
    assert!(format!("{:?}", intent("write_file", json!({ "path": "/w/a/../b", "content": "" }))).contains(r#"Write { path: "b" }"#));
    assert_eq!(intent("read_file", json!({ "path": "a" })), Ok(None));
    for path in ["../x", ".git/hooks/pre-commit", ".tasks/task_1.json", "team/config.json", ".signoff/config.toml"] {
        assert!(intent("edit_file", json!({ "path": path })).is_err(), "{path}");
    }
}
