//! Random ids for the core.

use super::clock;
use crate::domain::{MessageId, RequestId};
use crate::protocol::Ids;

/// Draws from the system's random numbers. A collision of request ids shows as a lost exclusive create, and the command
/// is decided again with another id.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn request(&mut self) -> RequestId {
        clock::request_id()
    }

    fn message(&mut self) -> MessageId {
        clock::message_id()
    }
}
