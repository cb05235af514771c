//! Calls agents without a line, and notifies people.
//!
//! The store reports whether an agent had a line when an entry was stored for it. If it had none, this node calls it at
//! once and shows "waking…" to its people. If a crash or a full limit prevents this, the sweep does it later: the wake
//! is a row.

use std::error::Error;
use std::sync::Arc;

use nightdesk_egress::{Egress, FleetingAction, RateLimits};
use nightdesk_gate::AdmittedEvent;
use nightdesk_inbox::{AgentPresence, LineClaim, StoredEntry};
use nightdesk_types::limits::{WAKE_BATCHES_MAX, WAKE_TRIED_EVERY};
use nightdesk_types::send::{HELD, WAKING};
use nightdesk_types::{AgentId, StoreError, TenantScope};
use nightdesk_wake::{CallOutcome, CallPermit, DelayNotice, WakeClaim, WakeStep, Waker};
use tokio_util::task::TaskTracker;

use crate::notices::Notices;
use crate::{Records, Stops};

mod status_displays;

/// Wakes agents.
#[derive(Debug)]
pub struct Waking {
    wake: Arc<Waker>,
    egress: Arc<Egress>,
    records: Arc<dyn Records>,
    notices: Notices,
    tasks: TaskTracker,
    tried: RateLimits<AgentId>,
    showing: status_displays::StatusDisplays,
}

impl Waking {
    pub(crate) fn new(stops: &Stops) -> Self {
        let (notices, showing) = (Notices::new(stops), status_displays::StatusDisplays::default());
        let Stops { wake, egress, records, tasks, .. } = stops.clone();
        Self { wake, egress, records, notices, tasks, tried: RateLimits::default(), showing }
    }

    /// Calls the recipients without a line and shows the sender a status, in the background.
    pub(crate) fn wake(self: &Arc<Self>, event: &AdmittedEvent, stored: &[StoredEntry]) {
        if stored.is_empty() {
            return;
        }
        let of = |presence| stored.iter().filter(move |stored| stored.presence == presence);
        for StoredEntry { scope, agent, .. } in of(AgentPresence::Asleep).copied() {
            self.call(scope, agent);
        }
        // If at least one recipient has a line, the sender gets a reply as usual.
        if of(AgentPresence::Awake).next().is_none() {
            self.show_status(event, of(AgentPresence::Asleep).next().copied());
        }
    }

    /// Notifies the author of an entry that was parked for the author's rate, in the background.
    pub(crate) fn notify_parked(self: &Arc<Self>, event: &AdmittedEvent, entry: &StoredEntry) {
        let Some(notice) = self.notices.parked_notice(event, entry) else { return };
        let (waking, agent) = (Arc::clone(self), entry.agent);
        self.tasks.spawn(async move {
            if let Err(error) = waking.notices.notify_parked(notice).await {
                tracing::warn!(
                    agent.id = %agent,
                    error = &error as &dyn Error,
                    "could not notify an author of agent {agent} that messages are parked"
                );
            }
        });
    }

    /// Calls an agent in the background if its wake is due.
    pub(crate) fn call(self: &Arc<Self>, scope: TenantScope, agent: AgentId) {
        if !self.tried.take_once_per(&agent, WAKE_TRIED_EVERY) {
            return;
        }
        let waking = Arc::clone(self);
        self.tasks.spawn(async move {
            if let Err(error) = waking.call_if_due(scope, agent).await {
                log_failed_wake(agent, &error);
            }
        });
    }

