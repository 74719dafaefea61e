//! Recorded answers of two real servers (llama.cpp's and llama-cpp-python's): inputs that nobody here wrote.

use super::fake::Reply;
use super::{Told, ask_with};
use signoff::domain::TokenUsage;
use signoff::domain::conversation::FinishReason;
use signoff::llm::{ModelError, ModelEvent};

async fn replay(name: &str) -> Told {
    ask_with(vec![Reply::recorded(name).split(11), Reply::recorded(name)]).await.0
}

#[tokio::test]
async fn plain_answers() {
    let told = replay("llamacpp-chat").await;
    assert_eq!((told.answer().text.as_str(), told.answer().finish), ("Hello!", FinishReason::Stop));
    assert_eq!(told.answer().usage, TokenUsage { input: 26, output: 3, cached: 0, reasoning: 0 });
    assert_eq!(replay("llamacpp-chat_unicode").await.answer().text, " Grüße, 世界! 👩‍👩‍👧 ✅ naïve");
    let told = replay("llamacpppython-chat").await;
    assert_eq!((told.answer().text.as_str(), told.answer().usage), ("Hello! How can I assist you today?", TokenUsage::default()));
    let told = replay("llamacpp-chat_nostream").await;
    assert_eq!((told.answer().text.as_str(), told.answer().usage.cached), ("Hello! How can I assist you today?", 21));
}

#[tokio::test]
async fn parallel_tool_calls() {
    let told = replay("llamacpp-tool_parallel").await;
    let calls: Vec<(&str, &str)> = told.answer().calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(calls, [("get_weather", "{\"city\": \"Paris\"}"), ("get_weather", "{\"city\": \"Tokyo\"}")]);
    assert_eq!(told.answer().calls[0].id.to_string(), "hKPZ22pJ2z07EmtXKftcfBtqdLRZsbHk");
    assert_eq!(told.count(|event| matches!(event, ModelEvent::CallStarted { .. })), 2);
}

#[tokio::test]
async fn a_call_in_the_old_and_the_new_form_at_once_is_one_call() {
    let told = replay("llamacpppython-tool_forced").await;
    let calls = &told.answer().calls;
    assert_eq!((calls.len(), calls[0].name.as_str()), (1, "bash"));
    assert!(calls[0].arguments.starts_with("{\"command\":\"bash -c 'echo"), "{}", calls[0].arguments);
}

#[tokio::test]
async fn an_answer_after_minutes_of_comments_and_one_cut_by_the_server() {
    let told = replay("llamacpp-queued").await;
    assert_eq!((told.answer().text.as_str(), told.answer().finish), ("Hello! How can I", FinishReason::Length));
    assert_eq!(replay("llamacpp-length").await.answer().finish, FinishReason::Length);
    let told = replay("llamacpp-cut_by_stop").await;
    assert!(told.text().starts_with("To count from 1 to 500"));
    assert!(matches!(told.error(), ModelError::Connection(_)), "{:?}", told.error());
}

#[tokio::test]
async fn errors() {
    assert!(matches!(replay("llamacpp-err_context").await.error(), ModelError::ContextOverflow { .. }));
    assert!(matches!(replay("llamacpppython-err_context_nostream").await.error(), ModelError::ContextOverflow { .. }));
    assert!(matches!(replay("llamacpp-err_no_key").await.error(), ModelError::Unauthorized { status: 401, .. }));
    let told = replay("llamacpppython-err_path").await;
    assert!(matches!(told.error(), ModelError::Status { status: 404, message } if message.starts_with("Not Found")), "{:?}", told.error());
    let (told, _) = ask_with(vec![Reply::recorded("llamacpp-err_loading"), Reply::recorded("llamacpp-chat")]).await;
    assert_eq!(told.answer().text, "Hello!");
}
