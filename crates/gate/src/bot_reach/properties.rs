//! Property: an agent is reached only in places that were granted to it, for any text of the claims.

use proptest::prelude::*;

use super::tests::agent;
use super::*;

/// Ids that collide with each other, and ids with a special meaning.
const IDS: [&str; 6] = ["a", "b", "A", "*", "", " a"];

fn ids() -> impl Strategy<Value = String> {
    prop_oneof![8 => prop::sample::select(IDS.to_vec()).prop_map(str::to_owned), 1 => ".{0,6}"]
}

/// A scope document and its holder.
type Claim = (Option<String>, String, u128);

fn claims() -> impl Strategy<Value = Vec<Claim>> {
    prop::collection::vec((prop::option::of(ids()), ids(), 1_u128..4), 0..5)
}

fn known(claims: &[Claim]) -> BotReach {
    let held = |number| Some((agent(number), Principal::Any));
    let grants = claims.iter().map(|(scope, chat, number)| {
        (GrantTarget::for_chat(scope.as_deref(), chat), held(*number))
    });
    let owners = vec!["owner".to_owned()];
    let terms =
        AgentTerms { version: 1, listed: BTreeSet::new(), owners, relevance: Relevance::default() };
    let agents = (1..4).map(|number| (agent(number), terms.clone())).collect();
    let mut known = BotReach::default();
    let grants = grants.collect();
    known.apply(ReachChange { is_whole: true, grants, agents, ..ReachChange::default() });
    known
}

/// Returns true if a claim covers a place, computed independently: the chat, its parent channel, the whole scope, or
/// the whole bot.
fn covers((scope, chat, _): &Claim, place: &EventPlace<'_>) -> bool {
    let in_scope = scope.is_none() || scope.as_deref() == place.scope;
    in_scope && (chat == "*" || chat == place.chat || Some(chat.as_str()) == place.parent)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // Z14
    #[test]
    fn a_claim_reaches_no_further_than_its_words(
        claims in claims(),
        (scope, chat, parent) in (prop::option::of(ids()), ids(), prop::option::of(ids())),
    ) {
        let place = EventPlace {
            scope: scope.as_deref(), chat: &chat, parent: parent.as_deref(), is_direct: false,
        };
        let facts = EventFacts { author: "ann", is_program: false, is_addressed: false, takes_part: false, place };
        let recipients = known(&claims).decide(&facts, None).recipients().unwrap_or_default();
        prop_assert!(recipients.len() <= 1, "a place belongs to one agent");
        for recipient in recipients {
            let given = |claim: &&Claim| agent(claim.2) == (recipient.scope, recipient.agent);
            let is_given = claims.iter().filter(given).any(|claim| covers(claim, &place));
            prop_assert!(is_given, "{recipient:?} at {place:?} by {claims:?}");
        }
    }

    /// Any other word grants nothing.
    #[test]
    fn a_principal_is_one_of_three_words(word in ".{0,12}") {
        let known = ["owner-only", "allow-list", "any"].contains(&word.as_str());
        prop_assert_eq!(Principal::from_slug(&word).is_some(), known);
    }
}
