//! Periodic sweeps that take no input and find missed work.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_bus::{Bell, Ears, Marked, Ring};
use nightdesk_inbox::Upkeep;
use nightdesk_types::limits::{
    CLOCKS_COMPARED_EVERY, DOUBT_GATHERED_FOR, MEDIA_SWEPT_EVERY, REACH_LOOK_EVERY,
    REFUSAL_FLUSH_EVERY, REVOCATION_SWEEP_EVERY, REVOKED_SEEN_WITHIN, SEND_SWEEP_EVERY,
    SWEEP_EVERY, SWEEP_LINES_MAX, UPKEEP_EVERY, WAKE_SWEEP_EVERY,
};
use nightdesk_types::{AgentId, StoreError, TenantScope};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{Desk, timekeeping, waking};

/// Runs every sweep until this node stops.
pub async fn run(
    desk: Arc<Desk>,
    ears: Arc<Ears>,
    upkeep: Arc<dyn Upkeep>,
    drain: CancellationToken,
) {
    let drain = &drain;
    tokio::join!(
        every(UPKEEP_EVERY, "maintain the tables", drain, || keep(&*upkeep)),
        every(CLOCKS_COMPARED_EVERY, "compare clocks", drain, || clocks(&desk)),
        every(REACH_LOOK_EVERY, "refresh the reach of agents", drain, || desk.gate.look_at_all()),
        every(REFUSAL_FLUSH_EVERY, "store refusals", drain, || refusals(&desk)),
        every(MEDIA_SWEPT_EVERY, "remove old files", drain, || files(&desk)),
        every(WAKE_SWEEP_EVERY, "call agents", drain, || waking::sweep(&desk)),
        every(WAKE_SWEEP_EVERY, "close lines of dead nodes", drain, || waking::bury(&desk)),
        timekeeping::run(&desk, drain),
        lines(&desk, &ears, drain),
        doubts(&desk, &ears, drain),
    );
}

/// Makes the sends that wait for the bots of this node, and closes lines whose gateways were revoked. It continues
/// while lines leave, until this node is about to release its bots.
pub async fn serve(desk: Arc<Desk>, ears: Arc<Ears>, until: CancellationToken) {
    let until = &until;
    tokio::join!(
        every(SEND_SWEEP_EVERY, "find waiting sends", until, || sends(&desk)),
        every(REVOCATION_SWEEP_EVERY, "find revoked gateways", until, || revoked(&desk, &ears)),
        asked(&desk, &ears, until),
    );
}

async fn asked(desk: &Desk, ears: &Ears, until: &CancellationToken) {
    while until.run_until_cancelled(ears.asked().taken()).await.is_some() {
        told("serve other nodes", desk.egress.serve().await.map(drop));
    }
}

/// Repeats a round until this node stops. A failure is logged, and the next round retries.
pub async fn every<F: Future<Output = Result<(), StoreError>>>(
    span: Duration,
    what: &'static str,
    drain: &CancellationToken,
    mut round: impl FnMut() -> F,
) {
    while !drain.is_cancelled() {
        told(what, round().await);
        drain.run_until_cancelled(sleep(span)).await;
    }
}

fn told(what: &'static str, done: Result<(), StoreError>) {
    if let Err(error) = done {
        tracing::warn!(error = &error as &dyn Error, "a sweep could not {what}");
    }
}

async fn keep(upkeep: &dyn Upkeep) -> Result<(), StoreError> {
    let swept = upkeep.keep().await?;
    if swept.expired > 0 {
        tracing::warn!(
            entries = swept.expired,
            "parked {} entries that were not taken in time",
            swept.expired
        );
    }
    Ok(())
}

/// Closes the lines of gateways that were revoked on any node.
async fn revoked(desk: &Desk, ears: &Ears) -> Result<(), StoreError> {
    let revoked = desk.register.store().revoked_within(REVOKED_SEEN_WITHIN).await?;
    if revoked.is_empty() {
        return Ok(());
    }
    let here = ears.gateways();
    for (_, gateway) in revoked.into_iter().filter(|(_, gateway)| here.contains(gateway)) {
        ears.ring(Ring::Revoked { gateway }).await;
    }
    Ok(())
}

async fn files(desk: &Desk) -> Result<(), StoreError> {
    desk.media.sweep().await.map(drop)
}

async fn clocks(desk: &Desk) -> Result<(), StoreError> {
    desk.readiness.look(desk.register.store().time()).await
}

async fn sends(desk: &Desk) -> Result<(), StoreError> {
    desk.egress.sweep().await.map(drop)
}

async fn refusals(desk: &Desk) -> Result<(), StoreError> {
    let (notes, uncounted) = desk.refusals.take();
    if uncounted > 0 {
        tracing::warn!(refusals = uncounted, "{uncounted} refusals were counted but not stored");
    }
    if notes.is_empty() {
        return Ok(());
    }
    desk.gate.note_refusals(&notes).await
}

/// Checks every inbox whose line is on this node, one share at a time and in a fixed order, so that a lost ring costs
/// at most one round.
async fn lines(desk: &Desk, ears: &Ears, drain: &CancellationToken) {
    let mut last = None;
    while !drain.is_cancelled() {
        let began = Instant::now();
        let shares = ears.count().div_ceil(SWEEP_LINES_MAX).max(1);
        let mut share = ears.agents_after(last, SWEEP_LINES_MAX);
        if share.is_empty() {
            share = ears.agents_after(None, SWEEP_LINES_MAX);
        }
        told("check inboxes", look(desk, ears, &share).await);
        last = share.last().map(|(_, agent)| *agent);
        let span = SWEEP_EVERY / u32::try_from(shares).unwrap_or(u32::MAX);
        drain.run_until_cancelled(sleep(span.saturating_sub(began.elapsed()))).await;
    }
}

/// Checks inboxes whose lines may have missed the bell: at once, but all of them at most as often as
/// [`nightdesk_bus::Doubt::rest`] allows, however often the bell breaks.
async fn doubts(desk: &Desk, ears: &Ears, drain: &CancellationToken) {
    while let Some(doubted) = drain.run_until_cancelled(ears.doubt().taken()).await {
        let began = Instant::now();
        let (looked, rest) = match doubted {
            Marked::All => (look_at_all(desk, ears).await, ears.doubt().rest()),
            Marked::These(agents) => {
                (look_at(desk, ears, &ears.of_these(agents)).await, DOUBT_GATHERED_FOR)
            }
        };
        told("check inboxes that may have missed a ring", looked);
        drain.run_until_cancelled(sleep(rest.saturating_sub(began.elapsed()))).await;
    }
}

async fn look_at_all(desk: &Desk, ears: &Ears) -> Result<(), StoreError> {
    look_at(desk, ears, &ears.agents_after(None, usize::MAX)).await
}

async fn look_at(
    desk: &Desk,
    ears: &Ears,
    agents: &[(TenantScope, AgentId)],
) -> Result<(), StoreError> {
    for share in agents.chunks(SWEEP_LINES_MAX) {
        look(desk, ears, share).await?;
    }
    Ok(())
}

async fn look(
    desk: &Desk,
    ears: &Ears,
    share: &[(TenantScope, AgentId)],
) -> Result<(), StoreError> {
    if share.is_empty() {
        return Ok(());
    }
    let heads = desk.inbox.store().heads(share).await?;
    for ((_, agent), seq) in share.iter().zip(heads) {
        ears.ring(Ring::Entry { agent: *agent, seq }).await;
    }
    Ok(())
}
