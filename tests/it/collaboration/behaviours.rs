//! Every behaviour that the protocols page names, one test each.

use super::rig::{Rig, cards, list, name, tasks};
use signoff::collaboration::{ArgValue, Choice, Input, MemberCard, ProtocolConfig};

#[test]
fn sequential_ignores_skip_in_the_prompt() {
    let mut rig = Rig::new("sequential", &["a", "b"]).prompt("skip a and begin with b");
    assert_eq!(rig.runs(), ["a"]);
    assert_eq!(rig.end("a", "the plan").runs(), ["b"]);
    assert!(rig.prompt_of("b").contains("the plan"), "the output of one is the input of the next");
    let (_, ok, answer) = rig.end("b", "the code").ended().unwrap();
    assert!(ok);
    assert_eq!(answer, "the code");
}

#[test]
fn sequential_retries_an_empty_output_once_then_the_stage_is_failed_in_the_answer() {
    let mut rig = Rig::new("sequential", &["a", "b"]).prompt("go");
    assert_eq!(rig.end("a", " .").runs(), ["a"], "at most two characters are empty: once more");
    assert_eq!(rig.end("a", "ok").runs(), ["b"], "the second time the line goes on");
    let (reason, ok, answer) = rig.end("b", "the code").ended().unwrap();
    assert!(!ok);
    assert!(reason.contains("FAILED"), "{reason}");
    assert!(answer.contains("the code") && answer.contains("a FAILED: empty output"), "{answer}");
}

#[test]
fn a_held_stage_resumes_in_place_and_keeps_its_retry() {
    let mut rig = Rig::new("sequential", &["a", "b"]).prompt("go");
    rig.send(Input::MemberHeld { name: name("a") }).unwrap();
    rig.end("a", "");
    assert_eq!(rig.outcome(), "wait", "a turn that ended to wait is no empty output");
    rig.send(Input::MemberReleased { name: name("a"), approved_text: None }).unwrap();
    assert_eq!(rig.runs(), ["a"]);
    assert_eq!(rig.end("a", "").runs(), ["a"], "the retry is still there");
    assert_eq!(rig.end("a", "a real output").runs(), ["b"]);
}

#[test]
fn an_edited_plan_is_what_the_member_runs() {
    let mut rig = Rig::new("hierarchical", &["a"]).prompt("go");
    rig.lead("a");
    rig.send(Input::MemberHeld { name: name("a") }).unwrap();
    rig.send(Input::MemberReleased { name: name("a"), approved_text: Some("1. write the test first\n2. then the code".into()) }).unwrap();
    assert!(rig.prompt_of("a").contains("1. write the test first\n2. then the code"));
    assert_eq!(rig.engine.team().turns, 1, "going on costs no turn");
}

#[test]
fn hierarchical_finish_with_a_member_in_error_assigns_it_again_and_stops_at_max_turns() {
    let mut rig = Rig::new("hierarchical", &["a", "b"]).prompt("go");
    rig.lead("b");
    rig.fail("b", "401");
    for turn in 2..=8 {
        assert_eq!(rig.lead("[TEAM_FINISH] all good").runs(), ["b"], "turn {turn}");
        rig.fail("b", "401");
    }
    let (reason, ok, _) = rig.ended().unwrap();
    assert_eq!((reason.as_str(), ok), ("max_turns (8) reached", false));
    assert!(rig.traced("assigned again") && rig.traced("failed: 401"));
}

#[test]
fn hierarchical_zero_failed_in_prose_is_no_error_but_the_status_is() {
    let mut rig = Rig::new("hierarchical", &["a"]).prompt("go");
    rig.lead("a");
    rig.end("a", "Tests: 12 passed, 0 failed, no error");
    assert!(rig.engine.team().in_error().is_none());
    rig.lead("a");
    rig.end("a", "I tried.\n{\"result\": \"the migration does not apply\", \"status\": \"failed\"}");
    let error = rig.engine.team().in_error().unwrap().error.clone().unwrap();
    assert!(error.contains("the migration does not apply"), "{error}");
    rig.lead("a");
    rig.end("a", "{\"result\": \"mended\", \"status\": \"done\"}");
    assert!(rig.lead("[TEAM_FINISH]").ended().unwrap().1);
}

