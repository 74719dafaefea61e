//! How a script is played: branches, loops, resuming, interruptions, errors, speed.

use super::team::{ask, message};
use futures::StreamExt;
use signoff::domain::conversation::{AssistantAnswer, FinishReason};
use signoff::domain::{ChatMessage, MemberName};
use signoff::llm::scripted::ScriptedModel;
use signoff::llm::{ChatModel, ChatRequest, ModelError, ModelEvent};
use std::sync::Arc;
use std::time::Duration;

fn script(text: &str) -> ScriptedModel {
    ScriptedModel::from_str(text, "test.toml").unwrap().with_speed(0.0)
}

/// A conversation that grows.
struct Talk<'a> {
    model: &'a ScriptedModel,
    name: &'a str,
    messages: Vec<ChatMessage>,
}

impl<'a> Talk<'a> {
    fn new(model: &'a ScriptedModel, name: &'a str) -> Self {
        Self { model, name, messages: Vec::new() }
    }

    async fn hear(&mut self, text: &str) -> AssistantAnswer {
        self.messages.push(ChatMessage::user(text));
        self.go().await
    }

    async fn go(&mut self) -> AssistantAnswer {
        let answer = ask(self.model, self.name, &self.messages).await.unwrap();
        self.messages.push(message(&answer));
        answer
    }

    /// Gives every call of the last answer the same result, and goes on.
    async fn result(&mut self, ok: bool, content: &str) -> AssistantAnswer {
        let Some(ChatMessage::Assistant { calls, .. }) = self.messages.last().cloned() else { panic!("no answer") };
        assert!(!calls.is_empty(), "a result without a call");
        for call in calls {
            self.messages.push(ChatMessage::Tool { call_id: call.id, name: call.name, content: content.into(), ok });
        }
        self.go().await
    }
}

const PLAN: &str = r#"
[[rule]]
on = "claimed"
[[rule.step]]
label = "plan"
tool = "plan_approval"
args = { plan = "plan {plans}" }
[[rule.step]]
wait_for = "verdict"
[[rule.step]]
if = { verdict = "rejected" }
goto = "plan"
[[rule.step]]
if = { verdict = "edited" }
else = "not edited"
say = "edited to {plan}"
goto = "end"
[[rule.step]]
label = "not edited"
if = { verdict = "noted" }
say = "with note {note}"
goto = "end"
[[rule.step]]
say = "plain"
"#;

const CLAIM: &str = "<auto-claimed>Task #7: Mend it\nsoon</auto-claimed>";

fn verdict(word: &str, body: &str) -> String {
    format!("<plan-verdict request=\"0a1b2c3d\" verdict=\"{word}\" by=\"human\">{body}</plan-verdict>")
}

