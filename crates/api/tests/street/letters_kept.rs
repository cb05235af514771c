//! The desk's connector for letters conforms to the contract of every connector.

use std::num::NonZeroU32;

use async_trait::async_trait;
use nightdesk_conformance::connector::{Seen, Stage, run};
use nightdesk_desk::letters::letter_connector;
use nightdesk_desk::{Adapters, RateSettings};
use nightdesk_letters::{AgentConnector as _, DeskConnector, Party};
use nightdesk_protocol::delivery::PayloadKind;
use nightdesk_testdesk::{Household, TestDesk, TestGateway};
use nightdesk_types::{AgentId, TenantId, TenantScope};
use uuid::Uuid;

/// A connector from ann to bob, and one whose tenant does not exist.
struct RoadStage {
    desk: TestDesk,
    road: DeskConnector,
    broken: DeskConnector,
    bob: Household,
    line: Option<TestGateway>,
}

impl RoadStage {
    /// A stage whose agent is awake or asleep.
    async fn open(is_up: bool) -> Self {
        // The contract's checks write more letters a second than one agent may.
        let letters_per_second = NonZeroU32::MAX;
        let rates = RateSettings { letters_per_second, ..RateSettings::default() };
        let desk = TestDesk::open_limited(Adapters::default(), rates).await;
        let ann = desk.household("ann", "gw-ann").await;
        let agent = desk.register.store().create_agent(ann.scope, "bob").await.expect("an agent");
        let made = desk.register.create_gateway(ann.scope, agent, "kitchen").await;
        let (gateway, secret) = made.expect("a gateway");
        let name = "kitchen".to_owned();
        let bob = Household { agent, gateway, name, secret, ..ann.clone() };
        let line = if is_up { Some(desk.dial(&bob).await) } else { None };
        let mut stage = Self {
            road: road(&desk, Party { scope: ann.scope, agent: ann.agent }),
            broken: road(&desk, nobody()),
            desk,
            bob,
            line,
        };
        if let Some(line) = &mut stage.line {
            line.hello("discord").await;
            line.hear_frame("descriptor").await;
        }
        stage
    }
}

fn nobody() -> Party {
    Party {
        scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::max())),
        agent: AgentId::from_uuid(Uuid::max()),
    }
}

fn road(desk: &TestDesk, from: Party) -> DeskConnector {
    letter_connector(&desk.desk.letters, from)
}

#[async_trait]
impl Stage for RoadStage {
    type Connector = DeskConnector;

    fn name(&self) -> &'static str {
        if self.line.is_some() { "road" } else { "road to a sleeper" }
    }

    fn connector(&self) -> &DeskConnector {
        &self.road
    }

    fn broken(&self) -> Option<&DeskConnector> {
        Some(&self.broken)
    }

    fn agent(&self) -> Option<String> {
        Some("bob".to_owned())
    }

    /// If bob is awake, his session is `kitchen`.
    fn sessions(&self) -> [String; 2] {
        ["kitchen".to_owned(), "cellar".to_owned()]
    }

    fn interrupts(&self) -> bool {
        self.line.is_some()
    }

    async fn seen(&self) -> Vec<Seen> {
        let bodies = self.desk.entries_of(&self.bob).await;
        let events = bodies.iter().map(|body| &body["event"]);
        let seen = events.map(|event| Seen {
            words: event["text"].as_str().unwrap_or_default().to_owned(),
            kind: event["letter"]["kind"].as_str().and_then(PayloadKind::from_slug),
            session: event["letter"]["session_id"].as_str().map(str::to_owned),
            is_proven: event["letter"]["from"] == "ann",
            wire: Some(event["letter"].to_string()),
        });
        seen.collect()
    }
}

#[tokio::test]
async fn the_road_keeps_the_contract_to_who_is_up_and_who_sleeps() {
    for is_up in [true, false] {
        let report = run(&RoadStage::open(is_up).await).await;
        assert_eq!(report.failed(), [""; 0], "{}: {:?}", report.name, report.cases);
    }
}

#[tokio::test]
async fn it_says_of_itself_what_it_does() {
    let features = DeskConnector::static_capabilities().features;
    assert_eq!((features.wake, features.request_response), (Some(true), Some(true)));
}