#[test]
fn hierarchical_the_third_use_of_one_member_warns() {
    let mut rig = Rig::new("hierarchical", &["a", "b"]).prompt("go");
    for output in ["one", "two other words", "three quite different words"] {
        assert!(!rig.traced("used for the 3. time"));
        rig.lead("a");
        rig.end("a", output);
    }
    assert!(rig.traced("used for the 3. time"));
    assert!(rig.asked().unwrap().0.contains("used for the 3. time"), "the supervisor is told too");
}

#[test]
fn a_text_decision_with_marker_and_names_finishes() {
    let mut rig = Rig::new("hierarchical", &["alice", "bob"]).prompt("go");
    rig.lead("alice");
    rig.end("alice", "done");
    let (_, ok, answer) = rig.lead("alice and bob did well. [TEAM_FINISH] The totals are right; thank alice.").ended().unwrap();
    assert!(ok);
    assert_eq!(answer, "The totals are right; thank alice.");
}

#[test]
fn an_unreadable_decision_is_asked_again_then_falls_back_with_the_reason() {
    let mut rig = Rig::new("hierarchical", &["alice", "bob"]).prompt("go");
    assert_eq!(rig.lead("hmm, let me think").outcome(), "ask");
    assert!(rig.asked().unwrap().0.contains("could not be used"));
    assert_eq!(rig.lead("still thinking").runs(), ["alice"], "nobody has acted: the first member");
    assert!(rig.traced("no member is named in \"still thinking\""));
    rig.end("alice", "done");
    rig.lead("bob");
    rig.end("bob", "done too");
    rig.lead("");
    assert_eq!(rig.lead("?").runs(), ["bob"], "the last member");
}

#[test]
fn contract_net_never_awards_without_a_bid() {
    let mut rig = Rig::new("contract_net", &["a", "b"]).prompt("write it in rust");
    let (_, tools) = rig.asked().unwrap();
    assert_eq!(tools, ["call_for_bids", "finish"]);
    assert!(rig.call("lead", "route_to", &[("agent", "a".into())]).unwrap_err().contains("not offered"));
    assert_eq!(rig.lead("a shall do it").runs(), ["a", "b"], "an award in text opens the bidding instead");
    assert_eq!(rig.tools_of("a"), ["submit_proposal"]);
}

#[test]
fn contract_net_holds_at_most_two_rounds() {
    let mut rig = Rig::new("contract_net", &["a", "b"]).prompt("go");
    for round in 1..=2 {
        rig.lead_tool("call_for_bids", &[("requirement", "tests".into())]);
        assert_eq!(rig.runs(), ["a", "b"], "round {round}");
        rig.end("a", "").end("b", "");
    }
    assert_eq!(rig.asked().unwrap().1, ["route_to", "finish"]);
    assert!(rig.call("lead", "call_for_bids", &[("requirement", "x".into())]).is_err());
}

#[test]
fn contract_net_computes_the_bid_of_a_member_that_does_not_answer() {
    let able = |text: &str, able: &[&str]| MemberCard::new(name(text), "").able(able);
    let rows: Vec<(MemberCard, f64)> = vec![
        (MemberCard::new(name("plain"), "writer of prose"), 30.0),
        (MemberCard::new(name("tester"), "a tester of javascript"), 40.0),
        (able("java", &["java"]), 60.0),
        (able("one", &["javascript"]), 75.0),
        (able("two", &["javascript", "sql"]), 90.0),
        (able("three", &["javascript", "sql", "css", "html"]), 95.0),
    ];
    let names: Vec<String> = rows.iter().map(|(card, _)| card.name.to_string()).collect();
    let members = rows.iter().map(|(card, _)| card.clone()).collect();
    let mut rig = Rig::with("contract_net", members, ProtocolConfig::default(), None).prompt("go");
    rig.lead_tool("call_for_bids", &[("requirement", "Mend the JavaScript, SQL, CSS and HTML".into())]);
    names.iter().for_each(|name| {
        rig.end(name, "");
    });
    for (card, score) in &rows {
        let wanted = format!("computed bid {score} ");
        let found =
            rig.trace.iter().find(|record| record.who.as_ref() == Some(&card.name) && record.outcome.starts_with("computed")).unwrap();
        assert!(found.outcome.starts_with(&wanted), "{}: {} is not {score}", card.name, found.outcome);
    }
    // The best bid wins when the supervisor cannot be read.
    rig.lead("");
    assert_eq!(rig.lead("").runs(), ["three"]);
}

