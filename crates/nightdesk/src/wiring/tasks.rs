//! Starts the periodic tasks of a node.

use std::error::Error;
use std::sync::Arc;

use nightdesk_bus::LineRegistry;
use nightdesk_desk::{Desk, Inbound, Limits, StoredAgain, sweep};
use nightdesk_gate::Gate;
use nightdesk_lease::Owners;
use nightdesk_line::LineContext;
use nightdesk_office::Office;
use nightdesk_store_pg::Pg;
use nightdesk_types::StoreError;
use nightdesk_types::limits::{
    CAPABILITY_PURGE_EVERY, NODES_COUNTED_EVERY, STORE_AGAIN_FORGET_EVERY, STORE_AGAIN_PAUSE,
    UPKEEP_EVERY, USAGE_SAMPLED_EVERY,
};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::NodeBase;
use crate::anchor::AnchorTask;
use crate::config::Config;
use crate::erasures::Erasures;
use crate::failures;

/// Starts the tasks. They end when their part of the node stops.
pub(super) fn spawn(config: &Config, base: &NodeBase, desk: &Desk, room: &Arc<LineContext>) {
    let NodeBase { pg, life, .. } = base;
    let pg = || Arc::<Pg>::clone(pg);
    let (sweeps, listening) = (|| Arc::clone(&desk.sweeps), Arc::clone(&desk.listening));
    let limits = Arc::clone(&desk.stops.limits);
    life.serving.spawn(count_nodes(limits, pg(), life.drain.clone()));
    let follower = HistoryFollower {
        pg: pg(),
        lines: Arc::clone(&base.bell_tasks.lines),
        gate: Arc::clone(&desk.stops.gate),
        inbound: Arc::clone(&desk.inbound),
        erasures: base.erasures.clone(),
    };
    life.serving.spawn(follower.run(life.drain.clone()));
    life.serving.spawn(forget_old_events(Arc::clone(&desk.inbound), life.drain.clone()));
    life.serving.spawn(sweeps().run(pg(), life.drain.clone()));
    life.bot_listeners.spawn(listening.run(life.bot_listeners.clone(), life.work_done.clone()));
    life.node_work.spawn(sweeps().serve(life.lines_gone.clone()));
    life.serving.spawn(failures::record_failures(Arc::clone(room), pg(), life.drain.clone()));
    life.serving.spawn(forget_chats(pg(), life.drain.clone()));
    anchor(config, base);
    life.serving.spawn(forget_ended(pg(), life.drain.clone()));
}

/// Updates the number of live nodes, which share the rate limits.
async fn count_nodes(limits: Arc<Limits>, pg: Arc<Pg>, drain: CancellationToken) {
    let round = || async {
        limits.set_node_count(nightdesk_lease::Store::count_living(&*pg).await?);
        Ok(())
    };
    sweep::repeat_every(NODES_COUNTED_EVERY, "count nodes", &drain, round).await;
}

/// Ends the lines of an earlier history, forgets its versions, stores lost events again and erases listed tenants when the
/// database was restored or rolled back.
struct HistoryFollower {
    pg: Arc<Pg>,
    lines: Arc<LineRegistry>,
    gate: Arc<Gate>,
    inbound: Arc<Inbound>,
    erasures: Option<Arc<Erasures>>,
}

impl HistoryFollower {
    async fn run(self, drain: CancellationToken) {
        // None waits for another: a second change is followed at once, also while events are being stored again, and a list
        // of erasures that cannot be read does not cost the events of all other tenants.
        tokio::join!(self.follow(&drain), self.store_again(&drain), self.erase_again(&drain));
    }

    async fn follow(&self, drain: &CancellationToken) {
        let mut history = self.pg.watch_history();
        while let Some(Ok(())) = drain.run_until_cancelled(history.changed()).await {
            let current = *history.borrow_and_update();
            if let Some(current) = current {
                self.gate.forget_reach();
                self.lines.end_other_histories(current);
                self.inbound.recall_events(current);
            }
        }
    }

