//! Tests which connectors get a letter, by which operation, and the records of it.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot set up should stop"
)]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use nightdesk_letters::{
    AgentConnector, ConnectorError, DeliveryOutcome, DeliveryRecord, Dispatcher, FailureCause,
    NotifyRequest, Receipt, Receipts, Route, SkillRun,
};
use nightdesk_protocol::delivery::{
    AgentDescriptor, ConnectorCapabilities, DeliveryReceipt, Features, Millis, Payload,
    PayloadKind, TriggerKind, WakeOpts, WakeReceipt,
};
use nightdesk_types::{StoreError, SystemClock, TenantScope};

/// A call to a connector.
#[derive(Clone, Debug)]
enum Asked {
    Deliver(String, Payload),
    Wake(String, WakeOpts),
}

/// A connector that reaches one agent and records its calls.
#[derive(Default)]
struct Noting {
    agent: &'static str,
    fails: bool,
    is_ill: bool,
    asked: Mutex<Vec<Asked>>,
}

impl Noting {
    fn of(agent: &'static str) -> Arc<Self> {
        Arc::new(Self { agent, ..Self::default() })
    }

    fn answer<T>(&self, asked: Asked, receipt: T) -> Result<T, ConnectorError> {
        self.asked.lock().unwrap().push(asked);
        if self.fails { Err(FailureCause::Status(500).into_error(self.agent)) } else { Ok(receipt) }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl AgentConnector for Noting {
    fn static_capabilities() -> ConnectorCapabilities {
        ConnectorCapabilities::new("noting", Features::default())
    }

    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError> {
        if self.agent.is_empty() {
            return Err(FailureCause::TimedOut.into_error(""));
        }
        let agent_id = self.agent.to_owned();
        Ok(vec![AgentDescriptor { agent_id, ..AgentDescriptor::default() }])
    }

    async fn deliver(
        &self,
        id: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        let receipt = DeliveryReceipt { delivered_at: Millis(7), ..DeliveryReceipt::default() };
        self.answer(Asked::Deliver(id.to_owned(), payload.clone()), receipt)
    }

    async fn wake(&self, id: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError> {
        let warnings = vec!["nobody is up".to_owned()];
        let receipt = WakeReceipt { woken_at: Millis(7), warnings, ..WakeReceipt::default() };
        self.answer(Asked::Wake(id.to_owned(), opts.clone()), receipt)
    }

    async fn health_check(&self) -> bool {
        !self.is_ill
    }
}

#[derive(Default)]
struct Notes(Mutex<Vec<DeliveryRecord>>);

#[async_trait]
impl Receipts for Notes {
    async fn store_receipts(&self, receipts: &[Receipt]) -> Result<(), StoreError> {
        let records = receipts.iter().map(|receipt| receipt.record.clone());
        self.0.lock().unwrap().extend(records);
        Ok(())
    }

    async fn read_receipts(
        &self,
        _: TenantScope,
        id: &str,
    ) -> Result<Vec<DeliveryRecord>, StoreError> {
        let notes = self.0.lock().unwrap();
        Ok(notes.iter().filter(|record| record.dispatch_id == id).cloned().collect())
    }
}

struct Stage {
    dispatcher: Dispatcher,
    notes: Arc<Notes>,
}

async fn stage(connectors: &[(&str, &Arc<Noting>)]) -> Stage {
    let notes = Arc::new(Notes::default());
    let clock = Arc::new(SystemClock::start());
    let mut dispatcher = Dispatcher::new(Arc::clone(&notes) as Arc<dyn Receipts>, clock);
    for (name, connector) in connectors {
        let connector = Arc::clone(*connector) as Arc<dyn AgentConnector>;
        dispatcher.add_connector(name, connector).await.expect("it is healthy");
    }
    Stage { dispatcher, notes }
}

fn run() -> SkillRun {
    SkillRun::new(TenantScope::desk_own(), TriggerKind::Agent, Some("cc".to_owned()))
        .with_skill("ping")
}

fn notify(address: &str, words: &str) -> NotifyRequest {
    NotifyRequest {
        address: address.to_owned(),
        words: words.to_owned(),
        ..NotifyRequest::default()
    }
}

#[tokio::test]
async fn the_address_says_whether_an_agent_is_woken() {
    let perry = Noting::of("perry");
    let Stage { dispatcher, .. } = stage(&[("one", &perry)]).await;
    dispatcher.notify(&run(), &notify("perry", "hi")).await;
    dispatcher
        .notify(&run(), &NotifyRequest { kind: PayloadKind::Template, ..notify("perry", "do") })
        .await;
    dispatcher.notify(&run(), &notify("perry@kitchen", "up")).await;
    dispatcher.notify(&run(), &notify("perry@kitchen", "")).await;

    let asked = perry.asked();
    assert!(
        matches!(&asked[0], Asked::Deliver(id, Payload::Augment { content, .. }) if id == "perry" && content == "hi")
    );
    assert!(
        matches!(&asked[1], Asked::Deliver(_, Payload::Template { prompt, .. }) if prompt == "do")
    );
    assert!(
        matches!(&asked[2], Asked::Wake(id, opts) if id == "perry@kitchen" && opts.context.as_deref() == Some("up") && opts.session_id.is_none())
    );
    assert!(matches!(&asked[3], Asked::Wake(_, opts) if opts.context.is_none()));
}

#[tokio::test]
async fn all_who_reach_an_agent_get_one_emit_and_the_next_call_is_another() {
    let connectors =
        [Noting::of("perry"), Noting::of("perry"), Noting::of("other"), Noting::of("")];
    let named: Vec<_> = ["a", "b", "c", "d"].into_iter().zip(&connectors).collect();
    let Stage { dispatcher, notes } = stage(&named).await;
    let first = dispatcher.notify(&run(), &notify("perry", "hi")).await;
    let second = dispatcher.notify(&run(), &notify("perry", "hi")).await;

    assert_ne!(first.dispatch_id, second.dispatch_id);
    let metas: Vec<_> = connectors[..2].iter().map(|one| one.asked()[0].clone()).collect();
    let emits: BTreeSet<_> = metas
        .iter()
        .map(|asked| match asked {
            Asked::Deliver(_, payload) => {
                (payload.meta().dispatch_id.clone(), payload.meta().sent_at)
            }
            Asked::Wake(..) => panic!("nobody was to be woken"),
        })
        .collect();
    assert_eq!(emits, BTreeSet::from([(first.dispatch_id.clone(), first.sent_at)]));
    assert!(connectors[2].asked().is_empty() && connectors[3].asked().is_empty());
    let kept = notes.read_receipts(TenantScope::desk_own(), &first.dispatch_id).await.unwrap();
    assert_eq!(kept, first.records);
    assert_eq!(kept.len(), 2);
}

#[tokio::test]
async fn what_fails_is_told_and_hinders_nobody() {
    let broken = Arc::new(Noting { agent: "perry", fails: true, ..Noting::default() });
    let whole = Noting::of("perry");
    let Stage { dispatcher, .. } = stage(&[("broken", &broken), ("whole", &whole)]).await;
    let report = dispatcher.notify(&run(), &notify("perry@kitchen", "up")).await;

    assert_eq!(
        report.records[0].outcome,
        DeliveryOutcome::Failed(FailureCause::Status(500).into_error("perry").into())
    );
    assert_eq!(report.records[0].route, Route::Wake);
    let DeliveryOutcome::Woken(receipt) = &report.records[1].outcome else { panic!("{report:?}") };
    assert!(!receipt.woken);
    assert_eq!(receipt.warnings, ["nobody is up"]);
}

#[tokio::test]
async fn only_named_ways_are_taken_and_nobody_reached_is_no_error() {
    let (one, two) = (Noting::of("perry"), Noting::of("perry"));
    let Stage { dispatcher, .. } = stage(&[("one", &one), ("two", &two)]).await;
    let only = NotifyRequest { connectors: Some(vec!["two".to_owned()]), ..notify("perry", "hi") };

    assert_eq!(dispatcher.notify(&run(), &only).await.records.len(), 1);
    assert!(one.asked().is_empty());
    assert!(dispatcher.notify(&run(), &notify("nobody", "hi")).await.records.is_empty());
    assert!(dispatcher.notify(&run(), &notify("nobody@perry", "hi")).await.records.is_empty());
}

#[tokio::test]
async fn a_letter_says_who_was_proven_to_call_and_which_label_counts() {
    let perry = Noting::of("perry");
    let Stage { dispatcher, .. } = stage(&[("one", &perry)]).await;
    let skill = run().with_label("skill").for_called_skill("helper").with_label("helper's");
    let call = NotifyRequest { event_type: Some("call".to_owned()), ..notify("perry", "hi") };
    dispatcher.notify(&skill, &call).await;
    dispatcher.notify(&skill, &notify("perry@x", "hi")).await;

    let asked = perry.asked();
    let Asked::Deliver(_, payload) = &asked[0] else { panic!("{asked:?}") };
    let Asked::Wake(_, opts) = &asked[1] else { panic!("{asked:?}") };
    let (first, second) = (payload.meta(), opts.meta.as_deref().expect("a meta"));
    assert_eq!(first.event_type.as_deref(), Some("call"));
    assert_eq!(second.event_type.as_deref(), Some("helper's"));
    for meta in [first, second] {
        assert_eq!(meta.origin.caller_agent_id.as_deref(), Some("cc"));
        assert_eq!(meta.origin.entry_skill_name.as_deref(), Some("ping"));
    }
}

#[tokio::test]
async fn a_connector_that_is_ill_is_not_taken_on() {
    let ill = Arc::new(Noting { agent: "perry", is_ill: true, ..Noting::default() });
    let Stage { mut dispatcher, .. } = stage(&[]).await;

    assert!(dispatcher.add_connector("ill", ill as Arc<dyn AgentConnector>).await.is_err());
}
