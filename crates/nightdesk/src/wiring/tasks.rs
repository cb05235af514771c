//! Starts the periodic tasks of a node.

use std::sync::Arc;

use nightdesk_desk::{Desk, Limits, sweep};
use nightdesk_lease::Owners;
use nightdesk_line::LineContext;
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::{CAPABILITY_PURGE_EVERY, NODES_COUNTED_EVERY, UPKEEP_EVERY};
use tokio_util::sync::CancellationToken;

use super::NodeBase;
use crate::anchor::AnchorTask;
use crate::config::Config;
use crate::failures;

/// Starts the tasks. They end when their part of the node stops.
pub(super) fn spawn(config: &Config, base: &NodeBase, desk: &Desk, room: &Arc<LineContext>) {
    let NodeBase { pg, life, .. } = base;
    let pg = || Arc::<Pg>::clone(pg);
    let (sweeps, listening) = (|| Arc::clone(&desk.sweeps), Arc::clone(&desk.listening));
    let limits = Arc::clone(&desk.stops.limits);
    life.street.spawn(count_nodes(limits, pg(), life.drain.clone()));
    life.street.spawn(sweeps().run(pg(), life.drain.clone()));
    life.ears.spawn(listening.run(life.ears.clone(), life.hang_up.clone()));
    life.rooms.spawn(sweeps().serve(life.leave.clone()));
    life.street.spawn(failures::record_failures(Arc::clone(room), pg(), life.drain.clone()));
    life.street.spawn(forget_chats(pg(), life.drain.clone()));
    anchor(config, base);
    life.street.spawn(forget_ended(pg(), life.drain.clone()));
}

/// Updates the number of live nodes, which share the rate limits.
async fn count_nodes(limits: Arc<Limits>, pg: Arc<Pg>, drain: CancellationToken) {
    let round = || async {
        limits.shared_by(nightdesk_lease::Store::count_living(&*pg).await?);
        Ok(())
    };
    sweep::every(NODES_COUNTED_EVERY, "count nodes", &drain, round).await;
}

/// Deletes old chats of web chat pages periodically.
async fn forget_chats(chats: Arc<dyn nightdesk_webchat::store::Store>, drain: CancellationToken) {
    let round = || async { chats.delete_old().await.map(drop) };
    sweep::every(UPKEEP_EVERY, "delete old chats", &drain, round).await;
}

/// Deletes expired capabilities and replaced secrets periodically.
async fn forget_ended(keys: Arc<dyn nightdesk_vault::Store>, drain: CancellationToken) {
    let round = || async { keys.forget_ended().await.map(drop) };
    sweep::every(CAPABILITY_PURGE_EVERY, "delete expired keys and secrets", &drain, round).await;
}

/// Starts the anchoring of the audit log, if an anchor file is configured.
fn anchor(config: &Config, base: &NodeBase) {
    let Some(file) = config.audit.anchor_file.clone() else { return };
    let NodeBase { pg, lease, life, .. } = base;
    let owners = Owners::new(Arc::clone(lease), Arc::<Pg>::clone(pg));
    let anchoring = AnchorTask { store: Arc::<Pg>::clone(pg), owners, file };
    life.street.spawn(anchoring.run(life.drain.clone()));
}
