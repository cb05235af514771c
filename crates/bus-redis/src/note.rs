//! The messages between nodes.

use nightdesk_bus::Ring;
use serde::{Deserialize, Serialize};

/// The content under a seal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BellNote {
    /// A hint.
    Ring(Ring),
    /// A heartbeat.
    Beat {
        /// The node's name.
        node: String,
        /// The number of rings in its life that failed.
        missed: u64,
    },
    /// A node stops, so its silence is not a break.
    Bye {
        /// The node's name.
        node: String,
    },
}

impl BellNote {
    /// Encodes the note.
    pub(crate) fn encode(&self) -> String {
        // Encoding cannot fail, and the receiver refuses an empty text.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Decodes a note.
    pub(crate) fn decode(words: &str) -> Option<Self> {
        serde_json::from_str(words).ok()
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::{
        AgentId, BotId, GatewayId, Generation, RequestId, Seq, StopId, StopOutcome, StopReceiver,
    };
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn rings() -> impl Strategy<Value = Ring> {
        let parts = (any::<u128>(), any::<i64>(), ".{0,40}", "[!-~]{1,40}");
        (0..9, parts).prop_map(|(kind, (id, number, one, two))| {
            let id = Uuid::from_u128(id);
            let (agent, bot) = (AgentId::from_uuid(id), BotId::from_uuid(id));
            match kind {
                0 => Ring::Entry { agent, seq: Seq::new(number) },
                1 => Ring::Replaced { agent, by: Generation::new(number) },
                2 => Ring::Stop { agent, session_key: one, chat_id: two, report_to: None },
                7 => Ring::Stop {
                    agent,
                    session_key: one,
                    chat_id: String::new(),
                    report_to: Some(StopReceiver {
                        stop_id: StopId::from_random(id.as_u128()),
                        node: two,
                    }),
                },
                8 => Ring::StopReported {
                    node: one,
                    stop_id: StopId::from_random(id.as_u128()),
                    outcome: StopOutcome::Stopped,
                },
                3 => Ring::Revoked { gateway: GatewayId::from_uuid(id) },
                4 => Ring::Chat { bot, chat: two },
                5 => Ring::Asked { node: one, bot },
                _ => Ring::Settled { node: one, agent, request: RequestId::new(two).unwrap() },
            }
        })
    }

    proptest! {
        #[test]
        fn what_was_said_is_what_is_read(ring in rings()) {
            let note = BellNote::Ring(ring);
            prop_assert_eq!(BellNote::decode(&note.encode()), Some(note));
        }

        #[test]
        fn noise_is_not_understood(noise in ".{0,80}") {
            prop_assert_eq!(BellNote::decode(&noise), None);
        }
    }

    #[test]
    fn words_of_another_version_are_not_understood() {
        for words in [r#"{"ring":{"newer":{}}}"#, r#"{"newer":{}}"#, ""] {
            assert_eq!(BellNote::decode(words), None, "{words}");
        }
    }
}
