//! Note: everything one node says to another.

use nightdesk_bus::Ring;
use serde::{Deserialize, Serialize};

/// What is under a seal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Note {
    /// The bell is rung.
    Ring(Ring),
    /// A node is there.
    Beat {
        /// Its name.
        node: String,
        /// How often in its life it could not ring.
        missed: u64,
    },
    /// A node goes, so its silence means nothing.
    Bye {
        /// Its name.
        node: String,
    },
}

impl Note {
    /// As it goes on the wire.
    pub(crate) fn words(&self) -> String {
        // Nothing in it can fail to be written, and an empty hint is not understood.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// As it came from the wire.
    pub(crate) fn read(words: &str) -> Option<Self> {
        serde_json::from_str(words).ok()
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::{AgentId, BotId, GatewayId, Generation, RequestId, Seq};
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn rings() -> impl Strategy<Value = Ring> {
        let parts = (any::<u128>(), any::<i64>(), ".{0,40}", "[!-~]{1,40}");
        (0..7, parts).prop_map(|(kind, (id, number, one, two))| {
            let id = Uuid::from_u128(id);
            let (agent, bot) = (AgentId::from_uuid(id), BotId::from_uuid(id));
            match kind {
                0 => Ring::Entry { agent, seq: Seq::new(number) },
                1 => Ring::Replaced { agent, by: Generation::new(number) },
                2 => Ring::Stop { agent, session_key: one, chat_id: two },
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
            let note = Note::Ring(ring);
            prop_assert_eq!(Note::read(&note.words()), Some(note));
        }

        #[test]
        fn noise_is_not_understood(noise in ".{0,80}") {
            prop_assert_eq!(Note::read(&noise), None);
        }
    }

    #[test]
    fn words_of_another_version_are_not_understood() {
        for words in [r#"{"ring":{"newer":{}}}"#, r#"{"newer":{}}"#, ""] {
            assert_eq!(Note::read(words), None, "{words}");
        }
    }
}
