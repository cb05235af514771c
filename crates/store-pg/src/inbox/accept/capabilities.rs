//! The capabilities that events carry.

use nightdesk_inbox::{AcceptRequest, EntryCapability};
use uuid::Uuid;

use super::super::ordinal;

/// Capabilities as columns.
#[derive(Default)]
pub(super) struct CapabilityColumns {
    pub(super) events: Vec<i32>,
    pub(super) tenants: Vec<Uuid>,
    pub(super) agents: Vec<Uuid>,
    pub(super) sessions: Vec<Vec<u8>>,
    pub(super) kinds: Vec<String>,
    pub(super) sealed: Vec<Vec<u8>>,
    pub(super) keys: Vec<i64>,
    pub(super) secs: Vec<f64>,
}

impl CapabilityColumns {
    /// Returns the capabilities of these events, if there are any.
    pub(super) fn new(events: &[AcceptRequest]) -> Option<Self> {
        let mut columns = Self::default();
        for (index, event) in events.iter().enumerate() {
            for bound in event.capabilities() {
                columns.push(ordinal(index), bound);
            }
        }
        (!columns.events.is_empty()).then_some(columns)
    }

    fn push(&mut self, event: i32, bound: &EntryCapability) {
        let (scope, agent) = bound.agent;
        self.events.push(event);
        self.tenants.push(scope.tenant().uuid());
        self.agents.push(agent.uuid());
        self.sessions.push(bound.session.to_vec());
        self.kinds.push(bound.kind.clone());
        self.sealed.push(bound.sealed.clone());
        self.keys.push(bound.key.get());
        self.secs.push(bound.good_for.as_secs_f64());
    }
}