    /// Stores the events again that the database lost, as far as this node still has them.
    async fn store_again(&self, drain: &CancellationToken) {
        while drain.run_until_cancelled(self.inbound.wait_for_recalled()).await.is_some() {
            let mut counts = StoredAgain::default();
            while let Err(error) = self.inbound.store_again(&mut counts).await {
                log_retry(&error);
                if drain.run_until_cancelled(sleep(STORE_AGAIN_PAUSE)).await.is_none() {
                    return;
                }
            }
            log_stored_again(counts);
            log_dropped(counts.dropped);
        }
    }

    /// Erases the listed tenants that are back.
    async fn erase_again(&self, drain: &CancellationToken) {
        let Some(erasures) = &self.erasures else { return };
        let mut history = self.pg.watch_history();
        while let Some(Ok(())) = drain.run_until_cancelled(history.changed()).await {
            while let Err(error) = erasures.apply().await {
                log_erasure_retry(&error);
                if drain.run_until_cancelled(sleep(STORE_AGAIN_PAUSE)).await.is_none() {
                    return;
                }
            }
        }
    }
}

fn log_erasure_retry(error: &anyhow::Error) {
    tracing::error!("could not erase listed tenants in the restored database; retrying: {error:#}");
}

fn log_retry(error: &StoreError) {
    tracing::warn!(error = error as &dyn Error, "could not store recent events again; retrying");
}

fn log_stored_again(counts: StoredAgain) {
    let StoredAgain { stored, kept, refused, .. } = counts;
    if stored + kept + refused > 0 {
        tracing::warn!(
            stored,
            kept,
            refused,
            "stored {stored} events again that the database had lost; it still had {kept}, and {refused} are refused now"
        );
    }
}

fn log_dropped(dropped: usize) {
    if dropped > 0 {
        tracing::error!(
            dropped,
            "{dropped} recent events were too old or too many to be stored again; \
             the database may lack them: compare the platforms' chats with the agents' inboxes"
        );
    }
}

/// Deletes events from memory that are too old to be stored again, periodically.
async fn forget_old_events(inbound: Arc<Inbound>, drain: CancellationToken) {
    let round = || async {
        inbound.forget_old_events();
        Ok(())
    };
    sweep::repeat_every(STORE_AGAIN_FORGET_EVERY, "forget old events", &drain, round).await;
}

/// Deletes old chats of web chat pages periodically.
async fn forget_chats(chats: Arc<dyn nightdesk_webchat::store::Store>, drain: CancellationToken) {
    let round = || async { chats.delete_old().await.map(drop) };
    sweep::repeat_every(UPKEEP_EVERY, "delete old chats", &drain, round).await;
}

/// Deletes expired capabilities and replaced secrets periodically.
async fn forget_ended(keys: Arc<dyn nightdesk_vault::Store>, drain: CancellationToken) {
    let round = || async { keys.forget_ended().await.map(drop) };
    sweep::repeat_every(CAPABILITY_PURGE_EVERY, "delete expired keys and secrets", &drain, round)
        .await;
}

/// Samples the usage of tenants periodically.
pub(super) async fn sample_usage(office: Arc<Office>, drain: CancellationToken) {
    let round = || async {
        if let Err(error) = office.sample_usage().await {
            tracing::warn!(error = &error as &dyn Error, "could not sample the usage of tenants");
        }
        Ok(())
    };
    sweep::repeat_every(USAGE_SAMPLED_EVERY, "sample the usage of tenants", &drain, round).await;
}

/// Starts the anchoring of the audit log, if an anchor file is configured.
fn anchor(config: &Config, base: &NodeBase) {
    let Some(file) = config.audit.anchor_file.clone() else { return };
    let NodeBase { pg, lease, life, .. } = base;
    let owners = Owners::new(Arc::clone(lease), Arc::<Pg>::clone(pg));
    let anchoring = AnchorTask { store: Arc::<Pg>::clone(pg), owners, file };
    life.serving.spawn(anchoring.run(life.drain.clone()));
}
