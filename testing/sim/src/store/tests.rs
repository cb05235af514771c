//! Runs every suite on the simulated store: without latency, and over slow connections.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_conformance::{Harness, TimedHarness};
use nightdesk_memory::Memory;
use nightdesk_testkit::FakeClock;
use nightdesk_types::{BotId, Clock, TenantScope, Timestamp};

use super::{Climate, SimStore, Weather};
use crate::chance::Chance;

fn store(climate: Climate) -> SimStore {
    let memory = Memory::new(FakeClock::default());
    SimStore::reached_from("node-1", &memory, &Weather::of(Chance::of(1), climate))
}

#[async_trait]
impl Harness for SimStore {
    fn gate(&self) -> Arc<dyn nightdesk_gate::Store> {
        Arc::new(self.clone())
    }

    fn inbox(&self) -> Arc<dyn nightdesk_inbox::Store> {
        Arc::new(self.clone())
    }

    fn aside(&self) -> Arc<dyn nightdesk_inbox::InboxAdmin> {
        Arc::new(self.clone())
    }

    fn upkeep(&self) -> Arc<dyn nightdesk_inbox::InboxSweeper> {
        Arc::new(self.clone())
    }

    fn lines(&self) -> Arc<dyn nightdesk_line::Store> {
        Arc::new(self.clone())
    }

    fn egress(&self) -> Arc<dyn nightdesk_egress::Store> {
        Arc::new(self.clone())
    }

    fn lease(&self) -> Arc<dyn nightdesk_lease::Store> {
        Arc::new(self.clone())
    }

    fn register(&self) -> Arc<dyn nightdesk_register::Store> {
        Arc::new(self.clone())
    }

    fn wake(&self) -> Arc<dyn nightdesk_wake::Store> {
        Arc::new(self.clone())
    }

    fn wakers(&self) -> Arc<dyn nightdesk_wake::WakeAdmin> {
        Arc::new(self.clone())
    }

    fn schedule(&self) -> Arc<dyn nightdesk_schedule::Store> {
        Arc::new(self.clone())
    }

    fn jobs(&self) -> Arc<dyn nightdesk_schedule::JobAdmin> {
        Arc::new(self.clone())
    }

    fn skills(&self) -> Arc<dyn nightdesk_shelf::Skills> {
        Arc::new(self.clone())
    }

    fn records(&self) -> Arc<dyn nightdesk_shelf::Records> {
        Arc::new(self.clone())
    }

    fn letters(&self) -> Arc<dyn nightdesk_letters::Store> {
        Arc::new(self.clone())
    }

    fn media(&self) -> Arc<dyn nightdesk_media::Store> {
        Arc::new(self.clone())
    }

    // No simulated node has users.
    fn users(&self) -> Arc<dyn nightdesk_users::UserStore> {
        Arc::new(self.memory.clone())
    }

    // Nor has it alerts.
    fn alerts(&self) -> Arc<dyn nightdesk_alerts::AlertStore> {
        Arc::new(self.memory.clone())
    }

    fn alert_ways(&self) -> Arc<dyn nightdesk_alerts::AlertAdmin> {
        Arc::new(self.memory.clone())
    }

    // Nor has it pages.
    fn office(&self) -> Arc<dyn nightdesk_office::OfficeReads> {
        Arc::new(self.memory.clone())
    }

    fn webchat(&self) -> Arc<dyn nightdesk_webchat::store::Store> {
        Arc::new(self.clone())
    }

    async fn refusals(&self, scope: TenantScope) -> Vec<String> {
        self.memory.refusals(scope).into_iter().map(|note| note.event_key).collect()
    }

    async fn quarantined(&self, operator: TenantScope, bot: BotId) -> usize {
        self.memory.quarantined(operator, bot).len()
    }
}

#[async_trait]
impl TimedHarness for SimStore {
    fn now(&self) -> Timestamp {
        Clock::now(self.memory.clock())
    }

    async fn let_pass(&self, span: Duration) {
        self.memory.clock().let_pass(span);
    }
}

macro_rules! every_suite {
    ($climate:expr, $model_cases:expr) => {
        nightdesk_conformance::inbox_store_conformance!(store($climate));
        nightdesk_conformance::inbox_model_conformance!(store($climate), $model_cases);
        nightdesk_conformance::line_store_conformance!(store($climate));
        nightdesk_conformance::wake_store_conformance!(store($climate));
        nightdesk_conformance::schedule_store_conformance!(store($climate));
        nightdesk_conformance::letter_store_conformance!(store($climate));
        nightdesk_conformance::gate_store_conformance!(store($climate));
        nightdesk_conformance::register_store_conformance!(store($climate));
        nightdesk_conformance::egress_store_conformance!(store($climate));
        nightdesk_conformance::lease_store_conformance!(store($climate));
        nightdesk_conformance::webchat_store_conformance!(store($climate));
        nightdesk_conformance::shelf_store_conformance!(store($climate));
        nightdesk_conformance::media_store_conformance!(store($climate));
        nightdesk_conformance::upkeep_conformance!(store($climate));
        nightdesk_conformance::timed_store_conformance!(store($climate));
    };
}

mod at_once {
    use super::*;

    const CALM: Climate = Climate { way_ms_max: 0, stalls_per_mille: 0, lost_per_mille: 0 };

    every_suite!(CALM, 200);
}

mod over_slow_wires {
    use super::*;

    const SLOW: Climate = Climate { way_ms_max: 1, stalls_per_mille: 0, lost_per_mille: 0 };

    every_suite!(SLOW, 5);
}
