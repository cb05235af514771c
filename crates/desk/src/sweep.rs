//! Periodic sweeps that take no input and find missed work.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_bus::{Bell, LineRegistry, MarkedItems, Ring};
use nightdesk_egress::Egress;
use nightdesk_gate::Gate;
use nightdesk_inbox::{Inbox, InboxSweeper};
use nightdesk_media::Media;
use nightdesk_register::Register;
use nightdesk_types::limits::{
    CLOCKS_COMPARED_EVERY, DOUBT_GATHERED_FOR, MEDIA_SWEPT_EVERY, REACH_LOOK_EVERY,
    REFUSAL_FLUSH_EVERY, REVOCATION_SWEEP_EVERY, REVOKED_SEEN_WITHIN, SEND_SWEEP_EVERY,
    SWEEP_EVERY, SWEEP_LINES_MAX, UPKEEP_EVERY, WAKE_SWEEP_EVERY,
};
use nightdesk_types::{AgentId, StoreError, TenantScope};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{Readiness, Refusals, Stops, Timekeeping, Waking};

/// The periodic sweeps of a node.
#[derive(Debug)]
pub struct Sweeps {
    register: Arc<Register>,
    gate: Arc<Gate>,
    inbox: Arc<Inbox>,
    egress: Arc<Egress>,
    media: Arc<Media>,
    lines: Arc<LineRegistry>,
    refusals: Arc<Refusals>,
    readiness: Readiness,
    waking: Arc<Waking>,
    timekeeping: Arc<Timekeeping>,
}

impl Sweeps {
    pub(crate) fn new(
        stops: &Stops,
        refusals: &Arc<Refusals>,
        waking: &Arc<Waking>,
        timekeeping: &Arc<Timekeeping>,
    ) -> Self {
        let Stops { register, gate, inbox, egress, media, lines: ears, readiness, .. } =
            stops.clone();
        let (refusals, waking) = (Arc::clone(refusals), Arc::clone(waking));
        let timekeeping = Arc::clone(timekeeping);
        Self {
            register,
            gate,
            inbox,
            egress,
            media,
            lines: ears,
            refusals,
            readiness,
            waking,
            timekeeping,
        }
    }

    /// Runs every sweep until this node stops.
    pub async fn run(self: Arc<Self>, upkeep: Arc<dyn InboxSweeper>, drain: CancellationToken) {
        let (Self { gate, waking, .. }, drain) = (&*self, &drain);
        tokio::join!(
            repeat_every(UPKEEP_EVERY, "maintain the tables", drain, || async {
                // A round may take minutes; a node that stops leaves the rest to the next one.
                let swept = drain.run_until_cancelled(sweep_inboxes(&*upkeep)).await;
                swept.unwrap_or(Ok(()))
            }),
            repeat_every(CLOCKS_COMPARED_EVERY, "compare clocks", drain, || self.compare_clocks()),
            repeat_every(REACH_LOOK_EVERY, "refresh the reach of agents", drain, || gate
                .reload_changed()),
            repeat_every(REFUSAL_FLUSH_EVERY, "store refusals", drain, || self.flush_refusals()),
            repeat_every(MEDIA_SWEPT_EVERY, "remove old files", drain, || self.sweep_files()),
            repeat_every(WAKE_SWEEP_EVERY, "call agents", drain, || waking.sweep()),
            repeat_every(WAKE_SWEEP_EVERY, "close lines of dead nodes", drain, || waking
                .close_dead_lines()),
            self.timekeeping.run(drain),
            self.sweep_lines(drain),
            self.sweep_doubted_lines(drain),
        );
    }

    /// Makes the sends that wait for the bots of this node, and closes lines whose gateways were revoked. It continues
    /// while lines leave, until this node is about to release its bots.
    pub async fn serve(self: Arc<Self>, until: CancellationToken) {
        let until = &until;
        tokio::join!(
            repeat_every(SEND_SWEEP_EVERY, "find waiting sends", until, || self.sweep_sends()),
            repeat_every(REVOCATION_SWEEP_EVERY, "find revoked gateways", until, || self
                .close_revoked()),
            self.serve_requested_bots(until),
        );
    }

    async fn serve_requested_bots(&self, until: &CancellationToken) {
        while until.run_until_cancelled(self.lines.requested_bots().wait_and_take()).await.is_some()
        {
            log_failure("serve other nodes", self.egress.serve().await.map(drop));
        }
    }

    /// Closes the lines of gateways that were revoked on any node.
    async fn close_revoked(&self) -> Result<(), StoreError> {
        let revoked = self.register.store().revoked_within(REVOKED_SEEN_WITHIN).await?;
        if revoked.is_empty() {
            return Ok(());
        }
        let here = self.lines.gateways();
        for (_, gateway) in revoked.into_iter().filter(|(_, gateway)| here.contains(gateway)) {
            self.lines.ring(Ring::Revoked { gateway }).await;
        }
        Ok(())
    }