    /// Calls an agent if its wake is due, and returns the outcome. `None`: no call was made.
    pub async fn call_if_due(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<CallOutcome>, StoreError> {
        match self.wake.claim_agent(scope, agent).await? {
            Some((claimed, room)) => self.take_step(&claimed, room).await,
            None => Ok(None),
        }
    }

    /// Shows the sender that an agent is called, or that none is, if the limit allows it. Nothing depends on it.
    fn show_status(self: &Arc<Self>, event: &AdmittedEvent, called: Option<StoredEntry>) {
        let (bot, chat) = (event.verified().bot(), event.verified().get().source().chat_id.clone());
        let Some(permit) = self.notices.permit(bot, &chat) else { return };
        let fleeting =
            FleetingAction::desk_status(event, if called.is_some() { WAKING } else { HELD });
        let waking = Arc::clone(self);
        self.tasks.spawn(async move {
            let lasts = waking.notices.status_duration(bot).await;
            // An agent that is not called is not working, so a platform that shows no text shows nothing.
            if lasts.is_some() && called.is_none() {
                return;
            }
            // Best effort: without the status, people only wait with less information.
            drop(waking.egress.show(&fleeting).await);
            drop(permit);
            if let Some((lasts, called)) = lasts.zip(called)
                && let Some(_display) = waking.showing.begin(bot, &chat)
            {
                waking.show_until_up(&fleeting, called, lasts).await;
            }
        });
    }

    /// Claims due wakes of all origins and handles them.
    pub async fn sweep(self: &Arc<Self>) -> Result<(), StoreError> {
        for _ in 0..WAKE_BATCHES_MAX {
            let claimed = self.wake.claim_due().await?;
            if claimed.is_empty() {
                break;
            }
            for (claimed, room) in claimed {
                let waking = Arc::clone(self);
                self.tasks.spawn(async move {
                    if let Err(error) = waking.take_step(&claimed, room).await {
                        log_failed_wake(claimed.agent, &error);
                    }
                });
            }
        }
        Ok(())
    }

    /// Closes the lines of dead nodes.
    pub(crate) async fn close_dead_lines(&self) -> Result<(), StoreError> {
        for _ in 0..WAKE_BATCHES_MAX {
            let buried = self.wake.close_dead_lines().await?;
            if buried == 0 {
                break;
            }
            tracing::warn!(lines = buried, "closed {buried} lines of nodes that died");
        }
        Ok(())
    }

    /// Calls an agent although it has a line, because the line does not answer.
    pub(crate) async fn suspect(&self, line: &LineClaim) -> Result<(), StoreError> {
        let LineClaim { scope, agent, incarnation: _, generation } = *line;
        self.wake.suspect(scope, agent, generation).await?;
        tracing::info!(agent.id = %agent, "calling agent {agent}: its line does not respond");
        Ok(())
    }

    /// Executes the step of a claimed wake. Returns the outcome if the step is a call.
    async fn take_step(
        &self,
        claimed: &WakeClaim,
        room: CallPermit,
    ) -> Result<Option<CallOutcome>, StoreError> {
        let outcome = match claimed.step {
            WakeStep::Call => {
                // The status is shown while the call is made.
                let shown = self.notices.show(claimed, WAKING);
                let (called, told, ()) =
                    tokio::join!(self.wake.call(claimed, &room), self.tell_delay(claimed), shown);
                let called = called?;
                told?;
                Some(called)
            }
            WakeStep::Delayed => {
                self.tell_delay(claimed).await?;
                None
            }
            WakeStep::Held => {
                self.notices.show(claimed, HELD).await;
                self.tell_delay(claimed).await?;
                None
            }
            WakeStep::GaveUp => {
                self.give_up(claimed).await?;
                None
            }
        };
        drop(room);
        Ok(outcome)
    }

    /// Tells the author of the oldest entry that the agent still does not come, if that is due. If this node dies
    /// before it is recorded, the next claim repeats it, and the platform gets the message once.
    async fn tell_delay(&self, claimed: &WakeClaim) -> Result<(), StoreError> {
        let DelayNotice::Due(place) = &claimed.delay else { return Ok(()) };
        self.notices.notify_delayed(claimed, place).await?;
        self.wake.record_delay_told(claimed).await
    }

    async fn give_up(&self, claimed: &WakeClaim) -> Result<(), StoreError> {
        self.notices.notify_given_up(claimed).await?;
        let WakeClaim { agent, calls, .. } = claimed;
        tracing::warn!(agent.id = %agent, "gave up agent {agent} after {calls} calls");
        self.wake.record_notified(claimed).await
    }
}

/// Logs a failure. The wake stays due.
fn log_failed_wake(agent: AgentId, error: &StoreError) {
    tracing::warn!(
        agent.id = %agent,
        error = error as &dyn Error,
        "the wake of agent {agent} failed and stays due"
    );
}
