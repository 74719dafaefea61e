//! The one place that reads the wall clock and draws random numbers.

use crate::domain::{MessageId, RequestId, Timestamp};
use std::time::{SystemTime, UNIX_EPOCH};

/// Now.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
pub fn now() -> Timestamp {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// A new request id: the first 8 hex digits of a v4 UUID.
pub fn request_id() -> RequestId {
    RequestId::from_random(uuid::Uuid::new_v4().as_u128())
}

/// A new message id: a v4 UUID.
pub fn message_id() -> MessageId {
    MessageId(uuid::Uuid::new_v4().to_string().into())
}
