//! Verifies the hints of other nodes and rings them here.

use nightdesk_bus::{Bell, Refused};

use crate::bell::RedisBell;
use crate::note::Note;
use crate::peers::{Heartbeat, Meaning};

impl RedisBell {
    /// Handles a message of a channel.
    pub(crate) async fn hear(&self, sealed: &[u8]) {
        match self.understood(sealed) {
            Ok((life, note)) if life == self.seal.life() => self.heard_itself(&note),
            Ok((life, note)) => self.heard(life, note).await,
            Err(refused) => self.metrics.refused(refused),
        }
    }

    fn understood(&self, sealed: &[u8]) -> Result<(u64, Note), Refused> {
        let said = self.seal.open(sealed)?;
        self.state().lives.note(self.clock.now(), &said)?;
        let note = Note::read(said.words).ok_or(Refused::Unreadable)?;
        Ok((said.life, note))
    }

    /// Handles a note of this node itself. Its rings were already delivered here before they were published.
    fn heard_itself(&self, note: &Note) {
        match note {
            Note::Beat { .. } => self.is_heard(),
            Note::Ring(_) | Note::Bye { .. } => {}
        }
    }

    async fn heard(&self, life: u64, note: Note) {
        match note {
            Note::Ring(ring) => {
                self.ears.ring(ring).await;
            }
            Note::Beat { node, missed } => {
                let (now, heartbeat) = (self.clock.moment(), Heartbeat { node, life, missed });
                let meaning = self.state().peers.beat(now, heartbeat);
                if meaning == Meaning::Missed {
                    self.ears.doubt().all();
                }
            }
            Note::Bye { node } => self.state().peers.bye(&node, life),
        }
    }
}