#[test]
fn contract_net_java_does_not_match_javascript() {
    assert!(!signoff::collaboration::mentions("port the JavaScript code", "java"));
    assert!(signoff::collaboration::mentions("port the Java code", "java"));
    assert!(signoff::collaboration::mentions("移植java代码", "java"), "scripts without spaces are a boundary");
    assert!(signoff::collaboration::mentions("needs C++ and C#.", "c++"));
}

#[test]
fn contract_net_finishes_only_after_the_winner_ran_and_the_marker_beats_names() {
    let mut rig = Rig::new("contract_net", &["a", "b"]).prompt("go");
    rig.lead_tool("call_for_bids", &[("requirement", "tests".into())]);
    rig.call("a", "submit_proposal", &[("score", "88".into()), ("plan", "by hand".into())]).unwrap();
    rig.end("a", "").end("b", "");
    assert!(rig.call("lead", "finish", &[]).unwrap_err().contains("no winner has run"));
    assert_eq!(rig.lead("a").runs(), ["a"]);
    assert!(rig.prompt_of("a").contains("by hand"), "the winner is held to its plan");
    rig.end("a", "wrote the tests");
    let (_, ok, answer) = rig.lead("b was not needed [TEAM_FINISH]").ended().unwrap();
    assert!(ok);
    assert_eq!(answer, "b was not needed");
}

#[test]
fn contract_net_refuses_a_member_that_made_no_bid() {
    let mut rig = Rig::new("contract_net", &["a", "b"]).prompt("go");
    rig.lead_tool("call_for_bids", &[("requirement", "tests".into())]);
    rig.end("a", "");
    rig.send(Input::MemberGone { name: name("b"), why: String::new() }).unwrap();
    assert!(rig.asked().is_some());
    rig.send(Input::MemberJoined(MemberCard::new(name("late"), ""))).unwrap();
    assert!(rig.call("lead", "route_to", &[("agent", "late".into())]).unwrap_err().contains("made no bid"));
    assert!(rig.call("lead", "route_to", &[("agent", "b".into())]).unwrap_err().contains("has left"));
}

#[test]
fn swarm_starts_with_the_first_member_and_consumes_one_task_a_run() {
    let mut rig = Rig::new("swarm", &["a", "b", "c"]).prompt("go");
    assert_eq!(rig.runs(), ["a"]);
    rig.call("a", "emerge_tasks", &[("tasks", tasks(&[("one", None), ("two", None), ("three", Some("c"))]))]).unwrap();
    assert_eq!(rig.end("a", "split it").runs(), ["c"], "the tagged task goes first");
    assert!(rig.prompt_of("c").contains("three"));
    assert_eq!(rig.end("c", "did three").runs(), ["b"], "the lowest pheromone takes the next");
    assert!(rig.prompt_of("b").contains("one"));
    assert_eq!(rig.end("b", "did one").runs(), ["a"], "a ran longest ago");
    rig.end("a", "did two");
    assert_eq!(rig.outcome(), "ask", "the pool is empty");
    assert!(rig.lead("[TEAM_FINISH]").ended().unwrap().1);
}

