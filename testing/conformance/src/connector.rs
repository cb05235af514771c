//! Checks any connector against the contract.
//!
//! The cases include the contract's own suite, which a connector that loses every wake passes, and stricter cases,
//! which it fails. A [`Stage`] returns the messages that reached the agent, which the cases cannot observe.

mod drawer;
mod planted;
mod stages;
mod stricter;
mod upstream;

use async_trait::async_trait;
use nightdesk_letters::{AgentConnector, new_id};
use nightdesk_protocol::delivery::{
    DeliveryOrigin, Meta, Millis, Payload, PayloadKind, TriggerKind,
};

pub use planted::{Fault, planted};
pub use stages::bundled;

/// A message that reached an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The text.
    pub words: String,
    /// The kind, if it is recognisable.
    pub kind: Option<PayloadKind>,
    /// The session, if the message has one.
    pub session: Option<String>,
    /// True if the message has the proofs of its sender, or needs none.
    pub is_proven: bool,
    /// The JSON on the wire, if it was JSON.
    pub wire: Option<String>,
}

/// A connector, and the test environment behind it.
#[async_trait]
pub trait Stage: Send + Sync {
    /// The connector.
    type Connector: AgentConnector;

    /// Returns the name in reports.
    fn name(&self) -> &'static str;

    /// Returns the connector.
    fn connector(&self) -> &Self::Connector;

    /// Returns a connector whose environment is broken. `None`: it needs no environment.
    fn broken(&self) -> Option<&Self::Connector>;

    /// Returns an agent that the connector reaches. `None`: it reaches no agent.
    fn agent(&self) -> Option<String>;

    /// Returns two sessions of that agent.
    fn sessions(&self) -> [String; 2] {
        ["kitchen".to_owned(), "cellar".to_owned()]
    }

    /// Returns true if that agent can be interrupted now.
    fn interrupts(&self) -> bool;

    /// Returns the messages that reached that agent so far.
    async fn seen(&self) -> Vec<Seen>;
}

/// The result of a case. The error says what is wrong.
type Verdict = Result<(), String>;

/// The results of all cases.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the connector.
    pub name: &'static str,
    /// Each case with its result.
    pub cases: Vec<(&'static str, Verdict)>,
}

impl Report {
    /// Returns the number of cases that passed.
    pub fn passed(&self) -> usize {
        self.cases.iter().filter(|(_, verdict)| verdict.is_ok()).count()
    }

    /// Returns the cases that failed.
    pub fn failed(&self) -> Vec<&'static str> {
        self.cases.iter().filter(|(_, verdict)| verdict.is_err()).map(|(name, _)| *name).collect()
    }

    fn case(&mut self, name: &'static str, verdict: Verdict) {
        self.cases.push((name, verdict));
    }
}

/// The numbers of cases, of passed cases, of planted faults and of caught faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of cases.
    pub cases: usize,
    /// The number of cases that passed.
    pub passed: usize,
    /// The number of planted faults.
    pub planted: usize,
    /// The number of planted faults that their own case caught.
    pub caught: usize,
}

/// Runs every case.
pub async fn run<S: Stage>(stage: &S) -> Report {
    let mut report = Report { name: stage.name(), cases: Vec::new() };
    upstream::check(stage, &mut report).await;
    stricter::check(stage, &mut report).await;
    report
}

/// Runs every case over every connector that comes with the desk, and over connectors with planted faults.
pub async fn summary() -> (Vec<Report>, Summary) {
    let reports = bundled().await;
    let (planted, caught) = planted::count(&planted().await);
    let cases = reports.iter().map(|report| report.cases.len()).sum();
    let passed = reports.iter().map(Report::passed).sum();
    (reports, Summary { cases, passed, planted, caught })
}

fn must(holds: bool, wrong: impl Into<String>) -> Verdict {
    if holds { Ok(()) } else { Err(wrong.into()) }
}

/// Returns a unique text, so that a message is recognisable.
fn word(about: &str) -> String {
    format!("{about} {}", new_id())
}

fn meta() -> Meta {
    Meta {
        dispatch_id: new_id(),
        sent_at: Millis(1_794_696_802_569),
        origin: DeliveryOrigin {
            skill_name: "conformance".to_owned(),
            entry_skill_name: None,
            trigger_kind: TriggerKind::Inline,
            caller_agent_id: None,
        },
        sender: None,
        event_type: None,
        correlation_id: None,
    }
}

fn augment(words: &str) -> Payload {
    PayloadKind::Augment.make_payload(words.to_owned(), meta())
}

async fn times<S: Stage>(stage: &S, words: &str) -> usize {
    stage.seen().await.iter().filter(|seen| seen.words == words).count()
}
