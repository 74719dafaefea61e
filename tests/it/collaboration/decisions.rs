//! Reading decisions from text, calls written as text, and the checks of arguments.

use super::rig::cards;
use signoff::collaboration::{ArgValue, Decision, FINISH, ROUTE_TO, Team, TextCall, describe, read_text, similarity, text_calls};

fn read(text: &str) -> String {
    let team = Team::new(cards(&["alice", "bob", "data-team"])).unwrap();
    match read_text(text, &team) {
        Ok(Decision::Route { who, how, .. }) => format!("{who}: {how}"),
        Ok(Decision::Finish { answer }) => format!("finish: {answer}"),
        Ok(Decision::ByRule) => "by rule".into(),
        Err(why) => format!("unreadable: {why}"),
    }
}

#[test]
fn a_decision_is_read_in_the_documented_order() {
    let rows = [
        ("[TEAM_FINISH] all done by bob", "finish: all done by bob"),
        ("All done, bob helped. [team_finish]", "finish: All done, bob helped."),
        ("[TEAM_FINISH]", "finish: "),
        ("bob", "bob: exact name"),
        ("  **Bob**. ", "bob: exact name"),
        ("@alice", "alice: exact name"),
        ("alice\nplease ask bob for the file first", "alice: exact name"),
        ("Assign this to alice, since bob is slow", "alice: assign/route to"),
        ("I route the rest of it to data-team; bob waits for alice", "data-team: assign/route to"),
        ("assign bob", "bob: assign/route to"),
        ("alice was good, bob should go on", "bob: last name mentioned"),
        ("bobby and alicex know", "unreadable: no member is named in \"bobby and alicex know\""),
        ("请bob处理", "bob: last name mentioned"),
        ("bobé", "unreadable: no member is named in \"bobé\""),
        ("", "unreadable: the supervisor's answer is empty"),
        ("nobody", "unreadable: no member is named in \"nobody\""),
    ];
    for (text, wanted) in rows {
        assert_eq!(read(text), wanted, "{text:?}");
    }
}

#[test]
fn calls_written_as_text_are_found_at_the_beginning_of_a_line_only() {
    let tools = [ROUTE_TO, FINISH];
    let found = |text: &str| {
        let (calls, rest) = text_calls(text, &tools);
        let show = |(tool, arguments): &TextCall| match arguments {
            Ok(arguments) => format!("{}{}", tool.name, ArgValue::Map(arguments.iter().cloned().collect())),
            Err(_) => format!("{}!", tool.name),
        };
        (calls.iter().map(show).collect::<Vec<_>>().join(" "), rest)
    };
    let rows = [
        ("@finish {\"answer\": \"42\"}", "finish{answer: 42}", ""),
        (
            "Well.\nroute_to({\"agent\": \"bob\",\n \"instruction\": \"mend {it}\"})\nThanks.",
            "route_to{agent: bob, instruction: mend {it}}",
            "Well.\nThanks.",
        ),
        ("@route_to bob mend it", "route_to{agent: bob, instruction: mend it}", ""),
        ("@finish all is done", "finish{answer: all is done}", ""),
        ("finish all is done", "", "finish all is done"),
        ("I would not @finish {\"answer\": \"x\"} yet", "", "I would not @finish {\"answer\": \"x\"} yet"),
        ("@finish {\"answer\": ", "finish!", ""),
        ("`@finish {}`", "finish{}", ""),
    ];
    for (text, calls, rest) in rows {
        assert_eq!(found(text), (calls.to_owned(), rest.to_owned()), "{text:?}");
    }
}

#[test]
fn bad_arguments_are_a_clear_error() {
    let bid = describe("contract_net").unwrap().agent_tools[0];
    let check = |arguments: &[(&str, ArgValue)]| {
        bid.check(arguments.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()).map(|_| ())
    };
    assert_eq!(check(&[("score", "80%".into()), ("plan", "x".into())]), Ok(()));
    assert_eq!(check(&[("plan", "x".into())]).unwrap_err(), "submit_proposal: score is missing; it takes {score, plan}");
    assert_eq!(check(&[("score", "high".into()), ("plan", "x".into())]).unwrap_err(), "submit_proposal: score must be a number");
    assert_eq!(check(&[("score", f64::NAN.into()), ("plan", "x".into())]).unwrap_err(), "submit_proposal: score must be a number");
    assert!(check(&[("score", 1.0.into()), ("plan", "x".into()), ("prize", "y".into())]).unwrap_err().contains("no argument \"prize\""));
}

#[test]
fn json_in_text_is_read_with_bounds() {
    let read = |text: &str| ArgValue::find_object(text, "status").map(|value| value.get("status").unwrap().to_string());
    assert_eq!(
        read("so: {\"status\": \"done\"} and later {\"status\": \"failed\", \"result\": {\"status\": \"x\"}}").as_deref(),
        Some("failed")
    );
    assert_eq!(read("fn main() { if x { } }"), None);
    assert_eq!(read("{\"status\": \"don"), None, "a torn object is none");
    assert_eq!(read("```json\n{\"status\":\"a\\u0062\\n\",}\n```").as_deref(), Some("ab\n"));
    assert_eq!(read(&"{\"a\":".repeat(50_000)), None, "deep nesting neither recurses nor takes for ever");
    assert_eq!(read(&"{".repeat(500_000)), None);
}

#[test]
fn similarity_compares_words_and_is_bounded() {
    let rows = [("", "", 1.0), ("a b c", "a b c", 1.0), ("A b  c", "a B c", 1.0), ("a b", "c d", 0.0), ("a b c d", "a b c e", 0.75)];
    for (a, b, wanted) in rows {
        assert!((similarity(a, b) - wanted).abs() < 1e-9, "{a:?} {b:?}");
    }
    let long = "word ".repeat(1_000_000);
    assert!(similarity(&long, &format!("{long}x")) > 0.95);
}
