use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use nightdesk_bus::NewLine;
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_types::{
    AgentId, GatewayId, Generation, Incarnation, NodeEpoch, Seq, StoreError, TenantId, TenantScope,
};
use uuid::Uuid;

use super::*;
use crate::store::{ClosingSide, LineRequest, LineStart};

/// The answer to a query for the agent's line. `Err`: none comes.
type Found = Result<Option<HeldLine>, ()>;

/// A store whose first `failures` calls of `close` fail.
#[derive(Default)]
struct Away {
    failures: usize,
    closed: Mutex<Vec<LineClaim>>,
    /// The answers to the queries for the agent's line. The last one is repeated.
    found: Mutex<VecDeque<Found>>,
}

impl Away {
    fn closed(self) -> Vec<LineClaim> {
        self.closed.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Store for Away {
    async fn take(&self, _: LineRequest<'_>) -> Result<LineStart, StoreError> {
        unreachable!("no test takes a line")
    }

    async fn find_held_line(
        &self,
        _: TenantScope,
        _: AgentId,
    ) -> Result<Option<HeldLine>, StoreError> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let next = if found.len() > 1 { found.pop_front() } else { found.front().cloned() };
        let next = next.expect("the test has an answer");
        next.map_err(|()| StoreError::unavailable("find a line", "it is away"))
    }

    async fn tell_sessions(&self, _: &LineClaim, _: &SessionNames) -> Result<(), StoreError> {
        unreachable!("no agent names its sessions")
    }

    async fn close(&self, line: &LineClaim, end: CloseRecord) -> Result<(), StoreError> {
        assert_eq!(end.tried, None, "a try counts once");
        let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        closed.push(*line);
        if closed.len() <= self.failures {
            return Err(StoreError::unavailable("close a line", "it is away"));
        }
        Ok(())
    }
}

fn claim(generation: i64) -> LineClaim {
    LineClaim {
        scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil())),
        agent: AgentId::from_uuid(Uuid::nil()),
        incarnation: Incarnation::new(1),
        generation: Generation::new(generation),
    }
}

fn end(tried: Option<Seq>) -> CloseRecord {
    CloseRecord { code: 1006, tried, closed_by: ClosingSide::Client }
}

async fn closes(failures: usize, drain: &CancellationToken) -> usize {
    let store = Away { failures, ..Away::default() };
    let end = end(Some(Seq::new(1)));
    retry_recording_end(&store, &claim(1), end, Duration::ZERO, drain).await;
    store.closed().len()
}

#[tokio::test]
async fn an_end_is_noted_once_the_store_is_back() {
    assert_eq!(closes(20, &CancellationToken::new()).await, 21);
}

#[tokio::test]
async fn a_node_that_stops_waits_for_no_store() {
    let drain = CancellationToken::new();
    drain.cancel();
    assert_eq!(closes(20, &drain).await, 0);
}

fn node(name: &str) -> Node {
    Node { name: name.to_owned(), epoch: NodeEpoch::new(1) }
}

/// Returns a line of the gateway of the tests.
fn held(generation: i64, name: &str) -> HeldLine {
    let gateway = GatewayId::from_uuid(Uuid::nil());
    HeldLine { claim: claim(generation), gateway, node: node(name) }
}

/// Returns the lines that are closed after these answers on a node that holds line 7.
async fn closed_after(found: Vec<Found>, failures: usize) -> Vec<LineClaim> {
    let store = Away { failures, found: Mutex::new(found.into()), ..Away::default() };
    let LineClaim { scope, agent, incarnation, generation } = claim(7);
    let gateway = GatewayId::from_uuid(Uuid::nil());
    let lines = LineRegistry::default();
    let _held = lines.register_line(NewLine { scope, agent, gateway, incarnation, generation });
    let caller = AuthenticatedGateway { scope, agent, gateway, acks: true };
    let lost = LostLine { caller: &caller, node: &node("node-1"), lines: &lines };
    let drain = CancellationToken::new();
    end_lost_line(&store, lost, end(None), Duration::ZERO, &drain).await;
    store.closed()
}

#[tokio::test]
async fn a_line_whose_taking_was_not_answered_is_closed() {
    let lost = Ok(Some(held(8, "node-1")));
    assert_eq!(closed_after(vec![Err(()), lost.clone()], 0).await, [claim(8)]);
    assert_eq!(closed_after(vec![lost], 2).await, [claim(8); 3], "until the store is back");
}

#[tokio::test]
async fn a_line_that_a_node_holds_is_not_closed() {
    let stranger = GatewayId::from_uuid(Uuid::from_u128(1));
    let cases = [
        ("none", vec![Ok(None)]),
        ("held here", vec![Ok(Some(held(7, "node-1")))]),
        ("held elsewhere", vec![Ok(Some(held(8, "node-2")))]),
        ("of another gateway", vec![Ok(Some(HeldLine { gateway: stranger, ..held(8, "node-1") }))]),
        ("taken since", vec![Ok(Some(held(6, "node-1"))), Ok(Some(held(7, "node-1")))]),
    ];
    for (name, found) in cases {
        assert_eq!(closed_after(found, 0).await, [], "{name}");
    }
}