#[tokio::test]
async fn a_script_branches_on_each_kind_of_verdict() {
    let cases = [
        (verdict("approved", ""), "plain"),
        (verdict("approved", "careful"), "with note careful"),
        (verdict("approved", "<edited-plan>mine</edited-plan>"), "edited to mine"),
    ];
    for (told, wanted) in cases {
        let model = script(PLAN);
        let mut talk = Talk::new(&model, "bob");
        assert_eq!(talk.hear(CLAIM).await.calls[0].arguments, r#"{"plan":"plan 0"}"#);
        talk.messages.push(ChatMessage::Tool {
            call_id: call(&talk.messages),
            name: "plan_approval".into(),
            content: "handed in".into(),
            ok: true,
        });
        assert_eq!(talk.hear(&verdict("rejected", "no")).await.calls[0].arguments, r#"{"plan":"plan 1"}"#);
        talk.messages.push(ChatMessage::Tool {
            call_id: call(&talk.messages),
            name: "plan_approval".into(),
            content: "handed in".into(),
            ok: true,
        });
        assert_eq!(talk.hear(&told).await.text, wanted);
    }
}

#[tokio::test]
async fn calls_that_a_crash_cut_off_are_made_again_and_only_those() {
    let model = script(
        r#"
format = 1
[[rule]]
on = "claimed"
[[rule.step]]
calls = [{ tool = "read_file", args = { path = "a" } }, { tool = "read_file", args = { path = "b" } }, { tool = "read_file", args = { path = "c" } }]
[[rule.step]]
say = "all read"
"#,
    );
    let mut talk = Talk::new(&model, "bob");
    let first = talk.hear(CLAIM).await;
    let result = |call: &signoff::domain::ToolCall, content: &str| ChatMessage::Tool {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: content.into(),
        ok: content == "read",
    };
    let cut = signoff::domain::conversation::CUT_OFF;
    talk.messages.extend([result(&first.calls[0], "read"), result(&first.calls[1], cut), result(&first.calls[2], cut)]);
    let second = talk.hear("<notice>You were interrupted.</notice>").await;
    assert_eq!(second.calls.iter().map(|c| c.arguments.as_str()).collect::<Vec<_>>(), [r#"{"path":"b"}"#, r#"{"path":"c"}"#]);
    talk.messages.extend([result(&second.calls[0], "read"), result(&second.calls[1], cut)]);
    let third = talk.hear("<notice>You were interrupted.</notice>").await;
    assert_eq!(third.calls.iter().map(|c| c.arguments.as_str()).collect::<Vec<_>>(), [r#"{"path":"c"}"#]);
    talk.messages.push(result(&third.calls[0], "read"));
    assert_eq!(talk.hear("<notice>go on</notice>").await.text, "all read");
}

fn call(messages: &[ChatMessage]) -> signoff::domain::CallId {
    let Some(ChatMessage::Assistant { calls, .. }) = messages.last() else { panic!("no answer") };
    calls[0].id.clone()
}

#[tokio::test]
async fn mail_while_a_plan_is_pending_does_not_start_the_work() {
    let model = script(PLAN);
    let mut talk = Talk::new(&model, "bob");
    talk.hear(CLAIM).await;
    talk.messages.push(ChatMessage::Tool {
        call_id: call(&talk.messages),
        name: "plan_approval".into(),
        content: "handed in".into(),
        ok: true,
    });
    let answer = talk.hear("<mail from=\"lead\" type=\"message\" id=\"1\">hurry</mail>").await;
    assert!(answer.calls.is_empty() && answer.text.contains("wait"), "{answer:?}");
    assert_eq!(talk.hear(&verdict("approved", "")).await.text, "plain");
}

#[tokio::test]
async fn a_plan_that_was_approved_already_needs_no_verdict() {
    let model = script(PLAN);
    let mut talk = Talk::new(&model, "bob");
    talk.hear(CLAIM).await;
    assert_eq!(talk.result(true, "already approved, go on").await.text, "plain");
}

const WORK: &str = r#"
[[rule]]
on = "claimed"
[[rule.step]]
tool = "bash"
args = { command = "make", task = "{task_id}" }
retry = 1
[[rule.step]]
if = { result = "failed" }
say = "gave up on {task}: {result}"
goto = "end"
[[rule.step]]
if = { output = "warning" }
tool = "bash"
args = { command = "lint" }
[[rule.step]]
say = "done"
[[rule]]
on = "mail"
[[rule.step]]
tool = "send_message"
args = { to = "{from}", content = "got {mail}" }
[[rule.step]]
say = "answered {from}"
"#;

#[tokio::test]
async fn a_failed_call_is_tried_again_and_then_branched_on() {
    let model = script(WORK);
    let mut talk = Talk::new(&model, "bob");
    let first = talk.hear(CLAIM).await;
    assert_eq!((first.finish, first.calls[0].arguments.as_str()), (FinishReason::ToolCalls, r#"{"command":"make","task":7}"#));
    assert_eq!(talk.result(false, "error 1").await.calls[0].name, "bash");
    assert_eq!(talk.result(false, "error 2").await.text, "gave up on Mend it: error 2");
}

#[tokio::test]
async fn a_branch_can_ask_what_a_result_contains() {
    let model = script(WORK);
    let mut talk = Talk::new(&model, "bob");
    talk.hear(CLAIM).await;
    assert!(talk.result(true, "one Warning").await.calls[0].arguments.contains("lint"));
    assert_eq!(talk.result(true, "clean").await.text, "done");
}

#[tokio::test]
async fn mail_interrupts_a_task_and_the_task_goes_on_afterwards() {
    let model = script(WORK);
    let mut talk = Talk::new(&model, "bob");
    talk.hear(CLAIM).await;
    let Some(ChatMessage::Assistant { calls, .. }) = talk.messages.last().cloned() else { panic!() };
    talk.messages.push(ChatMessage::Tool { call_id: calls[0].id.clone(), name: "bash".into(), content: "ok".into(), ok: true });
    let reply = talk.hear("<mail from=\"a\" type=\"message\">1</mail>\n<mail from=\"b\" type=\"message\">2</mail>").await;
    assert_eq!(reply.calls[0].arguments, r#"{"content":"got 1","to":"a"}"#, "in the order of the mail");
    let second = talk.result(true, "sent").await;
    assert_eq!((second.text.as_str(), second.calls[0].arguments.as_str()), ("answered a", r#"{"content":"got 2","to":"b"}"#));
    let last = talk.result(true, "sent").await;
    assert_eq!(last.text, "answered b\n\ndone", "the words of the interruption and of the task in one answer");
    assert_eq!(talk.hear("<nudge>still yours</nudge>").await.text, "There is nothing more for me to do.");
}

#[tokio::test]
async fn a_fresh_process_goes_on_where_the_conversation_stands() {
    let mut talk_messages = Vec::new();
    let mut spoken = Vec::new();
    for round in 0..3 {
        let model = script(WORK);
        let mut talk = Talk::new(&model, "bob");
        talk.messages = std::mem::take(&mut talk_messages);
        let answer = if round == 0 { talk.hear(CLAIM).await } else { talk.result(true, "warning").await };
        spoken.push(answer.calls.first().map_or(answer.text.clone(), |call| call.arguments.clone()));
        talk_messages = talk.messages;
    }
    assert_eq!(spoken, [r#"{"command":"make","task":7}"#, r#"{"command":"lint"}"#, "done"]);
}

#[tokio::test]
async fn the_ids_of_calls_tell_the_position_when_the_beginning_is_gone() {
    let model = script(WORK);
    let mut talk = Talk::new(&model, "bob");
    talk.hear(CLAIM).await;
    talk.result(true, "warning").await;
    talk.messages.drain(..3);
    assert!(matches!(talk.messages[0], ChatMessage::Assistant { .. }));
    assert_eq!(talk.result(true, "clean").await.text, "done");
}

#[tokio::test]
async fn ids_of_calls_are_unique_and_short_enough_for_any_provider() {
    let model =
        script("[[rule]]\non = \"goal\"\n[[rule.step]]\nlabel = \"a\"\ncalls = [{ tool = \"x\" }, { tool = \"y\" }]\ngoto = \"a\"\n");
    let model = model.with_speed(0.0);
    let mut talk = Talk { model: &model, name: "default1", messages: Vec::new() };
    let mut seen = std::collections::HashSet::new();
    let mut answer = talk.hear("go").await;
    for _ in 0..20 {
        for call in &answer.calls {
            assert!(call.id.0.len() <= 40 && seen.insert(call.id.clone()), "{}", call.id);
        }
        answer = talk.result(true, "fine").await;
    }
}

#[tokio::test]
async fn a_step_repeats_until_its_condition_holds() {
    let model = script(
        "[[rule]]\non = \"goal\"\nfor = \"lead\"\n[[rule.step]]\ntool = \"shutdown_check\"\nrepeat = 5\nuntil = { output = \"approved\" }\n[[rule.step]]\nsay = \"{result}\"\n",
    );
    let mut talk = Talk::new(&model, "lead");
    talk.hear("go").await;
    talk.result(true, "pending").await;
    talk.result(true, "pending").await;
    assert_eq!(talk.result(true, "approved by alice").await.text, "approved by alice");
}

#[tokio::test]
async fn a_member_with_rules_of_its_own_still_has_those_of_all_teammates() {
    let model = script(
        "[[rule]]\non = \"prompt\"\n[[rule.step]]\nsay = \"anyone, {name}\"\n[[rule]]\non = \"prompt\"\nfor = [\"alice\", \"bob\"]\nmax = 1\n[[rule.step]]\nsay = \"own, {goal}\"\n",
    );
    let mut alice = Talk::new(&model, "alice");
    assert_eq!(alice.hear("hi").await.text, "own, hi");
    assert_eq!(alice.hear("hi").await.text, "anyone, alice");
    assert_eq!(Talk::new(&model, "m999").hear("hi").await.text, "anyone, m999");
    assert_eq!(Talk::new(&model, "lead").hear("hi").await.text, "There is nothing more for me to do.");
}

#[tokio::test]
async fn the_lead_s_roster_is_not_taken_for_the_goal() {
    let model = script("[[rule]]\non = \"goal\"\nfor = \"lead\"\n[[rule.step]]\nsay = \"{goal}\"\n");
    let mut talk = Talk::new(&model, "lead");
    talk.messages.push(ChatMessage::user("<identity>You are 'lead'.</identity>\nOpen tasks: none"));
    assert_eq!(talk.hear("<mail from=\"human\" type=\"message\" id=\"1\">ship it</mail>").await.text, "ship it");
}

#[tokio::test]
async fn mail_cannot_pretend_to_be_the_state_of_the_script() {
    let model = script(WORK);
    let mut talk = Talk::new(&model, "bob");
    let saved = ask(&model, "bob", &[ChatMessage::user(CLAIM), ChatMessage::user(include_str!("../../../assets/prompts/compact.md"))])
        .await
        .unwrap();
    let told = talk.hear(&format!("<mail from=\"x\" type=\"message\">{}</mail>", saved.text)).await;
    assert_eq!(told.calls[0].name, "send_message", "{told:?}");
}

#[tokio::test]
async fn errors_are_raised_as_often_as_the_script_says() {
    let text = "[[rule]]\non = \"goal\"\nfor = \"lead\"\n[[rule.step]]\nsay = \"fine\"\nerror = { status = 429, message = \"slow down\", wait = \"7s\", times = 2 }\n";
    let model = script(text);
    let goal = [ChatMessage::user("go")];
    let limited = ModelError::Exhausted { message: "slow down".into(), retry_after: Some(Duration::from_secs(7)) };
    assert_eq!(ask(&model, "lead", &goal).await.unwrap_err(), limited);
    assert_eq!(ask(&model, "lead", &goal).await.unwrap_err(), limited);
    assert_eq!(ask(&model, "lead", &goal).await.unwrap().text, "fine");
}

#[tokio::test]
async fn every_kind_of_error_can_be_raised() {
    let raise = async |what: &str| {
        let model = script(&format!("[[rule]]\non = \"goal\"\nfor = \"all\"\n[[rule.step]]\nerror = {{ {what} }}\n"));
        ask(&model, "lead", &[ChatMessage::user("go")]).await.unwrap_err()
    };
    assert!(matches!(raise("status = 401").await, ModelError::Unauthorized { status: 401, .. }));
    assert!(matches!(raise("status = 500").await, ModelError::Status { status: 500, .. }));
    assert!(matches!(raise("kind = \"timeout\", wait = 9").await, ModelError::TimedOut { after, .. } if after.as_secs() == 9));
    assert!(matches!(raise("kind = \"overflow\"").await, ModelError::ContextOverflow { .. }));
    assert!(matches!(raise("kind = \"connection\"").await, ModelError::Connection(_)));
    assert!(matches!(raise("kind = \"malformed\"").await, ModelError::Malformed(_)));
}

#[tokio::test]
async fn a_loop_without_words_ends() {
    let model = script("[[rule]]\non = \"goal\"\nfor = \"all\"\n[[rule.step]]\nlabel = \"a\"\ngoto = \"a\"\n");
    assert!(Talk::new(&model, "lead").hear("go").await.text.contains("circles"));
}

fn request(text: &str) -> ChatRequest {
    let messages = Arc::new(vec![ChatMessage::user(text)]);
    ChatRequest { member: MemberName::lead(), model: "scripted".into(), messages, tools: Arc::default() }
}

#[tokio::test]
async fn text_streams_in_pieces_at_the_script_s_speed() {
    let text = format!(
        "[stream]\ntokens_per_second = 200\npause = \"200ms\"\n[[rule]]\non = \"goal\"\nfor = \"lead\"\n[[rule.step]]\nthink = \"hm\"\nsay = \"{}\"\n",
        "word".repeat(100)
    );
    for (speed, seconds) in [(1.0, 0.7), (2.0, 0.35), (0.0, 0.0)] {
        let model = ScriptedModel::from_str(&text, "t").unwrap().with_speed(speed);
        let began = tokio::time::Instant::now();
        let events: Vec<_> = model.stream(request("go")).map(Result::unwrap).collect().await;
        let took = began.elapsed().as_secs_f64();
        assert!(took >= seconds - 0.01 && took < seconds + 5.0, "speed {speed}: {took} s instead of {seconds}");
        let shown: String = events.iter().filter_map(|e| if let ModelEvent::Text(t) = e { Some(t.as_str()) } else { None }).collect();
        let Some(ModelEvent::Finished(answer)) = events.last() else { panic!("no end") };
        assert_eq!(shown, answer.text);
        assert_eq!(events[0], ModelEvent::Reasoning("hm".into()));
        assert_eq!((answer.usage.output, answer.usage.input), (101, 1));
        assert!(if speed == 0.0 { events.len() == 3 } else { (5..=14).contains(&events.len()) }, "{} events", events.len());
    }
}

#[tokio::test]
async fn two_hundred_members_stream_at_once_with_few_wake_ups() {
    let text = format!(
        "[stream]\ntokens_per_second = 500\n[[rule]]\non = \"goal\"\nfor = \"all\"\n[[rule.step]]\nsay = \"{}\"\n",
        "word ".repeat(200)
    );
    let model = ScriptedModel::from_str(&text, "t").unwrap();
    let streams = (0..200).map(|_| model.stream(request("go")).count());
    let counts = futures::future::join_all(streams).await;
    assert!(counts.iter().all(|events| *events <= 12), "1,000 characters in beats of 100: {:?}", counts.first());
}

#[tokio::test]
async fn a_stream_that_is_not_read_any_more_is_cancelled() {
    let text = |pause: &str| format!("[[rule]]\non = \"goal\"\nfor = \"all\"\n[[rule.step]]\nsay = \"x\"\npause = {pause:?}\n");
    assert!(ScriptedModel::from_str(&text("1h"), "t").is_err(), "hours are no unit");
    let model = ScriptedModel::from_str(&text("60m"), "t").unwrap();
    let ended = tokio::time::timeout(Duration::from_millis(50), model.stream(request("go")).count()).await;
    assert!(ended.is_err());
}
