//! Tests of a node's ears.

use std::collections::BTreeSet;

use nightdesk_types::{RequestId, Seq, TenantId};
use uuid::Uuid;

use super::*;
use crate::mark_set::MarkedItems;
use crate::registered_line::LineHints;

const AGENT: AgentId = AgentId::from_uuid(Uuid::nil());
const OTHER: AgentId = AgentId::from_uuid(Uuid::max());
const SCOPE: TenantScope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil()));
const GATEWAY: GatewayId = GatewayId::from_uuid(Uuid::nil());
const BOT: BotId = BotId::from_uuid(Uuid::nil());

fn new_line(agent: AgentId, generation: i64) -> NewLine {
    NewLine {
        scope: SCOPE,
        agent,
        gateway: GATEWAY,
        incarnation: Incarnation::new(1),
        generation: Generation::new(generation),
    }
}

fn stop(agent: AgentId) -> Ring {
    Ring::Stop { agent, session_key: "s".to_owned(), chat_id: "c".to_owned(), report_to: None }
}

#[tokio::test]
async fn the_newest_line_hears_and_the_older_is_told() {
    let ears = LineRegistry::default();
    let old = ears.register_line(new_line(AGENT, 1));
    let new = ears.register_line(new_line(AGENT, 2));

    assert!(ears.ring(Ring::Entry { agent: AGENT, seq: Seq::new(7) }).await);
    assert_eq!(old.take_hints().orders, [LineOrder::Replaced]);
    assert_eq!(new.take_hints(), LineHints { seq: Some(Seq::new(7)), orders: vec![] });
}

#[tokio::test]
async fn a_line_that_opens_late_finds_itself_replaced() {
    let ears = LineRegistry::default();
    let new = ears.register_line(new_line(AGENT, 2));
    let old = ears.register_line(new_line(AGENT, 1));
    ears.close_line(&old);

    assert_eq!(old.take_hints().orders, [LineOrder::Replaced]);
    assert!(ears.ring(Ring::Entry { agent: AGENT, seq: Seq::new(1) }).await);
    assert_eq!(new.take_hints().seq, Some(Seq::new(1)), "closing the old one closed only it");
}

#[tokio::test]
async fn nobody_hears_for_an_agent_without_a_line() {
    let ears = LineRegistry::default();
    let ear = ears.register_line(new_line(AGENT, 1));
    ears.close_line(&ear);

    assert!(!ears.ring(stop(AGENT)).await);
}

#[tokio::test]
async fn a_stop_reaches_the_line_of_its_agent_and_no_other() {
    let ears = LineRegistry::default();
    let (named, other) =
        (ears.register_line(new_line(AGENT, 1)), ears.register_line(new_line(OTHER, 1)));

    assert!(ears.ring(stop(AGENT)).await);
    assert_eq!(named.take_hints().orders.len(), 1);
    assert_eq!(other.take_hints(), LineHints::default());
}

#[tokio::test]
async fn replacing_waits_until_the_old_line_is_put_away() {
    let ears = Arc::new(LineRegistry::default());
    let old = ears.register_line(new_line(AGENT, 1));
    let replaced = tokio::spawn({
        let ears = Arc::clone(&ears);
        async move { ears.replace_line(AGENT).await }
    });

    old.wait_for_hint().await;
    assert_eq!(old.take_hints().orders, [LineOrder::Replaced]);
    assert!(!replaced.is_finished());
    ears.close_line(&old);
    replaced.await.unwrap();
    ears.replace_line(AGENT).await;
}

#[tokio::test]
async fn a_node_is_asked_and_told_by_its_own_name() {
    let ears = LineRegistry::for_node("desk-1");
    let request = RequestId::new("r1").unwrap();
    let waits = ears.settlements().begin_wait((AGENT, request.clone())).unwrap();
    let asked = |node: &str| Ring::Asked { node: node.to_owned(), bot: BOT };
    let settled = |node: &str, agent| Ring::Settled {
        node: node.to_owned(),
        agent,
        request: request.clone(),
    };

    assert!(!ears.ring(asked("desk-2")).await);
    assert_eq!(ears.requested_bots().take(), None);
    assert!(ears.ring(asked("desk-1")).await);
    assert_eq!(
        ears.requested_bots().wait_and_take().await,
        MarkedItems::These(BTreeSet::from([BOT]))
    );

    assert!(!ears.ring(settled("desk-2", AGENT)).await);
    assert!(!ears.ring(settled("desk-1", OTHER)).await, "another agent's request of that name");
    assert!(ears.ring(settled("desk-1", AGENT)).await);
    waits.wait_for_ring().await;
}

#[test]
fn a_node_listens_for_an_agent_while_its_line_is_open() {
    let ears = LineRegistry::for_node("desk-1");
    let agent = BellAddress::Agent(AGENT);
    let marked = Some(MarkedItems::These(BTreeSet::from([agent.clone()])));
    let own = [BellAddress::All, BellAddress::Node("desk-1".to_owned())];
    assert_eq!(ears.addresses(), own);

    let ear = ears.register_line(new_line(AGENT, 1));
    assert_eq!(ears.changed_addresses().take(), marked);
    assert!(ears.listens_at(&agent) && ears.addresses().contains(&agent));
    ears.close_line(&ear);
    assert_eq!(ears.changed_addresses().take(), marked);
    assert!(!ears.listens_at(&agent));
}

#[test]
fn agents_come_in_order_and_in_shares() {
    let ears = LineRegistry::default();
    for agent in [OTHER, AGENT] {
        drop(ears.register_line(new_line(agent, 1)));
    }

    assert_eq!(ears.agents_after(None, 1), [(SCOPE, AGENT)]);
    assert_eq!(ears.agents_after(Some(AGENT), 9), [(SCOPE, OTHER)]);
    assert_eq!(ears.agents_after(Some(OTHER), 9), []);
    assert_eq!(ears.lines_of_agents([OTHER]), [(SCOPE, OTHER)]);
}
