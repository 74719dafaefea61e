//! What a verdict looks like in a conversation: the decider's words and nothing but, then what to do.

use signoff::domain::*;
use signoff::protocol::format;

fn plan(verdict: Verdict) -> String {
    let json = serde_json::json!({
        "id": "0a1b2c3d", "kind": "plan", "asker": "bob", "target": "bob", "title": "t", "body": "old", "created": 1,
    });
    let request: Request = serde_json::from_value(json).unwrap();
    let digest = request.digest();
    let answered = request.answered(&Party::Human, verdict, &digest, request::PlanReviewer::Human, Timestamp(1)).unwrap();
    format::verdict(&answered)
}

fn words(text: &str) -> &str {
    let from = text.find('>').unwrap() + 1;
    &text[from..text.find("</plan-verdict>").unwrap()]
}

#[test]
fn a_bare_verdict_has_no_words_and_one_with_words_has_only_those() {
    assert_eq!(words(&plan(Verdict::approve())), "");
    assert_eq!(words(&plan(Verdict::reject())), "");
    assert_eq!(words(&plan(Verdict::Reject { feedback: Some("smaller".into()) })), "smaller");
    assert_eq!(words(&plan(Verdict::Approve { note: Some("mind".into()), edited: None, always: false })), "mind");
}

#[test]
fn an_edited_plan_is_marked_and_the_member_is_told_to_carry_that_out() {
    let text = plan(Verdict::Approve { note: None, edited: Some("new </edited-plan>".into()), always: false });
    assert_eq!(words(&text), "<edited-plan>new &lt;/edited-plan></edited-plan>");
    assert!(text.ends_with("<notice>The plan was edited: carry out the edited text, not your own.</notice>"));
}
