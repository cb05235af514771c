//! Tests of a node's ears.

use std::collections::BTreeSet;

use nightdesk_types::{RequestId, Seq, TenantId};
use uuid::Uuid;

use super::*;
use crate::ear::Heard;
use crate::marks::Marked;

const AGENT: AgentId = AgentId::from_uuid(Uuid::nil());
const OTHER: AgentId = AgentId::from_uuid(Uuid::max());
const SCOPE: TenantScope = TenantScope::of(TenantId::from_uuid(Uuid::nil()));
const GATEWAY: GatewayId = GatewayId::from_uuid(Uuid::nil());
const BOT: BotId = BotId::from_uuid(Uuid::nil());

fn stop(agent: AgentId) -> Ring {
    Ring::Stop { agent, session_key: "s".to_owned(), chat_id: "c".to_owned() }
}

#[tokio::test]
async fn the_newest_line_hears_and_the_older_is_told() {
    let ears = Ears::default();
    let old = ears.open(SCOPE, AGENT, GATEWAY, Generation::new(1));
    let new = ears.open(SCOPE, AGENT, GATEWAY, Generation::new(2));

    assert!(ears.ring(Ring::Entry { agent: AGENT, seq: Seq::new(7) }).await);
    assert_eq!(old.listen().orders, [Order::Replaced]);
    assert_eq!(new.listen(), Heard { seq: Some(Seq::new(7)), orders: vec![] });
}

#[tokio::test]
async fn a_line_that_opens_late_finds_itself_replaced() {
    let ears = Ears::default();
    let new = ears.open(SCOPE, AGENT, GATEWAY, Generation::new(2));
    let old = ears.open(SCOPE, AGENT, GATEWAY, Generation::new(1));
    ears.close(&old);

    assert_eq!(old.listen().orders, [Order::Replaced]);
    assert!(ears.ring(Ring::Entry { agent: AGENT, seq: Seq::new(1) }).await);
    assert_eq!(new.listen().seq, Some(Seq::new(1)), "closing the old one closed only it");
}

#[tokio::test]
async fn nobody_hears_for_an_agent_without_a_line() {
    let ears = Ears::default();
    let ear = ears.open(SCOPE, AGENT, GATEWAY, Generation::new(1));
    ears.close(&ear);

    assert!(!ears.ring(stop(AGENT)).await);
}

#[tokio::test]
async fn a_stop_reaches_the_line_of_its_agent_and_no_other() {
    let ears = Ears::default();
    let (named, other) = (
        ears.open(SCOPE, AGENT, GATEWAY, Generation::new(1)),
        ears.open(SCOPE, OTHER, GATEWAY, Generation::new(1)),
    );

    assert!(ears.ring(stop(AGENT)).await);
    assert_eq!(named.listen().orders.len(), 1);
    assert_eq!(other.listen(), Heard::default());
}

#[tokio::test]
async fn replacing_waits_until_the_old_line_is_put_away() {
    let ears = Arc::new(Ears::default());
    let old = ears.open(SCOPE, AGENT, GATEWAY, Generation::new(1));
    let replaced = tokio::spawn({
        let ears = Arc::clone(&ears);
        async move { ears.replace(AGENT).await }
    });

    old.rung().await;
    assert_eq!(old.listen().orders, [Order::Replaced]);
    assert!(!replaced.is_finished());
    ears.close(&old);
    replaced.await.unwrap();
    ears.replace(AGENT).await;
}

#[tokio::test]
async fn a_node_is_asked_and_told_by_its_own_name() {
    let ears = Ears::of_node("desk-1");
    let request = RequestId::new("r1").unwrap();
    let waits = ears.settled().wait((AGENT, request.clone())).unwrap();
    let asked = |node: &str| Ring::Asked { node: node.to_owned(), bot: BOT };
    let settled = |node: &str, agent| Ring::Settled {
        node: node.to_owned(),
        agent,
        request: request.clone(),
    };

    assert!(!ears.ring(asked("desk-2")).await);
    assert_eq!(ears.asked().take(), None);
    assert!(ears.ring(asked("desk-1")).await);
    assert_eq!(ears.asked().taken().await, Marked::These(BTreeSet::from([BOT])));

    assert!(!ears.ring(settled("desk-2", AGENT)).await);
    assert!(!ears.ring(settled("desk-1", OTHER)).await, "another agent's request of that name");
    assert!(ears.ring(settled("desk-1", AGENT)).await);
    waits.rung().await;
}

#[test]
fn a_node_listens_for_an_agent_while_its_line_is_open() {
    let ears = Ears::of_node("desk-1");
    let agent = Address::Agent(AGENT);
    let marked = Some(Marked::These(BTreeSet::from([agent.clone()])));
    let own = [Address::All, Address::Node("desk-1".to_owned())];
    assert_eq!(ears.addresses(), own);

    let ear = ears.open(SCOPE, AGENT, GATEWAY, Generation::new(1));
    assert_eq!(ears.changes().take(), marked);
    assert!(ears.listens_at(&agent) && ears.addresses().contains(&agent));
    ears.close(&ear);
    assert_eq!(ears.changes().take(), marked);
    assert!(!ears.listens_at(&agent));
}

#[test]
fn agents_come_in_order_and_in_shares() {
    let ears = Ears::default();
    for agent in [OTHER, AGENT] {
        drop(ears.open(SCOPE, agent, GATEWAY, Generation::new(1)));
    }

    assert_eq!(ears.agents_after(None, 1), [(SCOPE, AGENT)]);
    assert_eq!(ears.agents_after(Some(AGENT), 9), [(SCOPE, OTHER)]);
    assert_eq!(ears.agents_after(Some(OTHER), 9), []);
    assert_eq!(ears.of_these([OTHER]), [(SCOPE, OTHER)]);
}
