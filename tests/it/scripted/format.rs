//! What a script with a fault is told, and that no script makes the player panic.

use super::team::ask;
use proptest::prelude::*;
use signoff::domain::{CallId, ChatMessage, ToolCall};
use signoff::llm::scripted::{ScriptedModel, demo};

fn fault(text: &str) -> String {
    ScriptedModel::from_str(text, "my.toml").err().map(|e| e.to_string()).unwrap_or_else(|| panic!("accepted: {text}"))
}

#[test]
fn a_wrong_key_is_told_with_file_line_and_the_right_one() {
    let text = fault("format = 1\n\n[[rule]]\non = \"goal\"\n[[rule.step]]\nsya = \"x\"\n");
    assert!(text.starts_with("my.toml:6: ") && text.contains("`sya`") && text.contains("did you mean `say`?"), "{text}");
}

#[test]
fn a_wrong_trigger_is_told_with_the_right_one() {
    let text = fault("[[rule]]\non = \"claimd\"\n[[rule.step]]\nsay = \"x\"\n");
    assert!(text.starts_with("my.toml:2: ") && text.contains("did you mean `claimed`?"), "{text}");
}

#[test]
fn a_label_that_does_not_exist_is_told_with_the_nearest() {
    let text =
        fault("[[rule]]\nname = \"r\"\non = \"goal\"\n[[rule.step]]\nlabel = \"check\"\nsay = \"x\"\n[[rule.step]]\ngoto = \"chekc\"\n");
    assert!(text.contains("my.toml:7: rule \"r\", step 2") && text.contains("did you mean \"check\"?"), "{text}");
}

#[test]
fn a_placeholder_that_does_not_exist_is_told_with_the_nearest() {
    let text = fault("[[rule]]\non = \"goal\"\n[[rule.step]]\nsay = \"I do {tsk}\"\n");
    assert!(text.contains("{tsk}") && text.contains("did you mean {task}?"), "{text}");
}

#[test]
fn further_faults_are_told_by_name() {
    let step = |body: &str| fault(&format!("[[rule]]\non = \"goal\"\n[[rule.step]]\n{body}\n"));
    assert!(step("args = { a = 1 }").contains("`args` without `tool`"));
    assert!(step("tool = \"a b\"").contains("no tool name"));
    assert!(step("tool = \"a\"\ncalls = [{ tool = \"b\" }]").contains("not both"));
    assert!(step("say = \"x\"\npause = \"soon\"").contains("400ms"));
    assert!(step("say = \"x\"\ntokens_per_second = -1.0").contains("tokens_per_second"));
    assert!(step("say = \"x\"\nuntil = { result = \"ok\" }").contains("`repeat`"));
    assert!(step("label = \"end\"").contains("is taken"));
    assert!(fault("format = 9").contains("format = 9"));
    assert!(fault("[[rule]]\non = \"goal\"\n").contains("has no [[rule.step]]"));
    assert!(fault("[[rule]]\nname = \"x\"\n").contains("missing field `on`"));
    assert!(fault("[[rule").starts_with("my.toml:1: "));
}

const WORDS: [&str; 24] = [
    "[[rule]]\n",
    "[[rule.step]]\n",
    "on = \"goal\"\n",
    "on = [\"claimed\", \"result\"]\n",
    "on = \"verdict\"\n",
    "max = 1\n",
    "again = true\n",
    "clears = true\n",
    "say = \"{name} {result} {task:x} {\"\n",
    "tool = \"bash\"\n",
    "args = { command = \"{task_id}\", n = [\"{task:#1}\"] }\n",
    "repeat = 3\n",
    "retry = 2\n",
    "label = \"a\"\n",
    "goto = \"a\"\n",
    "else = \"a\"\n",
    "if = { result = \"failed\" }\n",
    "if = { verdict = \"approved\" }\n",
    "wait_for = \"verdict\"\n",
    "for = \"lead\"\n",
    "for = \"all\"\n",
    "error = { status = 500, times = 1 }\n",
    "until = { output = \"x\" }\n",
    "goto = \"end\"\n",
];

const TOLD: [&str; 12] = [
    "do it",
    "<mail from=\"human\" type=\"message\">x</mail>",
    "<mail from=\"a\" type=\"shutdown_request\" request_id=\"abcdef01\">x",
    "<mail>",
    "<auto-claimed>Task #3: x\ny</auto-claimed>",
    "<auto-claimed>",
    "<plan-verdict request=\"abcdef01\" verdict=\"approved\" by=\"human\">ok</plan-verdict>",
    "<plan-verdict verdict=\"rejected\"><edited-plan>",
    "<nudge>x</nudge>",
    "<board-finished>",
    "<identity>You are</identity>\nrest\n<mail from=\"b\">c</mail>",
    "<script-state>{\"script\":\"\",\"upto\":\"\",\"state\":{\"frames\":[{\"rule\":9}]}}</script-state>",
];

fn conversation(picks: &[(usize, usize, bool)]) -> Vec<ChatMessage> {
    let message = |(kind, at, ok): &(usize, usize, bool)| match kind % 4 {
        0 | 1 => ChatMessage::user(TOLD[at % TOLD.len()]),
        2 => ChatMessage::Assistant {
            text: String::new(),
            reasoning: None,
            calls: vec![ToolCall {
                id: CallId::new(format!("s{at}c0-0000-{at}_{kind}_1")),
                name: "task_create".into(),
                arguments: "{".into(),
            }],
        },
        _ => ChatMessage::Tool { call_id: CallId::new("x"), name: "task_create".into(), content: format!("#{at}"), ok: *ok },
    };
    picks.iter().map(message).collect()
}

fn answer_all(model: &ScriptedModel, messages: &[ChatMessage]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for name in ["lead", "bob"] {
        let _ = runtime.block_on(ask(model, name, messages));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_script_and_no_conversation_makes_it_panic(
        words in proptest::collection::vec(0..WORDS.len(), 0..24),
        picks in proptest::collection::vec((0..4usize, 0..40usize, any::<bool>()), 0..12),
    ) {
        let text: String = words.iter().map(|at| WORDS[*at]).collect();
        if let Ok(model) = ScriptedModel::from_str(&text, "odd.toml") {
            answer_all(&model.with_speed(0.0), &conversation(&picks));
        }
    }

    #[test]
    fn a_damaged_demo_is_a_fault_or_plays(at in 0..demo::SCRIPT.len(), length in 0..40usize, with in "\\PC{0,6}") {
        let cut = |at: usize| (at..=demo::SCRIPT.len()).find(|at| demo::SCRIPT.is_char_boundary(*at)).unwrap_or(demo::SCRIPT.len());
        let text = format!("{}{with}{}", &demo::SCRIPT[..cut(at)], &demo::SCRIPT[cut((at + length).min(demo::SCRIPT.len()))..]);
        match ScriptedModel::from_str(&text, "odd.toml") {
            Ok(model) => answer_all(&model.with_speed(0.0), &conversation(&[(0, 0, true), (2, 3, true), (3, 3, false)])),
            Err(error) => prop_assert!(error.to_string().starts_with("odd.toml:")),
        }
    }
}
