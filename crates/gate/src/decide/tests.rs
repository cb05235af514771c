//! Every case has a name; what is not said of it is as in [`room`] and [`held_by`].

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
        scope: TenantScope::of(TenantId::from_uuid(Uuid::from_u128(tenant))),
        agent: AgentId::from_uuid(Uuid::from_u128(agent)),
        version: 0,
    }
}

pub(super) const ANNS: Recipient = recipient(1, 1);
pub(super) const ANNS_SECOND: Recipient = recipient(1, 11);
pub(super) const BOBS: Recipient = recipient(2, 2);

/// Ann writes in a channel of a guild, to nobody in particular.
pub(super) const fn room() -> Facts<'static> {
    let place = Place { scope: Some("guild"), chat: "channel", parent: None, is_direct: false };
    Facts { author: "ann", is_program: false, is_addressed: false, takes_part: false, place }
}

/// She writes to the bot alone.
pub(super) const fn direct() -> Facts<'static> {
    let place = Place { scope: None, chat: "dm", parent: None, is_direct: true };
    Facts { place, ..room() }
}

/// She writes in a thread of the channel.
const fn thread() -> Facts<'static> {
    let place =
        Place { scope: Some("guild"), chat: "thread", parent: Some("channel"), is_direct: false };
    Facts { place, ..room() }
}

const fn addressed(facts: Facts<'static>) -> Facts<'static> {
    Facts { is_addressed: true, ..facts }
}

const fn program(facts: Facts<'static>) -> Facts<'static> {
    Facts { is_program: true, ..facts }
}

/// Whose the place is, and on which terms.
#[derive(Clone, Debug)]
struct Held {
    by: Recipient,
    extent: Extent,
    principal: Principal,
    is_listed: bool,
    sight: Sight,
    relevance: Relevance,
}

/// The chat is held by an agent that anyone may reach, whose people see it and whom all concerns.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a column of the table, which also has places of nobody"
)]
fn held_by(by: Recipient) -> Option<Held> {
    let (extent, principal, sight) = (Extent::Chat, Principal::Any, Sight::Sees);
    Some(Held { by, extent, principal, is_listed: false, sight, relevance: Relevance::default() })
}

/// The same, changed.
fn held(by: Recipient, change: impl FnOnce(&mut Held)) -> Option<Held> {
    let mut held = held_by(by);
    held.as_mut().map(change);
    held
}

const NOBODYS: Option<Held> = None;

/// A name, what is written, the author's agents, whose the place is, and who receives it.
type Case = (
    &'static str,
    Facts<'static>,
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

fn decided(facts: &Facts<'_>, own: &[Recipient], held: Option<&Held>) -> Decision {
    let grant = held.map(|held| Grant {
        recipient: held.by,
        extent: held.extent,
        principal: held.principal,
        is_listed: held.is_listed,
        sight: held.sight,
        relevance: &held.relevance,
    });
    decide(&View { own, grant }, facts)
}

#[test]
fn every_refusal_has_a_name_of_its_own() {
    let mut slugs = Refusal::ALL.map(Refusal::slug).to_vec();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), Refusal::ALL.len());
}