#[test]
fn swarm_refuses_the_33rd_task_and_the_duplicate_and_untags_an_unknown_agent() {
    let mut rig = Rig::new("swarm", &["a"]).prompt("go");
    let many: Vec<String> = (0..33).map(|n| format!("task {n}")).collect();
    let all: Vec<(&str, Option<&str>)> = many.iter().map(|text| (text.as_str(), None)).collect();
    let said = rig.call("a", "emerge_tasks", &[("tasks", tasks(&all))]).unwrap();
    assert_eq!(said.matches("taken:").count(), 32);
    assert!(said.contains("\"task 32\": 32 tasks are open already"), "{said}");
    assert!(rig.call("a", "emerge_tasks", &[("tasks", tasks(&[("  TASK   3", None)]))]).unwrap_err().contains("in the pool already"));
    let mut other = Rig::new("swarm", &["alice"]).prompt("go");
    let said = other.call("alice", "emerge_tasks", &[("tasks", tasks(&[("x", Some("alcie"))]))]).unwrap();
    assert!(said.contains("untagged") && said.contains("did you mean alice"), "{said}");
}

#[test]
fn swarm_a_task_returns_when_its_agent_fails_and_blocks_finish_while_open() {
    let mut rig = Rig::new("swarm", &["a", "b"]).prompt("go");
    rig.call("a", "emerge_tasks", &[("tasks", tasks(&[("mend it", Some("b"))]))]).unwrap();
    assert_eq!(rig.end("a", "found one").runs(), ["b"]);
    assert_eq!(rig.fail("b", "500").runs(), ["a"], "the tag is dropped: somebody else tries");
    rig.end("a", "mended");
    assert!(rig.asked().is_some());
    rig.call("lead", "emerge_tasks", &[("tasks", tasks(&[("document it", None)]))]).unwrap();
    assert!(rig.call("lead", "finish", &[]).unwrap_err().contains("1 tasks are open"));
    assert_eq!(rig.lead("go on").outcome(), "run b", "the pool's rule goes on: b carries 4, a carries 8");
}

#[test]
fn a2a_delivers_state_and_memo_once() {
    let mut rig = Rig::new("a2a", &["a", "b", "c"]).prompt("go");
    rig.call("a", "transfer_to", &[("target", "b".into()), ("memo", "mind the comma".into()), ("state", "row 7".into())]).unwrap();
    rig.end("a", "did half");
    let prompt = rig.prompt_of("b");
    assert!(prompt.contains("mind the comma") && prompt.contains("row 7"), "{prompt}");
    rig.call("b", "transfer_to", &[("target", "c".into()), ("memo", "finish it".into())]).unwrap();
    rig.end("b", "did more");
    let prompt = rig.prompt_of("c");
    assert!(prompt.contains("finish it") && !prompt.contains("mind the comma") && !prompt.contains("row 7"), "{prompt}");
}

#[test]
fn a2a_refuses_a_ghost_and_itself_without_touching_the_quota() {
    let mut rig = Rig::new("a2a", &["alice", "b"]).prompt("go");
    let to = |target: &str| vec![("target", ArgValue::from(target)), ("memo", "x".into())];
    assert!(rig.call("alice", "transfer_to", &to("ghost")).unwrap_err().contains("no member \"ghost\""));
    assert!(rig.call("alice", "transfer_to", &to("alice")).unwrap_err().contains("yourself"));
    rig.call("alice", "transfer_to", &to("b")).unwrap();
    rig.end("alice", "half");
    assert!(rig.traced("transfer 1 of 5"));
    for _ in 0..2 {
        rig.call("b", "transfer_to", &to("ghost")).unwrap_err();
    }
    assert!(rig.call("b", "transfer_to", &to("ghost")).unwrap_err().contains("3. wrong transfer"));
    assert!(rig.call("b", "transfer_to", &to("alice")).unwrap_err().contains("not offered"));
    assert_eq!(rig.end("b", "the rest").outcome(), "ask", "the supervisor closes");
}

