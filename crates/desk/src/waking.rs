//! Calls agents without a line, and notifies people.
//!
//! The store reports whether an agent had a line when an entry was stored for it. If it had none, this node calls it at
//! once and shows "waking…" to its people. If a crash or a full limit prevents this, the sweep does it later: the wake
//! is a row.

use std::error::Error;
use std::sync::Arc;

use nightdesk_egress::{Fleeting, Paces};
use nightdesk_gate::Admitted;
use nightdesk_inbox::{LineClaim, Presence, Stored};
use nightdesk_types::limits::{
    WAKE_BATCHES_MAX, WAKE_TRIED_EVERY, WAKING_EVERY, WAKINGS_AT_ONCE_MAX,
};
use nightdesk_types::send::{HELD, WAKING};
use nightdesk_types::{AgentId, BotId, Event, StoreError, TenantScope};
use nightdesk_wake::{Claimed, Room, Step};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{Desk, notices};

mod showing;

pub(crate) use showing::lasts;

/// The recent notices, and the limits on notices at the same time.
#[derive(Debug)]
pub struct Waking {
    told: Paces<(BotId, String)>,
    tried: Paces<AgentId>,
    at_once: Arc<Semaphore>,
    showing: showing::Showing,
}

impl Default for Waking {
    fn default() -> Self {
        let at_once = Arc::new(Semaphore::new(WAKINGS_AT_ONCE_MAX));
        let showing = showing::Showing::default();
        Self { told: Paces::default(), tried: Paces::default(), at_once, showing }
    }
}

impl Waking {
    /// Returns a permit to show a status in a chat, if the chat got none recently.
    pub(crate) fn room(&self, bot: BotId, chat_id: &str) -> Option<OwnedSemaphorePermit> {
        // If too many notices are in progress, this one is skipped; the next event tries again.
        let room = Arc::clone(&self.at_once).try_acquire_owned().ok()?;
        self.told.once_in(&(bot, chat_id.to_owned()), WAKING_EVERY).then_some(room)
    }
}

/// Calls the recipients without a line and shows the sender a status, in the background.
pub fn wake(desk: &Arc<Desk>, event: &Admitted<Event>, stored: &[Stored]) {
    if stored.is_empty() {
        return;
    }
    let of = |presence| stored.iter().filter(move |stored| stored.presence == presence);
    for Stored { scope, agent, .. } in of(Presence::Asleep).copied() {
        call(desk, scope, agent);
    }
    // If at least one recipient has a line, the sender gets a reply as usual.
    if of(Presence::Awake).next().is_none() {
        tell(desk, event, of(Presence::Asleep).next().copied());
    }
}

/// Calls an agent in the background if its wake is due.
pub(crate) fn call(desk: &Arc<Desk>, scope: TenantScope, agent: AgentId) {
    if !desk.waking.tried.once_in(&agent, WAKE_TRIED_EVERY) {
        return;
    }
    let desk = Arc::clone(desk);
    let tasks = desk.tasks.clone();
    tasks.spawn(async move {
        match desk.wake.claim_of(scope, agent).await {
            Ok(Some((claimed, room))) => see_to(&desk, &claimed, room).await,
            Ok(None) => {}
            Err(error) => lost(agent, &error),
        }
    });
}

/// Shows the sender that an agent is called, or that none is, if the limit allows it. Nothing depends on it.
fn tell(desk: &Arc<Desk>, event: &Admitted<Event>, called: Option<Stored>) {
    let (bot, chat) = (event.verified().bot(), event.verified().get().source().chat_id.clone());
    let Some(room) = desk.waking.room(bot, &chat) else { return };
    let fleeting = Fleeting::to_sender_of(event, if called.is_some() { WAKING } else { HELD });
    let (tasks, desk) = (desk.tasks.clone(), Arc::clone(desk));
    tasks.spawn(async move {
        let lasts = lasts(&desk, bot).await;
        // An agent that is not called is not working, so a platform that shows no text shows nothing.
        if lasts.is_some() && called.is_none() {
            return;
        }
        // Best effort: without the status, people only wait with less information.
        drop(desk.egress.show(&fleeting).await);
        drop(room);
        if let Some((lasts, called)) = lasts.zip(called) {
            showing::until_up(&desk, bot, &chat, &fleeting, called, lasts).await;
        }
    });
}

/// Claims due wakes of all origins and handles them.
pub async fn sweep(desk: &Arc<Desk>) -> Result<(), StoreError> {
    for _ in 0..WAKE_BATCHES_MAX {
        let claimed = desk.wake.claim_due().await?;
        if claimed.is_empty() {
            break;
        }
        for (claimed, room) in claimed {
            let desk = Arc::clone(desk);
            let tasks = desk.tasks.clone();
            tasks.spawn(async move { see_to(&desk, &claimed, room).await });
        }
    }
    Ok(())
}

/// Closes the lines of dead nodes.
pub async fn bury(desk: &Desk) -> Result<(), StoreError> {
    for _ in 0..WAKE_BATCHES_MAX {
        let buried = desk.wake.bury().await?;
        if buried == 0 {
            break;
        }
        tracing::warn!(lines = buried, "closed {buried} lines of nodes that died");
    }
    Ok(())
}

/// Calls an agent although it has a line, because the line does not answer.
pub(crate) async fn suspect(desk: &Desk, line: &LineClaim) -> Result<(), StoreError> {
    let LineClaim { scope, agent, generation } = *line;
    desk.wake.suspect(scope, agent, generation).await?;
    tracing::info!(agent.id = %agent, "calling agent {agent}: its line does not respond");
    Ok(())
}

/// Executes the step of a claimed wake.
async fn see_to(desk: &Desk, claimed: &Claimed, room: Room) {
    let done = match claimed.step {
        Step::Call => {
            // The status is shown while the call is made.
            let (called, ()) =
                tokio::join!(desk.wake.call(claimed, &room), notices::show(desk, claimed, WAKING));
            called.map(drop)
        }
        Step::Held => {
            notices::show(desk, claimed, HELD).await;
            Ok(())
        }
        Step::GaveUp => notices::gave_up(desk, claimed).await,
    };
    if let Err(error) = done {
        lost(claimed.agent, &error);
    }
    drop(room);
}

/// Logs a failure. The wake stays due.
fn lost(agent: AgentId, error: &StoreError) {
    tracing::warn!(
        agent.id = %agent,
        error = error as &dyn Error,
        "the wake of agent {agent} failed and stays due"
    );
}
