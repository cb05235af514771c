//! Promises of the store of letters about lists.

use std::time::Duration;

use nightdesk_letters::{LetterState, Party, Peer};

use super::{letter, pair, party, state, stored, waited_for};
use crate::cast::Cast;
use crate::{Harness, TimedHarness};

/// Only the sender can see a letter.
pub async fn letters_are_shown_to_their_sender_alone(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    let bob = party(&cast.person("bob").await);
    let letter = letter(from, to, "d1");
    stored(harness, &letter).await;

    for other in [to, bob, Party { agent: from.agent, ..bob }] {
        let letters = harness.letters();
        assert_eq!(letters.letter(other, letter.id).await.expect("look"), None);
        assert!(letters.letters(other, None).await.expect("list").is_empty());
    }
}

/// Letters are listed newest first.
pub async fn letters_are_listed_newest_first(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (_, to, from) = pair(&cast).await;
    for name in ["d1", "d2", "d3"] {
        stored(harness, &letter(from, to, name)).await;
    }

    let letters = harness.letters();
    let all = letters.letters(from, None).await.expect("list");
    let mut names: Vec<_> = all.iter().map(|letter| letter.dispatch_id.as_str()).collect();
    let rest = letters.letters(from, Some(all[0].id)).await.expect("list");
    assert_eq!(rest, all[1..]);
    names.sort_unstable();
    assert_eq!(names, ["d1", "d2", "d3"]);
    assert!(all.windows(2).all(|two| two[0].sent_at >= two[1].sent_at));
}

/// A list shows timeouts and acks as a query for each letter does.
pub async fn a_list_is_what_a_look_at_each_letter_is(harness: &impl TimedHarness) {
    let cast = Cast::of(harness).await;
    let (ann, to, from) = pair(&cast).await;
    let bob = party(&cast.person("bob").await);
    for (one, other) in [(from, bob), (bob, from)] {
        harness.letters().grant(one, other).await.expect("grant");
    }
    let waited = waited_for(from, to, "waited for", Duration::from_secs(1));
    for letter in [&letter(from, to, "acked"), &waited, &letter(from, bob, "abroad")] {
        stored(harness, letter).await;
    }
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 1)]).await;
    harness.let_pass(Duration::from_secs(2)).await;

    let listed = harness.letters().letters(from, None).await.expect("list");
    assert_eq!(listed.len(), 3);
    for letter in &listed {
        let looked = harness.letters().letter(from, letter.id).await.expect("look");
        assert_eq!(looked.as_ref(), Some(letter));
    }
    assert!(listed.iter().any(|letter| letter.dispatch_id == "acked" && letter.is_acked));
    assert_eq!(state(harness, &waited).await, LetterState::TimedOut);
}

/// The peers of an agent are its tenant's agents and those with grants from both sides, each with its connection.
pub async fn whom_an_agent_can_write_to_is_told_with_who_is_up(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, own, other) = pair(&cast).await;
    let (bob, carol) = (party(&cast.person("bob").await), party(&cast.person("carol").await));
    let letters = harness.letters();
    for (one, other) in [(own, bob), (bob, own), (own, carol)] {
        letters.grant(one, other).await.expect("grant");
    }
    harness.lease().begin("node-1", Duration::from_mins(1)).await.expect("a node lives");
    let line = cast.line(&ann).await;

    let peers = letters.peers(own, 10).await.expect("look");
    let told = |peer: &Peer| (peer.party, peer.name.clone(), peer.live.is_some());
    let name = |name: &str| Some(name.to_owned());
    let want = [(own, name("ann"), true), (other, name("other"), false), (bob, None, false)];
    assert_eq!(peers.iter().map(told).collect::<Vec<_>>(), want);
    assert_eq!(letters.peers(own, 1).await.expect("look").len(), 1);
    let theirs: Vec<Party> =
        letters.peers(carol, 10).await.expect("look").iter().map(|peer| peer.party).collect();
    assert_eq!(theirs, [carol], "one side is not enough");
    cast.close(&line, None).await;
}
