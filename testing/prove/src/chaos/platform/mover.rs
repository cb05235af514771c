//! Simulates an author that writes, loses access, writes again, and regains access.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::sleep;

use super::Square;
use super::poster::{note_sent, ready, send};
use crate::chance::Dice;
use crate::chaos::plan::Conversation;

/// Number of events between two changes.
const EVENTS: u64 = 2;

/// Maximum age of a refusal: this long after a grant the author must have access.
const LET_IN_WITHIN: Duration = Duration::from_millis(2_500);

/// Time in which the desk may still execute an attempt that it did not acknowledge.
const EXECUTED_WITHIN: Duration = Duration::from_secs(15);

/// Retry interval of a change while the database is down.
const TRY_EVERY: Duration = Duration::from_millis(300);

/// Writes and changes access until the stop command.
pub(super) async fn move_about(square: Arc<Square>, number: usize) {
    let mut dice = Dice::of(square.plan.seed, 4_000 + number as u64);
    let mover = &square.plan.movers[number];
    let inside = &mover.conversation;
    let outside = Conversation { seen_by: Vec::new(), ..inside.clone() };
    let mut connection = None;
    for round in 0_u64.. {
        for (place, conversation) in [("in", inside), ("out", &outside)] {
            let change = if place == "in" { &mover.lets_in } else { &mover.lets_out };
            while !square.change(change).await {
                sleep(TRY_EVERY).await;
            }
            if place == "in" {
                sleep(LET_IN_WITHIN).await;
            }
            for event in 0..EVENTS {
                if square.stopping.load(Ordering::Relaxed) {
                    return;
                }
                let nonce = format!("v{number}-{round}-{place}-{event}");
                let ready = ready(&square.plan, conversation, &nonce, &mut dice);
                note_sent(&square, conversation, &ready, None);
                let is_plain = send(&square, &ready, &mut connection, &mut dice).await;
                if !is_plain {
                    // By then the desk has dropped or stored it, with the access of this time.
                    sleep(EXECUTED_WITHIN).await;
                }
            }
        }
    }
}