    async fn sweep_files(&self) -> Result<(), StoreError> {
        self.media.sweep().await.map(drop)
    }

    async fn compare_clocks(&self) -> Result<(), StoreError> {
        self.readiness.compare_clocks(self.register.store().time()).await
    }

    async fn sweep_sends(&self) -> Result<(), StoreError> {
        self.egress.sweep().await.map(drop)
    }

    async fn flush_refusals(&self) -> Result<(), StoreError> {
        let (notes, uncounted) = self.refusals.take();
        if uncounted > 0 {
            tracing::warn!(
                refusals = uncounted,
                "{uncounted} refusals were counted but not stored"
            );
        }
        if notes.is_empty() {
            return Ok(());
        }
        self.gate.note_refusals(&notes).await
    }

    /// Checks every inbox whose line is on this node, one share at a time and in a fixed order, so that a lost ring
    /// costs at most one round.
    async fn sweep_lines(&self, drain: &CancellationToken) {
        let mut last = None;
        while !drain.is_cancelled() {
            let began = Instant::now();
            let shares = self.lines.count().div_ceil(SWEEP_LINES_MAX).max(1);
            let mut share = self.lines.agents_after(last, SWEEP_LINES_MAX);
            if share.is_empty() {
                share = self.lines.agents_after(None, SWEEP_LINES_MAX);
            }
            log_failure("check inboxes", self.ring_heads(&share).await);
            last = share.last().map(|(_, agent)| *agent);
            let span = SWEEP_EVERY / u32::try_from(shares).unwrap_or(u32::MAX);
            drain.run_until_cancelled(sleep(span.saturating_sub(began.elapsed()))).await;
        }
    }

    /// Checks inboxes whose lines may have missed the bell: at once, but all of them at most as often as
    /// [`nightdesk_bus::LinesInDoubt::next_pause`] allows, however often the bell breaks.
    async fn sweep_doubted_lines(&self, drain: &CancellationToken) {
        while let Some(doubted) =
            drain.run_until_cancelled(self.lines.lines_in_doubt().next_doubts()).await
        {
            let began = Instant::now();
            let (looked, rest) = match doubted {
                MarkedItems::All => {
                    (self.check_all_inboxes().await, self.lines.lines_in_doubt().next_pause())
                }
                MarkedItems::These(agents) => (
                    self.check_inboxes(&self.lines.lines_of_agents(agents)).await,
                    DOUBT_GATHERED_FOR,
                ),
            };
            log_failure("check inboxes that may have missed a ring", looked);
            drain.run_until_cancelled(sleep(rest.saturating_sub(began.elapsed()))).await;
        }
    }

    async fn check_all_inboxes(&self) -> Result<(), StoreError> {
        self.check_inboxes(&self.lines.agents_after(None, usize::MAX)).await
    }

    async fn check_inboxes(&self, agents: &[(TenantScope, AgentId)]) -> Result<(), StoreError> {
        for share in agents.chunks(SWEEP_LINES_MAX) {
            self.ring_heads(share).await?;
        }
        Ok(())
    }

    async fn ring_heads(&self, share: &[(TenantScope, AgentId)]) -> Result<(), StoreError> {
        if share.is_empty() {
            return Ok(());
        }
        let heads = self.inbox.store().read_heads(share).await?;
        for ((_, agent), seq) in share.iter().zip(heads) {
            self.lines.ring(Ring::Entry { agent: *agent, seq }).await;
        }
        Ok(())
    }
}

/// Repeats a round until this node stops. A failure is logged, and the next round retries.
pub async fn repeat_every<F: Future<Output = Result<(), StoreError>>>(
    span: Duration,
    what: &'static str,
    drain: &CancellationToken,
    mut round: impl FnMut() -> F,
) {
    while !drain.is_cancelled() {
        log_failure(what, round().await);
        drain.run_until_cancelled(sleep(span)).await;
    }
}

fn log_failure(what: &'static str, done: Result<(), StoreError>) {
    if let Err(error) = done {
        tracing::warn!(error = &error as &dyn Error, "a sweep could not {what}");
    }
}

async fn sweep_inboxes(upkeep: &dyn InboxSweeper) -> Result<(), StoreError> {
    let swept = upkeep.sweep().await?;
    if swept.expired > 0 {
        tracing::warn!(
            entries = swept.expired,
            "parked {} entries that were not taken in time",
            swept.expired
        );
    }
    Ok(())
}
