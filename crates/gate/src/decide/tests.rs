//! Table tests with named cases; the defaults are in [`room`] and [`held_by`].

mod authors;
mod places;
mod principals;
mod relevance;
mod several;
mod sights;

use nightdesk_types::{AgentId, TenantId};
use uuid::Uuid;

use super::*;

pub(super) const fn recipient(tenant: u128, agent: u128) -> Recipient {
    Recipient {
        scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(tenant))),
        agent: AgentId::from_uuid(Uuid::from_u128(agent)),
        version: 0,
    }
}

pub(super) const ANNS: Recipient = recipient(1, 1);
pub(super) const ANNS_SECOND: Recipient = recipient(1, 11);
pub(super) const BOBS: Recipient = recipient(2, 2);

/// Ann writes in a channel of a guild and addresses no agent.
pub(super) const fn room() -> EventFacts<'static> {
    let place =
        EventPlace { scope: Some("guild"), chat: "channel", parent: None, is_direct: false };
    EventFacts { author: "ann", is_program: false, is_addressed: false, takes_part: false, place }
}

/// Ann writes to the bot in a direct chat.
pub(super) const fn direct() -> EventFacts<'static> {
    let place = EventPlace { scope: None, chat: "dm", parent: None, is_direct: true };
    EventFacts { place, ..room() }
}

/// Ann writes in a thread of the channel.
const fn thread() -> EventFacts<'static> {
    let place = EventPlace {
        scope: Some("guild"),
        chat: "thread",
        parent: Some("channel"),
        is_direct: false,
    };
    EventFacts { place, ..room() }
}

const fn addressed(facts: EventFacts<'static>) -> EventFacts<'static> {
    EventFacts { is_addressed: true, ..facts }
}

const fn program(facts: EventFacts<'static>) -> EventFacts<'static> {
    EventFacts { is_program: true, ..facts }
}

/// The holder of a place, and the terms.
#[derive(Clone, Debug)]
struct Held {
    by: Recipient,
    extent: GrantExtent,
    principal: Principal,
    is_listed: bool,
    sight: Visibility,
    relevance: Relevance,
}

/// The chat is granted to an agent that anyone may reach, whose people see it and whom every message concerns.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a column of the table, which also has places without an agent"
)]
fn held_by(by: Recipient) -> Option<Held> {
    let (extent, principal, sight) = (GrantExtent::Chat, Principal::Any, Visibility::Sees);
    Some(Held { by, extent, principal, is_listed: false, sight, relevance: Relevance::default() })
}

/// The same, changed.
fn held(by: Recipient, change: impl FnOnce(&mut Held)) -> Option<Held> {
    let mut held = held_by(by);
    held.as_mut().map(change);
    held
}

const NOBODYS: Option<Held> = None;

/// A name, the facts, the author's agents, the holder of the place, and the expected recipients.
type Case = (
    &'static str,
    EventFacts<'static>,
    &'static [Recipient],
    Option<Held>,
    Result<&'static [Recipient], Refusal>,
);

fn check<const COUNT: usize>(cases: [Case; COUNT]) {
    for (name, facts, own, held, want) in cases {
        let got = decided(&facts, own, held.as_ref()).recipients();
        assert_eq!(got.as_deref().map_err(|no| no.refusal), want, "{name}");
    }
}

fn decided(facts: &EventFacts<'_>, own: &[Recipient], held: Option<&Held>) -> Decision {
    let grant = held.map(|held| PlaceGrant {
        recipient: held.by,
        extent: held.extent,
        principal: held.principal,
        is_listed: held.is_listed,
        sight: held.sight,
        relevance: &held.relevance,
    });
    decide(&ReachView { own, grant }, facts)
}

#[test]
fn every_refusal_has_a_name_of_its_own() {
    let mut slugs = Refusal::ALL.map(Refusal::slug).to_vec();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), Refusal::ALL.len());
}
