//! Errors of a send.

use nightdesk_protocol::TooLong;
use nightdesk_types::limits::SEND_ANSWER_WAIT;

use crate::limits::{LINE_WAIT, SENDS_WAITING_MAX};
use crate::session::RequestFailure;

/// The reason that a send was not made, or may not have been.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The send was written, and then the line was lost, or no answer arrived in time. It may have been made. The SDK
    /// never repeats it; repeat it only if twice is better than never.
    #[error(
        "the send may have been done: the line was lost or no response came within {} s; repeat it \
         only if a duplicate is better than a loss", SEND_ANSWER_WAIT.as_secs()
    )]
    Unknown,
    /// Nothing was sent: there was no line. A later attempt may succeed.
    #[error("nothing was sent: there was no line for {} s; retry later", LINE_WAIT.as_secs())]
    NoLine,
    /// Nothing was sent: too many sends are in progress.
    #[error(
        "nothing was sent: too many sends are in progress or {SENDS_WAITING_MAX} wait already; wait \
         for their results"
    )]
    Busy,
    /// Nothing was sent: it does not fit into a frame.
    #[error("nothing was sent: it is too long; make it shorter")]
    TooLong(#[source] TooLong),
    /// The desk does not allow this operation there. A retry gets the same answer.
    #[error("refused: {0}")]
    Refused(String),
    /// The send failed, for a reason of the platform or the desk.
    #[error("not done: {0}")]
    Failed(String),
    /// Nothing was sent: the agent disconnected, went idle, fell asleep, or was revoked.
    #[error("nothing was sent: the agent has no line any more; connect again")]
    Over,
}

impl From<RequestFailure> for SendError {
    fn from(why: RequestFailure) -> Self {
        match why {
            RequestFailure::Unknown => Self::Unknown,
            RequestFailure::NoLine => Self::NoLine,
            RequestFailure::Busy => Self::Busy,
            RequestFailure::TooLong(why) => Self::TooLong(why),
            RequestFailure::Over => Self::Over,
        }
    }
}
