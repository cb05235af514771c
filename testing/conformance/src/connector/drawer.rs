//! A connector in memory that follows the contract, or breaks it in one known way.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use nightdesk_letters::{Address, AgentConnector, ConnectorError, FailureCause};
use nightdesk_protocol::delivery::{
    AgentDescriptor, ConnectorCapabilities, DeliveryReceipt, Features, Millis, Payload,
    PayloadKind, TriggerKind, WakeOpts, WakeReceipt, When,
};

use super::planted::Fault;
use super::{Seen, Stage};

/// Its only agent.
const AGENT: &str = "perry";

/// The time of all receipts.
const NOW: Millis = Millis(1_794_696_802_569);

/// Letters in memory.
pub(super) struct Drawer {
    fault: Option<Fault>,
    interrupts: bool,
    is_broken: bool,
    letters: Mutex<(HashSet<String>, Vec<Seen>)>,
}

impl Drawer {
    fn new(fault: Option<Fault>, interrupts: bool, is_broken: bool) -> Self {
        Self { fault, interrupts, is_broken, letters: Mutex::default() }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn check(&self, agent_id: &str) -> Result<(), ConnectorError> {
        if self.is_broken && !self.has(Fault::BrokenSaysOk) {
            return Err(FailureCause::Network("broken".to_owned()).into_error(agent_id));
        }
        let composite = self.has(Fault::CompositeUnknown);
        let name = if composite { agent_id } else { Address::parse(agent_id).agent };
        let known = name == AGENT || self.has(Fault::UnknownSaysOk);
        if known { Ok(()) } else { Err(FailureCause::UnknownAgent.into_error(agent_id)) }
    }

    fn keep(&self, dispatch_id: Option<&str>, seen: Seen) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = dispatch_id.is_none_or(|id| letters.0.insert(id.to_owned()));
        if is_new || self.has(Fault::RepeatsTwice) {
            letters.1.push(seen);
        }
    }
}

#[async_trait]
impl AgentConnector for Drawer {
    fn static_capabilities() -> ConnectorCapabilities {
        let yes = Some(true);
        let features = Features {
            deliver: yes,
            wake: yes,
            list_agents: yes,
            health_check: yes,
            request_response: Some(false),
            ..Features::default()
        };
        ConnectorCapabilities::new("drawer", features)
    }

    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError> {
        if self.has(Fault::ListingTells) {
            self.keep(None, Seen { is_proven: true, ..Seen::default() });
        }
        Ok(vec![AgentDescriptor { agent_id: AGENT.to_owned(), ..AgentDescriptor::default() }])
    }

    async fn deliver(
        &self,
        agent_id: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        self.check(agent_id)?;
        let (meta, kind) = (payload.meta(), payload.kind());
        if self.has(Fault::ClosedTriggerKinds)
            && matches!(meta.origin.trigger_kind, TriggerKind::Other(_))
        {
            return Err(FailureCause::Invalid("trigger_kind".to_owned()).into_error(agent_id));
        }
        let kind = if self.has(Fault::TemplateIsAugment) { PayloadKind::Augment } else { kind };
        let null = if self.has(Fault::NullsOut) { r#"{"session_id":null}"# } else { "{}" };
        let seen = Seen {
            words: payload.text().to_owned(),
            kind: Some(kind),
            is_proven: true,
            wire: Some(null.to_owned()),
            ..Seen::default()
        };
        self.keep(Some(&meta.dispatch_id), seen);
        Ok(DeliveryReceipt { delivered_at: NOW, ..DeliveryReceipt::default() })
    }

    async fn wake(&self, agent_id: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError> {
        self.check(agent_id)?;
        let address = Address::parse(agent_id);
        let suffix = self.has(Fault::SuffixWins);
        let session = if suffix { address.session } else { address.session_of(opts) };
        let words = opts.context.clone().unwrap_or_default();
        let words = if self.has(Fault::WakeLosesContext) { String::new() } else { words };
        let is_proven = !self.has(Fault::WakeUnproven);
        let session = session.map(str::to_owned);
        let seen = Seen { words, session: session.clone(), is_proven, ..Seen::default() };
        if self.interrupts || !self.has(Fault::PassiveWakeLost) {
            self.keep(opts.meta.as_ref().map(|meta| meta.dispatch_id.as_str()), seen);
        }
        let is_later = matches!(opts.when, Some(When::At(at)) if at > NOW);
        let woken = self.interrupts && (!is_later || self.has(Fault::LaterIsNow));
        let woken = woken || self.has(Fault::WokenLies);
        Ok(WakeReceipt { woken_at: NOW, woken, session_id: session, warnings: Vec::new() })
    }

    async fn health_check(&self) -> bool {
        !self.is_broken
    }
}

/// A working connector, and a broken one.
pub(super) struct DrawerStage {
    drawer: Drawer,
    broken: Drawer,
}

impl DrawerStage {
    pub(super) fn new(fault: Option<Fault>, interrupts: bool) -> Self {
        let drawer = |is_broken| Drawer::new(fault, interrupts, is_broken);
        Self { drawer: drawer(false), broken: drawer(true) }
    }
}

#[async_trait]
impl Stage for DrawerStage {
    type Connector = Drawer;

    fn name(&self) -> &'static str {
        "drawer"
    }

    fn connector(&self) -> &Drawer {
        &self.drawer
    }

    fn broken(&self) -> Option<&Drawer> {
        Some(&self.broken)
    }

    fn agent(&self) -> Option<String> {
        Some(AGENT.to_owned())
    }

    fn interrupts(&self) -> bool {
        self.drawer.interrupts
    }

    async fn seen(&self) -> Vec<Seen> {
        self.drawer.letters.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}
