//! Promises of the store of letters about batches and addresses.

use nightdesk_gate::LetterGrants;
use nightdesk_letters::{
    AddressQuery, GrantedPeer, LetterState, NamedAgent, NewLetter, Party, PostingOutcome,
};
use nightdesk_types::{AgentId, LetterId, Quota, Seq};
use uuid::Uuid;

use super::{letter, pair, party, put_together, state};
use crate::Harness;
use crate::cast::{Cast, id_of};

/// Each letter of a batch has its own outcome, and a refused letter does not affect the others.
pub async fn a_batch_has_an_outcome_for_each_letter(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let bob = party(&cast.person("bob").await);
    let nobody = Party { agent: AgentId::from_uuid(Uuid::max()), ..from };
    let out = NewLetter { by_outlet: true, ..letter(from, to, "out") };
    let again = NewLetter {
        id: LetterId::from_uuid(id_of("letter", "again in the batch")),
        ..letter(from, to, "d1")
    };
    let batch = [
        letter(from, to, "d1"),
        letter(from, bob, "d1"),
        letter(from, nobody, "d1"),
        again,
        out.clone(),
        letter(from, from, "d1"),
        letter(from, to, "d2"),
    ];

    let puts = put_together(harness, &batch).await;
    assert!(
        matches!(puts[0], PostingOutcome::Stored { seq, .. } if seq == Seq::new(1)),
        "{:?}",
        puts[0]
    );
    assert_eq!((&puts[1], &puts[2]), (&PostingOutcome::NotGranted, &PostingOutcome::Unknown));
    assert!(
        matches!(&puts[3], PostingOutcome::Duplicate(first) if first.id == batch[0].id),
        "{:?}",
        puts[3]
    );
    assert_eq!(puts[4], PostingOutcome::Noted);
    assert!(
        matches!(puts[5], PostingOutcome::Stored { seq, .. } if seq == Seq::new(1)),
        "{:?}",
        puts[5]
    );
    assert!(
        matches!(puts[6], PostingOutcome::Stored { seq, .. } if seq == Seq::new(2)),
        "{:?}",
        puts[6]
    );
    assert_eq!(state(harness, &out).await, LetterState::Put);
}

/// Letters of one batch share the quota of their inbox, and count each other's hops.
pub async fn letters_of_one_batch_count_for_each_other(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let two = harness.register().set_quota(to.scope, Quota::PendingEntries, 2).await;
    two.expect("set a quota");
    let batch = [
        letter(from, to, "d1"),
        letter(to, from, "d2"),
        letter(from, to, "d3"),
        letter(from, to, "d4"),
    ];

    let puts = put_together(harness, &batch).await;
    let stored = puts.iter().filter(|put| matches!(put, PostingOutcome::Stored { .. })).count();
    assert_eq!((stored, &puts[3]), (3, &PostingOutcome::Full));
    let mut hops = Vec::new();
    for letter in &batch[..3] {
        let found = harness.letters().letter(letter.from, letter.id).await.expect("look");
        hops.push(found.expect("it is there").hop);
    }
    assert_eq!(hops, [1, 2, 3]);
}

/// Concurrent batches for the same inboxes complete in any order of their letters, without a deadlock.
pub async fn batches_that_cross_each_other_all_end(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, one, other) = pair(&cast).await;
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..8 {
        let mut batch = [letter(one, one, &format!("a{n}")), letter(one, other, &format!("b{n}"))];
        if n % 2 == 0 {
            batch.reverse();
        }
        let (letters, postings) =
            (harness.letters(), batch.iter().map(super::posting).collect::<Vec<_>>());
        tasks.spawn(async move { letters.put(&postings).await });
    }

    for done in tasks.join_all().await {
        let puts = done.expect("no deadlock");
        let is_settled = |put: &PostingOutcome| {
            matches!(put, PostingOutcome::Stored { .. } | PostingOutcome::TooManyHops)
        };
        assert!(puts.iter().all(is_settled), "{puts:?}");
    }
}

/// An address names an agent of the sender's tenant by id or name, or an agent of another tenant by id.
pub async fn an_address_names_one_agent(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, own, other) = pair(&cast).await;
    let (bob, carol) = (party(&cast.person("bob").await), party(&cast.person("carol").await));
    let letters = harness.letters();
    for (one, other) in [(own, bob), (bob, own), (own, carol)] {
        letters.grant(one, other).await.expect("grant");
    }
    let query = |agent: String| AddressQuery { from: own, agent };
    let queries = [
        query("other".to_owned()),
        query(other.agent.to_string().to_uppercase()),
        query("nobody".to_owned()),
        query(bob.agent.to_string()),
        query(carol.agent.to_string()),
        query(Uuid::max().to_string()),
        AddressQuery { from: bob, agent: "other".to_owned() },
    ];

    let facts = letters.resolve_addresses(&queries).await.expect("look up");
    let named = Some(NamedAgent { id: other.agent, name: "other".to_owned() });
    let own_agents: Vec<_> = facts.iter().map(|facts| facts.own.clone()).collect();
    assert_eq!(own_agents, [named.clone(), named, None, None, None, None, None]);
    let granted = |party, by_recipient| {
        Some(GrantedPeer { party, grants: LetterGrants { by_sender: true, by_recipient } })
    };
    let peers: Vec<_> = facts.iter().map(|facts| facts.peer).collect();
    assert_eq!(
        peers,
        [None, None, None, granted(bob, true), granted(carol, false), None, None],
        "one side is told as one side"
    );
    assert_eq!(facts[0].sender.as_deref(), Some("ann"));
    assert_eq!(facts[6].sender.as_deref(), Some("bob"));
    drop(ann);
}
