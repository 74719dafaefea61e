//! What a team is when it is opened again: after the end of its process, after an ordinary quit, and with no model at all.

use super::world::*;
use signoff::domain::member::{LEFT_WAITING, RESTED, STOPPED_WITH_TEAM};
use signoff::domain::settings::TeamSettings;
use signoff::domain::*;
use signoff::protocol::core::Loaded;
use signoff::protocol::turn::Outcome;
use signoff::protocol::*;

/// What the files of this team hold.
fn files(w: &World) -> Loaded {
    Loaded {
        team: Some(w.core.team_config()),
        tasks: w.core.board().iter().map(|task| Task::clone(task)).collect(),
        requests: w.core.requests().map(|request| Request::clone(request)).collect(),
        ..Loaded::default()
    }
}

fn open(loaded: Loaded) -> World {
    World::with(TeamSettings::default(), loaded)
}

fn reason(w: &World, who: &str) -> Option<String> {
    w.core.member(&name(who)).unwrap().reason.clone()
}

fn notices(w: &World) -> String {
    let text = |event: &TeamEvent| if let TeamEvent::Noticed { text, .. } = event { Some(text.clone()) } else { None };
    w.events.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

fn write(w: &mut World, by: Party, to: &str) {
    w.by(by, TeamCommand::Send { to: to.into(), content: "go on".into() }).unwrap();
}

/// bob waits for the verdict on a plan for task 1, cid works on task 2, ann has nothing to do.
fn busy() -> World {
    let mut w = World::team(&["bob", "cid", "ann"]);
    w.task("migrate", &[]);
    w.begins("bob");
    w.by(member("bob"), TeamCommand::SubmitPlan { plan: "1. migrate".into() }).unwrap();
    w.rests_with("bob", Outcome::AwaitsVerdict, "");
    w.task("test", &[]);
    w.begins("cid");
    assert_eq!((w.status("bob"), w.status("ann")), (MemberStatus::WaitingApproval, MemberStatus::Idle));
    w
}

fn approve(w: &mut World) {
    let plan = w.core.requests().find(|r| r.kind == RequestKind::Plan && r.is_pending()).expect("the plan waits").clone();
    w.human(TeamCommand::Answer { id: plan.id.clone(), verdict: Verdict::approve(), shown: plan.digest() }).unwrap();
}

/// Ends everybody who was asked to end.
fn all_end(w: &mut World) {
    for who in ["bob", "cid", "ann", "lead"] {
        let told = w.told_to(who);
        if told.iter().any(|input| matches!(input, AgentInput::End { .. } | AgentInput::Kill { .. })) {
            w.ends(who, false, "asked to");
        }
    }
}

#[test]
fn t22_after_a_crash_it_is_told_apart_who_worked_who_waited_and_who_was_idle() {
    let w = open(files(&busy()));
    let all: Vec<_> = ["bob", "cid", "ann"].iter().map(|who| (w.status(who), reason(&w, who).unwrap())).collect();
    assert!(all.iter().all(|(status, _)| *status == MemberStatus::Interrupted));
    assert_eq!(all[0].1, LEFT_WAITING);
    assert!(all[1].1.contains("at work"), "{}", all[1].1);
    assert_eq!(all[2].1, RESTED);
    let said = notices(&w);
    assert!(said.contains("interrupted when the app ended: cid."), "neither who waits nor who was idle was cut off: {said}");
    assert!(w.started.iter().all(|(who, _)| who.is_lead()), "nobody goes on unasked");
}

#[test]
fn a_conversation_that_was_cut_off_counts_more_than_an_older_status_in_the_file() {
    let w = open(Loaded { cut_off: [name("ann")].into(), ..files(&busy()) });
    assert_ne!(reason(&w, "ann").unwrap(), RESTED);
}

#[test]
fn quitting_drops_no_plan_that_waits_and_keeps_its_task() {
    for at_once in [false, true] {
        let mut w = busy();
        w.told.clear();
        w.human(TeamCommand::StopTeam { now: at_once }).unwrap();
        if !at_once {
            w.rests("cid");
        }
        all_end(&mut w);
        assert!(w.finished().is_some(), "everybody has ended");
        assert_eq!((w.status("bob"), reason(&w, "bob").as_deref()), (MemberStatus::Interrupted, Some(LEFT_WAITING)));
        assert_eq!(w.owner(TaskId(1)).as_deref(), Some("bob"));
        assert_eq!((w.status("cid"), reason(&w, "cid").as_deref()), (MemberStatus::Shutdown, Some(STOPPED_WITH_TEAM)));
        assert_eq!(w.owner(TaskId(2)), None, "work that goes on by itself goes back to the board");
        let mut again = open(files(&w));
        assert_eq!(again.owner(TaskId(1)).as_deref(), Some("bob"));
        again.started.clear();
        approve(&mut again);
        assert_eq!(again.started, [(name("bob"), true)], "the verdict starts it");
        let told = again.told_to("bob");
        assert!(told.iter().any(|input| matches!(input, AgentInput::Verdict(_))), "{told:?}");
        let by_task = told.iter().any(|input| matches!(input, AgentInput::GoOn { task: Some(_) }));
        assert!(!by_task, "it goes on by the verdict, not as if it had been cut off in its task");
    }
}

#[test]
fn a_shutdown_of_its_own_still_drops_a_plan_that_waits() {
    let mut w = busy();
    w.human(TeamCommand::RequestShutdown { target: "bob".into(), reason: None }).unwrap();
    w.human(TeamCommand::StopTeam { now: false }).unwrap();
    w.rests("cid");
    all_end(&mut w);
    assert_eq!(w.status("bob"), MemberStatus::Shutdown);
    assert!(w.core.requests().all(|r| !r.is_pending()));
    assert_eq!(w.owner(TaskId(1)), None);
}

#[test]
fn a_plan_that_is_withdrawn_while_its_member_does_not_run_is_not_shown_as_waiting() {
    let mut w = open(files(&busy()));
    w.human(TeamCommand::ReleaseTask { task: TaskId(1), note: None }).unwrap();
    assert!(w.core.requests().all(|r| !r.is_pending()));
    assert_eq!(reason(&w, "bob").as_deref(), Some(RESTED));
}

#[test]
fn everybody_who_was_left_starts_again_together_and_nobody_else() {
    let mut w = busy();
    w.human(TeamCommand::RequestShutdown { target: "ann".into(), reason: None }).unwrap();
    w.ends("ann", false, "asked to");
    w.told.clear();
    w.human(TeamCommand::StopTeam { now: true }).unwrap();
    all_end(&mut w);
    let mut again = open(files(&w));
    again.started.clear();
    again.human(TeamCommand::Resume { target: "all".into() }).unwrap();
    let names: Vec<&str> = again.started.iter().map(|(who, _)| who.as_str()).collect();
    assert_eq!(names, ["bob", "cid"], "ann was shut down before");
    assert!(matches!(again.human(TeamCommand::Resume { target: "all".into() }), Err(Refusal::Invalid(_))), "once");
}

#[test]
fn all_or_nobody_starts_where_the_team_has_no_room() {
    let settings = TeamSettings { max_members: 3, ..TeamSettings::default() };
    let mut w = World::with(settings, files(&busy()));
    w.started.clear();
    assert!(matches!(w.human(TeamCommand::Resume { target: "all".into() }), Err(Refusal::TeamFull { max: 3 })));
    assert!(w.started.is_empty());
}

#[test]
fn words_of_the_person_or_the_lead_start_a_member_that_was_cut_off_and_those_of_others_wait() {
    for (by, starts) in [(Party::Human, true), (member("lead"), true), (member("dan"), false)] {
        let mut before = busy();
        before.spawn("dan");
        let mut w = open(files(&before));
        if !starts {
            w.human(TeamCommand::Resume { target: "dan".into() }).unwrap();
        }
        w.started.clear();
        write(&mut w, by.clone(), "ann");
        assert_eq!(w.started.iter().any(|(who, _)| who.same("ann")), starts, "{by:?}");
        assert_eq!(w.mail.iter().filter(|m| m.to == "ann").count(), 1, "the letter is there in any case");
    }
}

#[test]
fn what_the_person_wrote_while_nobody_ran_the_team_is_taken_up_when_it_is_opened() {
    let w = open(Loaded { called: [name("ann")].into(), ..files(&busy()) });
    let started: Vec<&str> = w.started.iter().map(|(who, _)| who.as_str()).filter(|who| *who != "lead").collect();
    assert_eq!(started, ["ann"]);
    assert!(!notices(&w).contains("ann"));
}

#[test]
fn where_no_model_answers_no_task_is_claimed_and_no_verdict_starts_anybody() {
    let settings = TeamSettings { no_model: true, ..TeamSettings::default() };
    let mut w = World::with(settings, files(&busy()));
    w.human(TeamCommand::Resume { target: "ann".into() }).unwrap();
    w.rests("ann");
    w.task("new", &[]);
    assert_eq!(w.owner(TaskId(3)), None);
    w.started.clear();
    approve(&mut w);
    assert!(w.started.is_empty());
    let mut later = open(files(&w));
    later.told.clear();
    later.human(TeamCommand::Resume { target: "bob".into() }).unwrap();
    assert!(later.told_to("bob").iter().any(|input| matches!(input, AgentInput::Verdict(_))), "with a model it takes the verdict in");
}
