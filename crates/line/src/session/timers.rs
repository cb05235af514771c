//! The times at which a line counts as suspect and as dead, by its transport.

use nightdesk_types::limits::{DEAD_LINE, POLL_PRESENCE, SUSPECT_ACK, SUSPECT_PONG, TURN_MAX};
use nightdesk_types::{Moment, Transport};

use super::sooner;

/// The signs that a client lives.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignsOfLife {
    /// The last frame, pong or call.
    pub(super) alive_at: Moment,
    /// The time of a ping without any later frame.
    pub(super) unanswered: Option<Moment>,
    /// The time since which the client could handle its oldest unacknowledged entry.
    pub(super) head_since: Option<Moment>,
}

impl SignsOfLife {
    /// Returns the time when the agent is called although its line is open. `None`: no entry waits for the client, or
    /// the transport notices a client that does not answer.
    pub(super) fn suspect_at(self, transport: Transport) -> Option<Moment> {
        let head_since = self.head_since?;
        match transport {
            Transport::WebSocket => {
                let silent = self.unanswered.map(|pinged_at| pinged_at + SUSPECT_PONG);
                sooner(Some(head_since + SUSPECT_ACK), silent)
            }
            // A turn may take long. Only an agent that stopped calling may need to be started.
            Transport::Polling | Transport::Mcp => Some(self.alive_at + POLL_PRESENCE),
            Transport::Webhook => None,
        }
    }

    /// Returns the time when the line ends.
    pub(super) fn dead_at(self, transport: Transport) -> Moment {
        let silent = self.alive_at + DEAD_LINE;
        match transport {
            Transport::WebSocket => {
                self.head_since.map_or(silent, |since| silent.min(since + DEAD_LINE))
            }
            // Acks count for as long as a turn may take, so that no turn runs twice.
            Transport::Polling | Transport::Mcp => {
                let absent = self.alive_at + POLL_PRESENCE;
                self.head_since.map_or(absent, |since| absent.max(since + TURN_MAX))
            }
            // A post ends at its deadline, before this.
            Transport::Webhook => {
                self.head_since.map_or(silent, |since| silent.max(since + TURN_MAX + DEAD_LINE))
            }
        }
    }
}