#[test]
fn a2a_by_text_goes_back_to_the_sender_with_the_error_at_most_three_times() {
    let mut rig = Rig::new("a2a", &["a", "b"]).prompt("go");
    for _ in 0..2 {
        assert_eq!(rig.end("a", "@transfer_to {\"target\": \"ghost\", \"memo\": \"x\"}").runs(), ["a"]);
        assert!(rig.prompt_of("a").contains("no member \"ghost\""));
    }
    assert_eq!(rig.end("a", "my part\n@transfer_to ghost go on").outcome(), "ask");
    let mut rig = Rig::new("a2a", &["a", "b"]).prompt("go");
    assert_eq!(rig.end("a", "my part is done\n@transfer_to b mind the comma").runs(), ["b"]);
    assert!(rig.prompt_of("b").contains("mind the comma"));
}

#[test]
fn a2a_refuses_the_sixth_transfer_and_still_ends() {
    let mut rig = Rig::new("a2a", &["a", "b"]).prompt("go");
    for turn in 0..5 {
        let (from, to) = if turn % 2 == 0 { ("a", "b") } else { ("b", "a") };
        rig.call(from, "transfer_to", &[("target", to.into()), ("memo", "on".into())]).unwrap();
        rig.end(from, &format!("piece number {turn} is ready"));
        assert_eq!(rig.runs(), [to]);
    }
    assert!(rig.tools_of("b").is_empty(), "no sixth transfer is offered");
    assert!(rig.call("b", "transfer_to", &[("target", "a".into()), ("memo", "on".into())]).is_err());
    assert_eq!(rig.end("b", "the end").outcome(), "ask");
    let (_, ok, answer) = rig.lead("All six pieces are there. a did well.").ended().unwrap();
    assert!(ok);
    assert_eq!(answer, "All six pieces are there. a did well.", "closing text is the answer, names in it are no route");
}

#[test]
fn blackboard_blocks_finish_on_open_todos() {
    let mut rig = Rig::new("blackboard", &["a", "b"]).prompt("go");
    rig.lead("a");
    rig.call("a", "sync_to_blackboard", &[("todo", list(&["write tests", "write docs"]))]).unwrap();
    rig.end("a", "found two things");
    assert!(rig.call("lead", "finish", &[]).unwrap_err().contains("1 (write tests), 2 (write docs)"));
    rig.lead("b");
    assert!(rig.prompt_of("b").contains("todo 1 (open): write tests"), "every member sees the snapshot");
    let said = rig.call("b", "sync_to_blackboard", &[("completed_todo", list(&["#1", "write docs", "write doc"]))]).unwrap();
    assert!(said.contains("todo 1 completed") && said.contains("todo 2 completed") && said.contains("no todo \"write doc\""), "{said}");
    rig.end("b", "both done");
    assert!(rig.lead("[TEAM_FINISH]").ended().unwrap().1);
}

#[test]
fn blackboard_never_routes_to_todo_text() {
    let mut rig = Rig::new("blackboard", &["a", "bob"]).prompt("go");
    rig.lead("a");
    rig.call("a", "sync_to_blackboard", &[("todo", list(&["assign the review to bob"]))]).unwrap();
    rig.end("a", "found it");
    rig.lead("Still open: Assign the review to bob. Let me think.");
    assert_eq!(rig.outcome(), "ask", "the only name stands in a todo");
    assert_eq!(rig.lead("Open: assign the review to bob. Now a goes on.").runs(), ["a"]);
}

