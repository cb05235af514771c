//! Checks the promises of the store of lines.

use std::time::Duration;

use nightdesk_inbox::{AckOutcome, LineClaim, ParkReason, ReadResponse};
use nightdesk_letters::Party;
use nightdesk_line::{AuthenticatedGateway, HeldLine, LineRequest};
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_types::{GatewayId, Node, NodeEpoch, Seq, Transport};

use super::Harness;
use super::cast::{Cast, Line, Person, secret};

/// Checks that every line of an agent has a higher number than the one before, and that agents are counted separately.
pub async fn the_number_of_a_line_rises(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;

    let first = cast.line(&ann).await;
    let second = cast.line(&ann).await;
    cast.close(&second, None).await;
    let third = cast.line(&ann).await;
    let numbers = [first, second, third].map(|line| line.taken.generation);
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    assert_eq!(cast.line(&bob).await.taken.generation, numbers[0]);
}

/// Checks that a line begins at its agent's cursor, and knows the head of its inbox.
pub async fn a_line_begins_at_the_cursor(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let empty = cast.line(&ann).await;
    assert_eq!((empty.taken.acked, empty.taken.head), (Seq::new(0), Seq::new(0)));
    cast.several(&ann, 3).await;
    cast.ack(&empty, &[(1, 2)]).await;

    let line = cast.line(&ann).await;
    assert_eq!((line.taken.acked, line.taken.head), (Seq::new(2), Seq::new(3)));
    let third = cast.waiting(&line).await.swap_remove(0);
    assert!(line.taken.since <= third.at, "nothing it has not read is older");
}

/// Checks that the sessions of an agent are those that its newest open line named last.
pub async fn sessions_live_as_long_as_their_line(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    harness.lease().begin("node-1", Duration::from_mins(1)).await.expect("a node lives");
    let (first, bobs) = (cast.line(&ann).await, cast.line(&bob).await);
    assert_eq!(sessions(harness, &ann).await, [""; 0], "a line begins without any");

    tell(harness, &first.claim, &["kitchen", "cellar"]).await;
    tell(harness, &bobs.claim, &["attic"]).await;
    assert_eq!(sessions(harness, &ann).await, ["cellar", "kitchen"]);
    tell(harness, &first.claim, &["cellar"]).await;
    assert_eq!(sessions(harness, &ann).await, ["cellar"], "the newest list replaces the others");
    assert_eq!(sessions(harness, &bob).await, ["attic"], "another tenant has its own");

    let second = cast.line(&ann).await;
    assert_eq!(sessions(harness, &ann).await, [""; 0], "they were those of the older line");
    tell(harness, &first.claim, &["kitchen"]).await;
    assert_eq!(sessions(harness, &ann).await, [""; 0], "which is not the newest any more");
    tell(harness, &second.claim, &["garden"]).await;
    cast.close(&second, None).await;
    tell(harness, &second.claim, &["shed"]).await;
    let third = cast.line(&ann).await;
    assert_eq!(sessions(harness, &ann).await, [""; 0], "they ended with the line");
    cast.close(&third, None).await;
}

async fn tell(harness: &impl Harness, line: &LineClaim, names: &[&str]) {
    let names = SessionNames::from_usable(names.iter().map(|name| (*name).to_owned()));
    harness.lines().tell_sessions(line, &names).await.expect("tell the sessions");
}

async fn sessions(harness: &impl Harness, person: &Person) -> Vec<String> {
    let party = Party { scope: person.scope, agent: person.agent };
    let live = harness.letters().find_line(party).await.expect("find the line");
    let peers = harness.letters().peers(party, 10).await.expect("list the peers");
    let listed = peers.into_iter().find(|peer| peer.party == party).expect("its own name");
    assert_eq!(listed.live, live, "a list is what a look at each is");
    live.expect("the line is up").sessions.to_vec()
}

/// Checks that the dial of an unknown agent, or of another tenant, takes no line.
pub async fn an_unknown_agent_has_no_line(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let line = cast.line(&ann).await;
    let Person { agent, gateway, .. } = ann;
    let caller = AuthenticatedGateway { scope: bob.scope, agent, gateway, acks: true };
    let node = Node { name: "node-1".to_owned(), epoch: NodeEpoch::new(1) };

    let transport = Transport::WebSocket;
    let request = LineRequest { caller: &caller, node: &node, transport, rules: None };
    assert!(harness.lines().take(request).await.is_err());
    assert_eq!(
        cast.ask(line.ask()).await,
        ReadResponse::Entries(Vec::new()),
        "it still is the newest"
    );
}

/// Checks that a gateway's line learns of a restart of the desk under its previous line: its own, and only if that line
/// ended so.
pub async fn a_restart_is_told_to_its_own_gateway(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let other = other_gateway(&cast, &ann).await;
    let first = cast.line(&ann).await;
    assert_eq!(first.taken.restarted_ago, None, "there was none before");
    let second = cast.line(&ann).await;
    assert_eq!(second.taken.restarted_ago, None, "it was replaced and did not end");

    cast.restart(&first).await;
    let third = cast.line(&ann).await;
    assert_eq!(third.taken.restarted_ago, None, "the one right before is still open");
    cast.close(&third, None).await;
    let fourth = cast.line(&ann).await;
    assert_eq!(fourth.taken.restarted_ago, None, "its gateway was gone, and may be a new process");
    cast.restart(&fourth).await;
    let fifth = cast.line(&ann).await;
    assert!(fifth.taken.restarted_ago.is_some(), "the desk restarted");
    cast.restart(&fifth).await;
    let sixth = cast.line(&Person { gateway: other, ..ann }).await;
    assert_eq!(sixth.taken.restarted_ago, None, "under another gateway's");
}

