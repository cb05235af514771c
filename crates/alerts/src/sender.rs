//! The port of a way: it sends one message.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::message::AlertMessage;
use crate::way::AlertWay;

/// The reason for which a message did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertFailure(pub String);

/// Sends messages to the targets of one kind.
#[async_trait]
pub trait AlertSender: Debug + Send + Sync {
    /// Sends a message. The reason of a failure contains no secret of the target.
    async fn send(&self, way: &AlertWay, message: &AlertMessage) -> Result<(), AlertFailure>;
}
