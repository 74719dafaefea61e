//! Moments and activities in words, for tables.

use crate::domain::{Activity, Timestamp};

/// A moment in the person's time zone, without seconds: `2026-11-30 14:05`.
pub fn moment(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map(|stamp| stamp.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string())
        .unwrap_or_else(|_| "?".into())
}

/// The person's time zone at `at`, in seconds east of UTC; 0 when it is not known.
pub fn utc_offset(at: Timestamp) -> i32 {
    let stamp = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    jiff::tz::TimeZone::system().to_offset(stamp).seconds()
}

/// What a member does, in a few words.
pub fn activity(activity: &Activity) -> String {
    match activity {
        Activity::Starting => "starting".into(),
        Activity::Model { .. } => "asks the model".into(),
        Activity::Tool { tool, summary, .. } => format!("{tool} {summary}"),
        Activity::Approval { request, request_kind, .. } => format!("waits for {} {request}", request_kind.word()),
        Activity::RateLimit { .. } => "waits: the provider's limit".into(),
        Activity::Retry { attempt, reason, .. } => format!("tries again ({attempt}): {reason}"),
        Activity::Mail { .. } => "waits for an answer".into(),
        Activity::HoldsTask { task, .. } => format!("idle, holds {task}"),
        Activity::Nothing { .. } => "nothing to do".into(),
        Activity::Stopping { .. } => "stopping".into(),
        Activity::Compacting { .. } => "shortens its conversation".into(),
        Activity::Stopped { reason } | Activity::Failed { reason } => reason.clone(),
    }
}
