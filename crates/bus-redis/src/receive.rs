//! Verifies the hints of other nodes and rings them here.

use nightdesk_bus::{Bell, HintError};

use crate::bell::RedisBell;
use crate::note::BellNote;
use crate::peers::{Heartbeat, HeartbeatMeaning};

impl RedisBell {
    /// Handles a message of a channel.
    pub(crate) async fn receive(&self, sealed: &[u8]) {
        match self.open_note(sealed) {
            Ok((life, note)) if life == self.seal.life() => self.handle_own_note(&note),
            Ok((life, note)) => self.handle_note(life, note).await,
            Err(refused) => self.metrics.count_refused(refused),
        }
    }

    fn open_note(&self, sealed: &[u8]) -> Result<(u64, BellNote), HintError> {
        let said = self.seal.open(sealed)?;
        self.lock_state().lives.record_hint(self.clock.now(), &said)?;
        let note = BellNote::decode(said.words).ok_or(HintError::Unreadable)?;
        Ok((said.life, note))
    }

    /// Handles a note of this node itself. Its rings were already delivered here before they were published.
    fn handle_own_note(&self, note: &BellNote) {
        match note {
            BellNote::Beat { .. } => self.record_own_heartbeat(),
            BellNote::Ring(_) | BellNote::Bye { .. } => {}
        }
    }

    async fn handle_note(&self, life: u64, note: BellNote) {
        match note {
            BellNote::Ring(ring) => {
                self.lines.ring(ring).await;
            }
            BellNote::Beat { node, missed } => {
                let (now, heartbeat) = (self.clock.moment(), Heartbeat { node, life, missed });
                let meaning = self.lock_state().peers.record_heartbeat(now, heartbeat);
                if meaning == HeartbeatMeaning::Missed {
                    self.lines.lines_in_doubt().doubt_all();
                }
            }
            BellNote::Bye { node } => self.lock_state().peers.remove_stopped(&node, life),
        }
    }
}
