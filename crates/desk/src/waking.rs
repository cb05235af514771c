//! Waking: people are told that their agent was asleep.
//!
//! An event was stored and no line heard the bell: the chat it came from is shown "waking…",
//! once in a while and if it can be done at once. Nothing depends on it. Between two lines of
//! one gateway nobody hears either; then it is said, too, and does no harm.

use std::sync::Arc;

use nightdesk_egress::{Fleeting, Paces};
use nightdesk_gate::Admitted;
use nightdesk_types::limits::{WAKING_EVERY, WAKINGS_AT_ONCE_MAX};
use nightdesk_types::send::WAKING;
use nightdesk_types::{BotId, Event};
use tokio::sync::Semaphore;

use crate::Desk;

/// Who was told lately, and how many are being told.
#[derive(Debug)]
pub struct Waking {
    told: Paces<(BotId, String)>,
    at_once: Arc<Semaphore>,
}

impl Default for Waking {
    fn default() -> Self {
        let at_once = Arc::new(Semaphore::new(WAKINGS_AT_ONCE_MAX));
        Self { told: Paces::default(), at_once }
    }
}

/// Has the sender told, while the caller goes on.
pub fn tell(desk: &Desk, event: &Admitted<Event>) {
    let Waking { told, at_once } = &desk.waking;
    let chat = event.verified().get().source().chat_id.clone();
    // When too many are being told, this one is not; the next event tries again.
    let Ok(permit) = Arc::clone(at_once).try_acquire_owned() else { return };
    if !told.once_in(&(event.verified().bot(), chat), WAKING_EVERY) {
        return;
    }
    let egress = Arc::clone(&desk.egress);
    let fleeting = Fleeting::to_sender_of(event, WAKING);
    desk.tasks.spawn(async move {
        // Best effort: whoever is not told only waits a little less informed.
        drop(egress.show(&fleeting).await);
        drop(permit);
    });
}
