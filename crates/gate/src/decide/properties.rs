//! Properties of all decisions.

use proptest::prelude::*;

use super::tests::{ANNS, ANNS_SECOND, BOBS, direct, room};
use super::*;

#[derive(Clone, Debug)]
struct World {
    facts: EventFacts<'static>,
    own: Vec<Recipient>,
    holder: Option<(Recipient, Principal, bool, Visibility)>,
    relevance: Relevance,
}

impl World {
    fn recipients(&self) -> Vec<Recipient> {
        let grant = self.holder.map(|(recipient, principal, is_listed, sight)| PlaceGrant {
            recipient,
            extent: GrantExtent::Chat,
            principal,
            is_listed,
            sight,
            relevance: &self.relevance,
        });
        decide(&ReachView { own: &self.own, grant }, &self.facts).recipients().unwrap_or_default()
    }
}

fn agents() -> impl Strategy<Value = Recipient> {
    prop::sample::select(vec![ANNS, ANNS_SECOND, BOBS])
}

prop_compose! {
    fn facts()(
        is_program in any::<bool>(),
        is_addressed in any::<bool>(),
        takes_part in any::<bool>(),
        is_direct in any::<bool>(),
    ) -> EventFacts<'static> {
        EventFacts { is_program, is_addressed, takes_part, ..if is_direct { direct() } else { room() } }
    }
}

fn principals() -> impl Strategy<Value = Principal> {
    prop::sample::select(vec![Principal::OwnerOnly, Principal::AllowList, Principal::Any])
}

fn sights() -> impl Strategy<Value = Visibility> {
    prop::sample::select(vec![Visibility::Sees, Visibility::Blind, Visibility::Unknown])
}

prop_compose! {
    fn relevances()(
        require_address in any::<bool>(),
        allow_other_bots in any::<bool>(),
        continues_threads in any::<bool>(),
        free_scopes in prop::sample::subsequence(vec!["channel", "guild", "dm"], 0..=3),
    ) -> Relevance {
        let free_scopes = free_scopes.into_iter().map(str::to_owned).collect();
        Relevance { require_address, free_scopes, allow_other_bots, continues_threads }
    }
}

prop_compose! {
    fn worlds()(
        facts in facts(),
        own in prop::sample::subsequence(vec![ANNS, ANNS_SECOND, BOBS], 0..=3),
        holder in prop::option::of((agents(), principals(), any::<bool>(), sights())),
        relevance in relevances(),
    ) -> World {
        World { facts, own, holder, relevance }
    }
}

/// Returns the world with one permission removed.
fn narrowed(mut world: World, which: usize) -> World {
    match which {
        0 => world.own.clear(),
        1 => drop(world.own.pop()),
        2 => world.holder = None,
        3 => world.holder.as_mut().map_or((), |held| held.1 = Principal::OwnerOnly),
        4 => world.holder.as_mut().map_or((), |held| held.2 = false),
        5 => world.holder.as_mut().map_or((), |held| held.3 = Visibility::Unknown),
        6 => world.relevance.require_address = true,
        7 => world.relevance.free_scopes.clear(),
        _ => world.relevance.allow_other_bots = false,
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Removing a permission adds no recipient except another agent of the author. An author without a binding reaches
    /// the bot's agent in a direct chat, like any other person.
    #[test]
    fn less_given_is_not_more_delivered(world in worlds(), which in 0_usize..9) {
        let before = world.recipients();
        let narrowed = narrowed(world.clone(), which);
        let unbound = world.own.len() > narrowed.own.len() && world.facts.place.is_direct;
        for recipient in narrowed.recipients() {
            prop_assert!(
                before.contains(&recipient) || world.own.contains(&recipient) || unbound,
                "{recipient:?} is new in {narrowed:?}"
            );
        }
    }

    /// Every recipient is authorised, visible and relevant; a binding skips only relevance.
    #[test]
    fn delivered_is_authorised_and_visible_and_relevant(world in worlds()) {
        let World { facts, own, holder, relevance } = &world;
        let own: &[Recipient] = if facts.is_program { &[] } else { own };
        for recipient in world.recipients() {
            let by_binding = own.contains(&recipient);
            let by_grant = holder.is_some_and(|(by, principal, is_listed, sight)| {
                by == recipient
                    && (principal == Principal::Any || principal == Principal::AllowList && is_listed)
                    && (sight == Visibility::Sees || facts.place.is_direct)
                    && check_relevance(relevance, facts).is_ok()
            });
            prop_assert!(by_binding || by_grant, "{recipient:?} in {world:?}");
        }
    }

    /// Z14: no policy admits a person or agent that is refused without one, except programs.
    #[test]
    fn a_policy_only_takes_away(
        mut world in worlds(),
        free_scopes in prop::collection::vec(".{0,8}", 0..4),
    ) {
        world.relevance.free_scopes.extend(free_scopes);
        let all = Relevance { allow_other_bots: true, ..Relevance::default() };
        let without = World { relevance: all, ..world.clone() }.recipients();
        for recipient in world.recipients() {
            prop_assert!(without.contains(&recipient), "{recipient:?} in {world:?}");
        }
    }

    /// An author without a binding reaches an agent only by a grant to anyone or by an allow list.
    #[test]
    fn a_stranger_needs_a_grant(mut world in worlds()) {
        world.own.clear();
        let is_open = world.holder.is_some_and(|(_, principal, is_listed, _)| {
            principal == Principal::Any || principal == Principal::AllowList && is_listed
        });
        prop_assert!(is_open || world.recipients().is_empty(), "{world:?}");
    }

    /// A person always reaches one of their agents, and only one of them by binding.
    #[test]
    fn a_person_reaches_one_of_their_own(mut world in worlds()) {
        world.facts.is_program = false;
        world.own.push(ANNS);
        let recipients = world.recipients();
        let own = recipients.iter().filter(|recipient| world.own.contains(recipient)).count();
        prop_assert_eq!(own, 1, "{:?}", world);
    }
}