#[test]
fn blackboard_reports_a_stale_write() {
    let mut rig = Rig::new("blackboard", &["a", "b"]).prompt("go");
    let port = |value: ArgValue| vec![("state", ArgValue::from([("port", value)]))];
    let over = |value: &str, version: f64| port(ArgValue::from([("value", value.into()), ("version", version.into())]));
    rig.lead("a");
    assert_eq!(rig.call("a", "sync_to_blackboard", &port("80".into())).unwrap(), "port is at version 1");
    rig.end("a", "set the port");
    rig.lead("b");
    assert!(rig.prompt_of("b").contains("port (v1 by a): 80"));
    rig.call("b", "sync_to_blackboard", &port("8080".into())).expect("b was shown version 1");
    rig.end("b", "moved it");
    rig.lead("a");
    let refused = rig.call("a", "sync_to_blackboard", &over("90", 1.0)).unwrap_err();
    assert!(refused.contains("stale write: port is at version 2 by b (you saw 1): \"8080\""), "{refused}");
    rig.end("a", "left it");
    assert!(rig.asked().unwrap().0.contains("port (v2 by b): 8080"), "nothing was overwritten");
    assert_eq!(rig.call("lead", "sync_to_blackboard", &over("90", 2.0)).unwrap(), "port is at version 3");
}

#[test]
fn market_shows_base_prices_on_the_first_turn_and_updates_after_each_run() {
    let mut members = cards(&["cheap", "dear"]);
    members[1].base_price = 3.0;
    let mut rig = Rig::with("market_based", members, ProtocolConfig::default(), None).prompt("go");
    let (context, _) = rig.asked().unwrap();
    assert!(context.contains("cheap: price 1.00") && context.contains("dear: price 3.00"), "{context}");
    assert!(context.contains("Top ROI: cheap") && context.contains("Budget Pick: cheap"), "{context}");
    rig.lead("dear");
    let ended = |cost| Input::MemberEnded { name: name("dear"), output: "done".into(), error: None, duration_ms: 60_000, cost, tokens: 9 };
    rig.send(ended(None)).unwrap();
    // quality 0.6·0.5 + 0.4·1 = 0.7; price 3 · 1.2 · (1 + 0.15 ln 2) = 3.97
    assert!(rig.asked().unwrap().0.contains("dear: price 3.97, quality 0.70, efficiency 0.50"), "{}", rig.asked().unwrap().0);
    let (kept, book) = rig.engine.keepsake().unwrap();
    assert_eq!(kept, "market");
    let config = ProtocolConfig { market: Some(book), ..ProtocolConfig::default() };
    let again = Rig::with("market_based", cards(&["cheap", "dear"]), config, None).prompt("another goal");
    assert!(again.asked().unwrap().0.contains("dear: price 3.97"), "the book outlives the run");
}

#[test]
fn market_real_cost_feeds_the_price() {
    let mut rig = Rig::new("market_based", &["a", "b"]).prompt("go");
    let ended = |who: &str, cost| Input::MemberEnded {
        name: name(who),
        output: format!("done by {who}"),
        error: None,
        duration_ms: 1,
        cost: Some(cost),
        tokens: 9,
    };
    rig.lead("a");
    rig.send(ended("a", 0.10)).unwrap();
    rig.lead("b");
    rig.send(ended("b", 0.40)).unwrap();
    let (context, _) = rig.asked().unwrap();
    let price = |who: &str| -> f64 {
        let rest = context.split(&format!("{who}: price ")).nth(1).unwrap();
        rest.split(',').next().unwrap().parse().unwrap()
    };
    assert!(price("b") > 1.2 * price("a"), "{context}");
}

#[test]
fn market_choice_budget_and_roi_award_by_rule() {
    for (choice, winner, rule) in [(Choice::Budget, "cheap", "lowest price"), (Choice::Roi, "cheap", "best ROI")] {
        let mut members = cards(&["dear", "cheap"]);
        members[0].base_price = 3.0;
        let config = ProtocolConfig { choice, ..ProtocolConfig::default() };
        let mut rig = Rig::with("market_based", members, config, None).prompt("go");
        assert_eq!(rig.runs(), [winner], "{choice:?}");
        assert!(rig.traced(rule));
        rig.end(winner, "done");
        assert_eq!(rig.lead("dear shall go on").runs(), [winner], "the rule says who, the lead says what");
        rig.end(winner, "done again, differently");
        assert!(rig.lead("[TEAM_FINISH]").ended().unwrap().1);
    }
}
