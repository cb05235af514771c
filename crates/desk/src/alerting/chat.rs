//! Writes alerts in chats, as the desk's own messages.

use async_trait::async_trait;
use nightdesk_alerts::{AlertFailure, AlertMessage, AlertSender, AlertWay, WayTarget};
use nightdesk_egress::SendResult;

use crate::Stops;
use crate::notices::Notices;

/// Writes alerts where the gate lets the chosen agent write.
#[derive(Debug)]
pub struct ChatAlerts {
    notices: Notices,
}

impl ChatAlerts {
    /// Creates the sender over the stops of a node.
    pub fn new(stops: &Stops) -> Self {
        Self { notices: Notices::new(stops) }
    }
}

#[async_trait]
impl AlertSender for ChatAlerts {
    async fn send(&self, way: &AlertWay, message: &AlertMessage) -> Result<(), AlertFailure> {
        let WayTarget::Chat(target) = &way.target else {
            return Err(AlertFailure("the way has no chat".to_owned()));
        };
        // A repeat after a crash finds the earlier send; a send that failed is not found again.
        let request = format!("{}_{}", message.id, message.failures);
        let sent = self.notices.send_alert(target, request, &message.text).await;
        match sent.map_err(|error| AlertFailure(error.to_string()))? {
            Some(SendResult::Delivered(_)) => Ok(()),
            Some(SendResult::InParts(parts)) if parts.is_whole() => Ok(()),
            Some(SendResult::Failed(why)) => Err(AlertFailure(why)),
            Some(SendResult::InParts(_)) => fail("the platform took only a part of it"),
            Some(SendResult::Ambiguous) => fail("the platform did not answer in time"),
            None => {
                fail("the agent may not write in this chat; grant it the chat, or remove the way")
            }
        }
    }
}

fn fail(reason: &str) -> Result<(), AlertFailure> {
    Err(AlertFailure(reason.to_owned()))
}
