//! Conformance: what the promises of the ports mean.
//!
//! A backend gives a [`Harness`] over one fresh, empty store, and runs the suites by their
//! macros, one test per check:
//!
//! ```text
//! nightdesk_testkit::inbox_store_conformance!(postgres().await);
//! ```
//!
//! What only shows after days is in [`time`], for backends that can let time pass.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a check that finds something stops, and so does one that cannot set up"
)]
#![expect(
    clippy::cognitive_complexity,
    reason = "it takes every await and assertion for a branch; a check is one straight story"
)]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::{Listed, ParkReason, Parked};
use nightdesk_types::{AgentId, BotId, Seq, TenantScope, Timestamp};

mod cast;
mod macros;
mod rotation;
pub mod inbox;
pub mod lines;
pub mod wake;
pub mod schedule;
pub mod shelf;
pub mod courier;
pub mod gate;
pub mod register;
pub mod egress;
pub mod lease;
pub mod webchat;
pub mod media;
pub mod upkeep;
pub mod time;

/// One fresh, empty store behind every port.
#[async_trait]
pub trait Harness: Send + Sync {
    /// What the gate asks.
    fn gate(&self) -> Arc<dyn nightdesk_gate::Store>;

    /// What the inbox asks.
    fn inbox(&self) -> Arc<dyn nightdesk_inbox::Store>;

    /// What an operator asks of the inbox.
    fn aside(&self) -> Arc<dyn nightdesk_inbox::Aside>;

    /// What keeps the inbox in shape.
    fn upkeep(&self) -> Arc<dyn nightdesk_inbox::Upkeep>;

    /// What a line asks.
    fn lines(&self) -> Arc<dyn nightdesk_line::Store>;

    /// What the way out asks.
    fn egress(&self) -> Arc<dyn nightdesk_egress::Store>;

    /// What leases ask.
    fn lease(&self) -> Arc<dyn nightdesk_lease::Store>;

    /// What the register asks.
    fn register(&self) -> Arc<dyn nightdesk_register::Store>;

    /// What waking asks.
    fn wake(&self) -> Arc<dyn nightdesk_wake::Store>;

    /// What an operator asks of waking.
    fn wakers(&self) -> Arc<dyn nightdesk_wake::Wakers>;

    /// What scheduling asks.
    fn schedule(&self) -> Arc<dyn nightdesk_schedule::Store>;

    /// What an operator asks of scheduling.
    fn jobs(&self) -> Arc<dyn nightdesk_schedule::Jobs>;

    /// What a tenant's skills ask.
    fn skills(&self) -> Arc<dyn nightdesk_shelf::Skills>;

    /// What a tenant's data asks.
    fn records(&self) -> Arc<dyn nightdesk_shelf::Records>;

    /// What the courier asks.
    fn courier(&self) -> Arc<dyn nightdesk_courier::Store>;

    /// What files by reference ask.
    fn media(&self) -> Arc<dyn nightdesk_media::Store>;

    /// What our own pages ask.
    fn webchat(&self) -> Arc<dyn nightdesk_webchat::store::Store>;

    /// What is parked in an agent's inbox, by number.
    async fn parked(&self, scope: TenantScope, agent: AgentId) -> Vec<(Seq, ParkReason)> {
        let overview = self.aside().overview(scope, agent, Seq::default()).await;
        let parked = overview.expect("look into an inbox").map(|overview| overview.parked);
        let short = |(listed, parked): (Listed, Parked)| (listed.seq, parked.reason);
        parked.into_iter().flatten().map(short).collect()
    }

    /// The event keys of the refusals kept for a tenant, oldest first. No port shows it yet.
    async fn refusals(&self, scope: TenantScope) -> Vec<String>;

    /// How many unreadable events of a bot are kept. No port shows it yet.
    async fn quarantined(&self, operator: TenantScope, bot: BotId) -> usize;
}

/// A store for which time can pass.
///
/// One whose clock cannot be moved ages its rows instead: every moment it has written down
/// moves back by as much.
#[async_trait]
pub trait TimedHarness: Harness {
    /// What time it is there.
    fn now(&self) -> Timestamp;

    /// Lets time pass.
    async fn let_pass(&self, span: Duration);
}

#[cfg(test)]
mod tests;
