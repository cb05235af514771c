//! Runs every suite on memory, and checks that every check is in its suite.

use nightdesk_memory::Memory;
use nightdesk_testkit::FakeClock;
use nightdesk_types::Clock;

use super::*;

fn memory() -> Memory {
    Memory::new(FakeClock::default())
}

#[async_trait]
impl Harness for Memory {
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

    fn users(&self) -> Arc<dyn nightdesk_users::UserStore> {
        Arc::new(self.clone())
    }

    fn alerts(&self) -> Arc<dyn nightdesk_alerts::AlertStore> {
        Arc::new(self.clone())
    }

    fn alert_ways(&self) -> Arc<dyn nightdesk_alerts::AlertAdmin> {
        Arc::new(self.clone())
    }

    fn office(&self) -> Arc<dyn nightdesk_office::OfficeReads> {
        Arc::new(self.clone())
    }

    fn webchat(&self) -> Arc<dyn nightdesk_webchat::store::Store> {
        Arc::new(self.clone())
    }

    async fn refusals(&self, scope: TenantScope) -> Vec<String> {
        Self::refusals(self, scope).into_iter().map(|note| note.event_key).collect()
    }

    async fn quarantined(&self, operator: TenantScope, bot: BotId) -> usize {
        Self::quarantined(self, operator, bot).len()
    }
}

#[async_trait]
impl TimedHarness for Memory {
    fn now(&self) -> Timestamp {
        Clock::now(self.clock())
    }

    async fn let_pass(&self, span: Duration) {
        self.clock().let_pass(span);
    }
}

crate::inbox_store_conformance!(memory());
crate::inbox_model_conformance!(memory(), 1_000);
crate::line_store_conformance!(memory());
crate::wake_store_conformance!(memory());
crate::schedule_store_conformance!(memory());
crate::letter_store_conformance!(memory());
crate::gate_store_conformance!(memory());
crate::register_store_conformance!(memory());
crate::egress_store_conformance!(memory());
crate::lease_store_conformance!(memory());
crate::webchat_store_conformance!(memory());
crate::user_store_conformance!(memory());
crate::office_store_conformance!(memory());
crate::alert_store_conformance!(memory());
crate::shelf_store_conformance!(memory());
crate::media_store_conformance!(memory());
crate::upkeep_conformance!(memory());
crate::timed_store_conformance!(memory());

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(10_000))]

    // Q16
    #[test]
    fn a_secret_is_good_until_its_overlap_is_over(steps in rotation::steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let harness = memory();
            let cast = cast::Cast::of(&harness).await;
            rotation::follow(&harness, &cast, "ann", &steps).await;
        });
    }
}

#[test]
fn every_check_is_in_its_suite() {
    let listed = concat!(include_str!("macros.rs"), include_str!("office_macros.rs"));
    let suites = [
        include_str!("inbox/put.rs"),
        include_str!("inbox/sources.rs"),
        include_str!("inbox/hand_over.rs"),
        include_str!("inbox/acks.rs"),
        include_str!("inbox/aside.rs"),
        include_str!("inbox/by_hand.rs"),
        include_str!("inbox/at_once.rs"),
        include_str!("lines.rs"),
        include_str!("wake/due.rs"),
        include_str!("wake/kept.rs"),
        include_str!("schedule/arming.rs"),
        include_str!("schedule/cancelling.rs"),
        include_str!("schedule/claiming.rs"),
        include_str!("schedule/ending.rs"),
        include_str!("schedule/overlap.rs"),
        include_str!("schedule/shown.rs"),
        include_str!("shelf.rs"),
        include_str!("letters.rs"),
        include_str!("gate.rs"),
        include_str!("register/entering.rs"),
        include_str!("register/gateways.rs"),
        include_str!("register/bots.rs"),
        include_str!("register/listing.rs"),
        include_str!("register/enrolment.rs"),
        include_str!("register/issuer.rs"),
        include_str!("egress.rs"),
        include_str!("lease.rs"),
        include_str!("webchat.rs"),
        include_str!("users.rs"),
        include_str!("office.rs"),
        include_str!("office/stuck.rs"),
        include_str!("alerts.rs"),
        include_str!("alerts/causes.rs"),
        include_str!("upkeep.rs"),
        include_str!("time.rs"),
        include_str!("rotation.rs"),
    ];
    for suite in suites {
        for rest in suite.split("\npub async fn ").skip(1) {
            let name = rest.split('(').next().unwrap();
            assert!(listed.contains(&format!(" {name},\n")), "{name} is never run");
        }
    }
}
