//! When and where a conversation is shortened. Cuts only where tool calls and their results stay together.

use crate::domain::{ChatMessage, ToolSpec};

/// Bytes a token is taken for when the server does not tell. English and code are near it; others cost more tokens,
/// which the reserve covers.
const BYTES_PER_TOKEN: usize = 4;
/// This share of the window is kept word for word at the end when cutting.
const KEEP_SHARE: u64 = 4;
/// Tool outputs that are dropped to make room keep this many bytes of their head.
const DROPPED_HEAD: usize = 200;

/// Estimated tokens of a text size in bytes.
pub fn tokens_of(bytes: usize) -> u64 {
    (bytes / BYTES_PER_TOKEN) as u64 + 1
}

/// Estimated tokens of messages.
pub fn estimate(messages: &[ChatMessage]) -> u64 {
    tokens_of(messages.iter().map(ChatMessage::size).sum())
}

/// Estimated tokens of the tools' schemas, which count against the window as well.
pub fn schema_tokens(tools: &[ToolSpec]) -> u64 {
    tokens_of(tools.iter().map(|t| t.name.len() + t.description.len() + t.parameters.to_string().len()).sum())
}

/// Whether `context` tokens leave less than `reserve` of a window of `window` tokens, the schemas counted.
pub fn is_due(context: u64, schema: u64, window: u64, reserve: u64) -> bool {
    let room = window.saturating_sub(reserve.min(window / 2)).saturating_sub(schema);
    context > room
}

/// A summary that small is never too long, in bytes.
const SUMMARY_MIN: usize = 4_000;

/// A summary of `replaced` bytes of conversation, cut where it would take more room than those. Small models ramble.
pub fn no_longer_than(summary: String, replaced: usize) -> String {
    let limit = replaced.max(SUMMARY_MIN);
    if summary.len() <= limit {
        return summary;
    }
    let cut = (0..=limit).rev().find(|at| summary.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\n[the rest of this summary was longer than what it summarises]", &summary[..cut])
}

/// How many of the last messages stay as they are: about a quarter of the window, beginning where no tool result is
/// cut from its call. 0 when not even the last exchange fits.
pub fn keep(messages: &[ChatMessage], window: u64) -> usize {
    let budget = window / KEEP_SHARE;
    let mut used = 0;
    let mut kept = 0;
    for (back, message) in messages.iter().rev().enumerate() {
        used += tokens_of(message.size());
        if used > budget {
            break;
        }
        if !matches!(message, ChatMessage::Tool { .. }) {
            kept = back + 1;
        }
    }
    kept.min(messages.len().saturating_sub(1))
}

/// Drops the oldest tool outputs until `messages` fit into `target` tokens; returns whether anything was dropped.
pub fn drop_outputs(messages: &mut [ChatMessage], target: u64) -> bool {
    let mut size = estimate(messages);
    let mut dropped = false;
    for message in messages.iter_mut() {
        if size <= target {
            break;
        }
        if let ChatMessage::Tool { content, .. } = message
            && content.len() > DROPPED_HEAD * 2
        {
            let cut = (0..=DROPPED_HEAD).rev().find(|at| content.is_char_boundary(*at)).unwrap_or(0);
            let gone = content.len() - cut;
            content.truncate(cut);
            content.push_str(&format!("\n[{gone} bytes of this output were dropped to make room]"));
            size = size.saturating_sub(tokens_of(gone));
            dropped = true;
        }
    }
    dropped
}

/// The conversation as text for the summary, the newest `limit` bytes of it.
pub fn digest_text(messages: &[ChatMessage], limit: usize) -> String {
    let line = |message: &ChatMessage| match message {
        ChatMessage::System { text } => format!("[system] {text}"),
        ChatMessage::User { text } => format!("[told] {text}"),
        ChatMessage::Assistant { text, calls, .. } => {
            let calls: Vec<String> = calls.iter().map(|call| format!("{}({})", call.name, head(&call.arguments, 400))).collect();
            format!("[answered] {text} {}", calls.join("; "))
        }
        ChatMessage::Tool { name, content, ok, .. } => format!("[{name} {}] {}", if *ok { "ok" } else { "failed" }, head(content, 1_500)),
    };
    let all = messages.iter().map(line).collect::<Vec<_>>().join("\n");
    let from = (all.len().saturating_sub(limit)..=all.len()).find(|at| all.is_char_boundary(*at)).unwrap_or(0);
    all[from..].to_owned()
}

fn head(text: &str, max: usize) -> &str {
    let cut = (0..=max.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..cut]
}
