//! Defines the promises of the ports as checks.
//!
//! A backend provides a [`Harness`] over one fresh, empty store, and runs the suites by their macros, one test per
//! check:
//!
//! ```text
//! nightdesk_conformance::inbox_store_conformance!(postgres().await);
//! ```
//!
//! Checks that need days are in [`time`], for backends that can advance time.
//!
//! [`connector`] checks any connector of letters, and [`shelf_contract`] any store of skills or data.
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
use nightdesk_inbox::{EntrySummary, ParkReason, ParkRecord};
use nightdesk_types::{AgentId, BotId, Seq, TenantScope, Timestamp};

mod cast;
mod macros;
mod office_macros;
mod rotation;
pub mod connector;
pub mod shelf_contract;
pub mod inbox;
pub mod lines;
pub mod wake;
pub mod schedule;
pub mod shelf;
pub mod letters;
pub mod gate;
pub mod register;
pub mod egress;
pub mod lease;
pub mod webchat;
pub mod users;
pub mod office;
pub mod alerts;
pub mod media;
pub mod upkeep;
pub mod time;

/// One fresh, empty store behind every port.
#[async_trait]
pub trait Harness: Send + Sync {
    /// Returns the store of the gate.
    fn gate(&self) -> Arc<dyn nightdesk_gate::Store>;

    /// Returns the store of the inbox.
    fn inbox(&self) -> Arc<dyn nightdesk_inbox::Store>;

    /// Returns the operator's access to the inbox.
    fn aside(&self) -> Arc<dyn nightdesk_inbox::InboxAdmin>;

    /// Returns the upkeep of the inbox.
    fn upkeep(&self) -> Arc<dyn nightdesk_inbox::InboxSweeper>;

    /// Returns the store of lines.
    fn lines(&self) -> Arc<dyn nightdesk_line::Store>;

    /// Returns the store of sends.
    fn egress(&self) -> Arc<dyn nightdesk_egress::Store>;

    /// Returns the store of leases.
    fn lease(&self) -> Arc<dyn nightdesk_lease::Store>;

    /// Returns the store of the register.
    fn register(&self) -> Arc<dyn nightdesk_register::Store>;

    /// Returns the store of wakes.
    fn wake(&self) -> Arc<dyn nightdesk_wake::Store>;

    /// Returns the operator's access to wakes.
    fn wakers(&self) -> Arc<dyn nightdesk_wake::WakeAdmin>;

    /// Returns the store of the scheduler.
    fn schedule(&self) -> Arc<dyn nightdesk_schedule::Store>;

    /// Returns the operator's access to the scheduler.
    fn jobs(&self) -> Arc<dyn nightdesk_schedule::JobAdmin>;

    /// Returns the store of a tenant's skills.
    fn skills(&self) -> Arc<dyn nightdesk_shelf::Skills>;

    /// Returns the store of a tenant's data.
    fn records(&self) -> Arc<dyn nightdesk_shelf::Records>;

    /// Returns the store of letters.
    fn letters(&self) -> Arc<dyn nightdesk_letters::Store>;

    /// Returns the store of files by reference.
    fn media(&self) -> Arc<dyn nightdesk_media::Store>;

    /// Returns the store of users.
    fn users(&self) -> Arc<dyn nightdesk_users::UserStore>;

    /// Returns the store of alerts.
    fn alerts(&self) -> Arc<dyn nightdesk_alerts::AlertStore>;

    /// Returns the view of their owners on alerts and ways.
    fn alert_ways(&self) -> Arc<dyn nightdesk_alerts::AlertAdmin>;

    /// Returns the records that the pages of operators and tenants read.
    fn office(&self) -> Arc<dyn nightdesk_office::OfficeReads>;

    /// Returns the store of our own pages.
    fn webchat(&self) -> Arc<dyn nightdesk_webchat::store::Store>;

    /// Returns the parked entries of an agent's inbox, by number.
    async fn parked(&self, scope: TenantScope, agent: AgentId) -> Vec<(Seq, ParkReason)> {
        let overview = self.aside().overview(scope, agent, Seq::default()).await;
        let parked = overview.expect("look into an inbox").map(|overview| overview.parked);
        let short = |(listed, parked): (EntrySummary, ParkRecord)| (listed.seq, parked.reason);
        parked.into_iter().flatten().map(short).collect()
    }

    /// Returns the event keys of a tenant's stored refusals, oldest first. No port shows them yet.
    async fn refusals(&self, scope: TenantScope) -> Vec<String>;

    /// Returns the number of stored unreadable events of a bot. No port shows it yet.
    async fn quarantined(&self, operator: TenantScope, bot: BotId) -> usize;
}

/// A store for which time can pass.
///
/// A store whose clock cannot be moved ages its rows instead: every stored time moves back by as much.
#[async_trait]
pub trait TimedHarness: Harness {
    /// Returns the store's current time.
    fn now(&self) -> Timestamp;

    /// Advances the time.
    async fn let_pass(&self, span: Duration);
}

#[cfg(test)]
mod tests;