pub(super) async fn other_gateway(cast: &Cast<'_>, person: &Person) -> GatewayId {
    let register = cast.harness.register();
    let secret = secret("of another gateway");
    let gateway = register.create_gateway(person.scope, person.agent, "other", &secret).await;
    gateway.expect("enter a gateway")
}

/// Checks that an entry that was handed over in vain three times is parked at the next line, and that the inbox moves
/// on.
pub async fn three_tries_park_the_oldest_entry(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 2).await;
    for _ in 0..3 {
        in_vain(&cast, &ann, 1).await;
    }

    let line = cast.line(&ann).await;
    assert_eq!(line.taken.parked, Some(Seq::new(1)));
    assert_eq!(line.taken.acked, Seq::new(1), "the cursor moved over it");
    assert_eq!(cast.numbers(&line).await, [2]);
    let aside = harness.parked(ann.scope, ann.agent).await;
    assert_eq!(aside, [(Seq::new(1), ParkReason::Tries)]);
    assert_eq!(cast.line(&ann).await.taken.parked, None, "once");
}

/// Checks that two tries are not enough, with any number of lines in between.
pub async fn two_tries_park_nothing(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 1).await;
    for _ in 0..2 {
        in_vain(&cast, &ann, 1).await;
        let other = cast.line(&ann).await;
        cast.close(&other, None).await;
    }

    let line = cast.line(&ann).await;
    assert_eq!(line.taken.parked, None);
    assert_eq!(cast.numbers(&line).await, [1]);
    in_vain(&cast, &ann, 1).await;
    assert_eq!(cast.line(&ann).await.taken.parked, Some(Seq::new(1)), "the third is enough");
}

/// Checks that a try of a replaced line counts: the client's redial is the very sign of a failure.
pub async fn a_try_of_a_replaced_line_counts(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 1).await;
    let mut before = cast.line(&ann).await;
    for _ in 0..3 {
        let line = cast.line(&ann).await;
        cast.close(&before, Some(1)).await;
        before = line;
    }

    assert_eq!(cast.line(&ann).await.taken.parked, Some(Seq::new(1)));
}

/// Checks that a try of an entry acked meanwhile does not count: neither for it nor for other tried entries.
pub async fn a_try_of_what_was_acked_does_not_count(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 3).await;
    for _ in 0..2 {
        in_vain(&cast, &ann, 1).await;
    }
    let line = cast.line(&ann).await;
    assert_eq!(cast.ack(&line, &[(1, 1), (3, 3)]).await, AckOutcome::Moved(Seq::new(1)));
    for tried in [1, 1, 3, 3, 3] {
        cast.close(&line, Some(tried)).await;
    }

    let line = cast.line(&ann).await;
    assert_eq!(line.taken.parked, None);
    assert_eq!(cast.numbers(&line).await, [2]);
    for tried in [2, 1, 2, 3, 2] {
        in_vain(&cast, &ann, tried).await;
    }
    assert_eq!(cast.line(&ann).await.taken.parked, Some(Seq::new(2)), "it was tried three times");
}

/// Checks that tries are counted for each entry separately.
pub async fn the_tries_of_another_entry_begin_anew(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.several(&ann, 2).await;
    let mut tries = Vec::new();
    for tried in [1, 1, 2, 2, 1] {
        tries.push(in_vain(&cast, &ann, tried).await);
    }

    assert!(tries.iter().all(|line| line.taken.parked.is_none()), "{tries:?}");
    let line = cast.line(&ann).await;
    assert_eq!(line.taken.parked, None);
    assert_eq!(cast.numbers(&line).await, [1, 2]);
}

/// Takes and ends a line that was in vain for an entry.
async fn in_vain(cast: &Cast<'_>, person: &Person, tried: i64) -> Line {
    let line = cast.line(person).await;
    cast.close(&line, Some(tried)).await;
    line
}

/// Checks that a tenant cannot close another tenant's line.
pub async fn nobody_closes_a_line_of_another_tenant(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    cast.several(&ann, 1).await;
    let line = cast.line(&ann).await;
    let claim = LineClaim { scope: bob.scope, ..line.claim };
    for _ in 0..3 {
        cast.close(&Line { claim, ..line }, Some(1)).await;
    }

    let next = cast.line(&ann).await;
    assert_eq!((next.taken.restarted_ago, next.taken.parked), (None, None));
}

/// Checks that an agent's line is found with its node while it is open, by its own tenant.
pub async fn the_holder_of_an_open_line_is_found(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let begun = harness.lease().begin("node-1", Duration::from_hours(1)).await;
    let node = Node { name: "node-1".to_owned(), epoch: begun.expect("a node begins") };
    let lines = harness.lines();
    let holder = async |scope, agent| lines.find_held_line(scope, agent).await.expect("find it");
    assert_eq!(holder(ann.scope, ann.agent).await, None, "no line yet");

    let line = cast.line(&ann).await;
    let held = HeldLine { claim: line.claim, gateway: ann.gateway, node };
    assert_eq!(holder(ann.scope, ann.agent).await, Some(held));
    assert_eq!(holder(bob.scope, ann.agent).await, None, "another tenant");
    cast.goes_idle(&line).await;
    assert_eq!(holder(ann.scope, ann.agent).await, None, "the line ended");
}
