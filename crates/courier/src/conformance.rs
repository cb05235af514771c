//! Conformance: shows of any connector whether it keeps the contract.
//!
//! All cases of the contract's own suite are here, which a connector that loses every wake passes; and stricter
//! ones, which it does not. What they cannot see for themselves, a [`Stage`] tells: what reached an agent.

mod drawer;
mod planted;
mod stages;
mod stricter;
mod upstream;

use async_trait::async_trait;
use nightdesk_protocol::delivery::{Kind, Meta, Millis, Origin, Payload, TriggerKind};

use crate::connector::AgentConnector;
use crate::fresh::fresh_id;

pub use planted::{Fault, planted};
pub use stages::bundled;

/// What reached an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// What it says.
    pub words: String,
    /// Of which kind it is, if that can be told.
    pub kind: Option<Kind>,
    /// At which session, if it was at one.
    pub session: Option<String>,
    /// Whether it showed who sent it, where that is asked for.
    pub is_proven: bool,
    /// As it went over the wire, if it was JSON.
    pub wire: Option<String>,
}

/// A connector, and what is behind it.
#[async_trait]
pub trait Stage: Send + Sync {
    /// The connector.
    type Connector: AgentConnector;

    /// What it is called in a report.
    fn name(&self) -> &'static str;

    /// The connector.
    fn connector(&self) -> &Self::Connector;

    /// The same, with what it needs broken. `None`: it needs nothing.
    fn broken(&self) -> Option<&Self::Connector>;

    /// An agent that it reaches. `None`: it reaches nobody.
    fn agent(&self) -> Option<String>;

    /// Two sessions of that agent.
    fn sessions(&self) -> [String; 2] {
        ["kitchen".to_owned(), "cellar".to_owned()]
    }

    /// Whether that agent can be interrupted now.
    fn interrupts(&self) -> bool;

    /// What reached that agent so far.
    async fn seen(&self) -> Vec<Seen>;
}

/// What came of a case: nothing, or what is wrong.
type Verdict = Result<(), String>;

/// What came of all cases.
#[derive(Clone, Debug)]
pub struct Report {
    /// Of which connector.
    pub name: &'static str,
    /// Each case, and what is wrong.
    pub cases: Vec<(&'static str, Verdict)>,
}

impl Report {
    /// How many held.
    pub fn passed(&self) -> usize {
        self.cases.iter().filter(|(_, verdict)| verdict.is_ok()).count()
    }

    /// Those that did not hold.
    pub fn failed(&self) -> Vec<&'static str> {
        self.cases.iter().filter(|(_, verdict)| verdict.is_err()).map(|(name, _)| *name).collect()
    }

    fn case(&mut self, name: &'static str, verdict: Verdict) {
        self.cases.push((name, verdict));
    }
}

/// How many cases there were and held, and how many planted faults were caught.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cases.
    pub cases: usize,
    /// Those that held.
    pub passed: usize,
    /// Faults that were planted.
    pub planted: usize,
    /// Those that the case that is there for them caught.
    pub caught: usize,
}

/// Runs every case.
pub async fn run<S: Stage>(stage: &S) -> Report {
    let mut report = Report { name: stage.name(), cases: Vec::new() };
    upstream::check(stage, &mut report).await;
    stricter::check(stage, &mut report).await;
    report
}

/// Runs every case over every connector that comes with the desk, and over those with planted faults.
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

/// A word that nobody said before, by which it is known again.
fn word(about: &str) -> String {
    format!("{about} {}", fresh_id())
}

fn meta() -> Meta {
    Meta {
        dispatch_id: fresh_id(),
        sent_at: Millis(1_794_696_802_569),
        origin: Origin {
            skill_name: "conformance".to_owned(),
            entry_skill_name: None,
            trigger_kind: TriggerKind::Inline,
            caller_agent_id: None,
        },
        event_type: None,
        correlation_id: None,
    }
}

fn augment(words: &str) -> Payload {
    Kind::Augment.of(words.to_owned(), meta())
}

async fn times<S: Stage>(stage: &S, words: &str) -> usize {
    stage.seen().await.iter().filter(|seen| seen.words == words).count()
}
