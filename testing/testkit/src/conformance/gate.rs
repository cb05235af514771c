//! What the gate's store promises.

use nightdesk_gate::decide::{Grant, Principal};
use nightdesk_gate::{Reach, Recipient, Refusal, RefusalNote, Snapshot};
use nightdesk_register::Access;
use nightdesk_types::TenantScope;
use nightdesk_types::limits::REFUSALS_KEPT_MAX;

use super::Harness;
use super::cast::{Cast, Person, tenant};

/// Nothing is known about a stranger.
pub async fn nothing_is_known_about_a_stranger(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    cast.person("ann").await;

    assert_eq!(snapshot(&cast, "nobody", "c1").await, Snapshot::default());
}

/// An author's agents come oldest binding first, over all tenants, and of this bot alone.
pub async fn bindings_come_oldest_first(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let [ann, bob, cid] =
        [cast.stranger("ann").await, cast.stranger("bob").await, cast.stranger("cid").await];
    for person in [&bob, &cid, &ann, &bob] {
        cast.bind(person, "u1").await;
    }
    cast.bind(&ann, "u2").await;

    assert_eq!(agents(&snapshot(&cast, "u1", "c1").await), [bob.agent, cid.agent, ann.agent]);
    assert_eq!(agents(&snapshot(&cast, "u2", "c1").await), [ann.agent]);
    cast.unbind(&bob, "u1").await;
    assert_eq!(agents(&snapshot(&cast, "u1", "c1").await), [cid.agent, ann.agent]);
    cast.bot = cast.another_bot("other-bot").await;
    assert_eq!(snapshot(&cast, "u1", "c1").await, Snapshot::default());
}

fn agents(snapshot: &Snapshot) -> Vec<nightdesk_types::AgentId> {
    snapshot.bound.iter().map(|recipient| recipient.agent).collect()
}

/// A grant is seen in its chat, one of every chat everywhere, whoever writes there.
pub async fn grants_are_seen_where_they_hold(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let bob = cast.stranger("bob").await;
    assert!(grant(&cast, &ann, "c1", Access::OwnerOnly).await);
    assert!(grant(&cast, &bob, "*", Access::Any).await);
    let anns = Grant { recipient: recipient(&ann), principal: Principal::OwnerOnly };
    let bobs = Grant { recipient: recipient(&bob), principal: Principal::Any };

    let mut in_c1 = snapshot(&cast, "nobody", "c1").await.granted;
    in_c1.sort_by_key(|grant| grant.principal == Principal::Any);
    assert_eq!(in_c1, [anns, bobs]);
    assert_eq!(snapshot(&cast, "nobody", "c2").await.granted, [bobs]);
    cast.bot = cast.another_bot("other-bot").await;
    assert_eq!(snapshot(&cast, "nobody", "c1").await.granted, []);
}

fn recipient(person: &Person) -> Recipient {
    Recipient { scope: person.scope, agent: person.agent, version: 0 }
}

/// The version moves when fewer people may reach an agent, and only that agent's.
pub async fn the_version_moves_when_fewer_may_reach(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.bind(&ann, "friend").await;
    let bob = cast.person("bob").await;
    let before = versions(&cast).await;

    cast.unbind(&ann, "friend").await;
    let after = versions(&cast).await;
    assert!(before[0] < after[0], "{before:?}, then {after:?}");
    assert_eq!(before[1], after[1], "bob's did not move");
    cast.unbind(&ann, "friend").await;
    cast.unbind(&bob, "friend").await;
    assert_eq!(versions(&cast).await, after, "nothing was taken back");
}

async fn versions(cast: &Cast<'_>) -> [i64; 2] {
    let ann = snapshot(cast, "ann", "c1").await;
    let bob = snapshot(cast, "bob", "c1").await;
    [ann.bound[0].version, bob.bound[0].version]
}

/// An agent may write where an entry came from, through the bot it came by; nobody else may.
pub async fn an_entry_lets_its_agent_answer(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    assert_eq!(reaches(&cast, &ann, "c1").await, [], "nothing came yet");
    cast.stored(&ann.says(1).in_chat("c1")).await;

    assert_eq!(reaches(&cast, &ann, "c1").await, [reach(&cast)]);
    assert_eq!(reaches(&cast, &ann, "c2").await, [], "another chat");
    assert_eq!(reaches(&cast, &bob, "c1").await, [], "another agent");
    let foreign = Person { scope: bob.scope, ..ann };
    assert_eq!(reaches(&cast, &foreign, "c1").await, [], "another tenant");
}

/// An agent may write to a chat that was granted to it.
pub async fn a_grant_lets_its_agent_write(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    grant(&cast, &ann, "c1", Access::OwnerOnly).await;
    cast.stored(&ann.says(1).in_chat("c1")).await;

    assert_eq!(reaches(&cast, &ann, "c1").await, [reach(&cast)], "once, for both reasons");
    assert_eq!(reaches(&cast, &bob, "c1").await, []);
    assert_eq!(reaches(&cast, &ann, "c2").await, []);
}

/// An agent may write first to a person bound to it, where their chat has their id; to nobody
/// else's, through no other bot, and no longer than they are bound.
pub async fn a_binding_lets_its_agent_write_to_the_person(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;

    assert_eq!(reaches(&cast, &ann, "ann").await, [reach(&cast)]);
    assert_eq!(reaches(&cast, &ann, "bob").await, [], "bound to another agent");
    let foreign = Person { scope: bob.scope, ..ann.clone() };
    assert_eq!(reaches(&cast, &foreign, "ann").await, [], "another tenant");
    cast.unbind(&ann, "ann").await;
    assert_eq!(reaches(&cast, &ann, "ann").await, [], "bound no longer");
    cast.bot = cast.another_bot("other-bot").await;
    assert_eq!(reaches(&cast, &bob, "bob").await.len(), 1);
    assert_ne!(reaches(&cast, &bob, "bob").await, [reach(&cast)], "another bot");
}

/// A grant of every chat lets its agent write first to none.
pub async fn a_grant_of_every_chat_lets_nobody_write_first(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    grant(&cast, &ann, "*", Access::Any).await;
    assert_eq!(reaches(&cast, &ann, "c1").await, []);
    assert_eq!(reaches(&cast, &ann, "*").await, []);

    cast.stored(&ann.says(1).in_chat("c1")).await;
    assert_eq!(reaches(&cast, &ann, "c1").await, [reach(&cast)], "it may answer");
}

/// What was heard lets nobody write through a bot it has nothing on any more.
pub async fn a_reach_ends_with_the_last_binding(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.bind(&ann, "friend").await;
    cast.stored(&ann.says(1)).await;

    cast.unbind(&ann, "ann").await;
    assert_eq!(reaches(&cast, &ann, "c1").await, [reach(&cast)], "the friend is still bound");
    cast.unbind(&ann, "friend").await;
    assert_eq!(reaches(&cast, &ann, "c1").await, []);
}

/// Two bots may know a chat of the same id: both are told.
pub async fn every_bot_that_knows_the_chat_is_told(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.stored(&ann.says(1)).await;
    let first = reach(&cast);
    cast.bot = cast.another_bot("other-bot").await;
    grant(&cast, &ann, "c1", Access::Any).await;

    let mut got = reaches(&cast, &ann, "c1").await;
    let mut want = [first, reach(&cast)];
    got.sort_by_key(|reach| reach.bot);
    want.sort_by_key(|reach| reach.bot);
    assert_eq!(got, want);
}

fn reach(cast: &Cast<'_>) -> Reach {
    let (platform, handle) = (cast.bot.platform.clone(), cast.bot.handle.clone());
    Reach { bot: cast.bot.id, platform, handle }
}

/// Refusals are kept per tenant in a ring: the newest are there, the oldest fall out.
pub async fn refusals_are_kept_in_a_ring(harness: &impl Harness) {
    let kept_max = usize::try_from(REFUSALS_KEPT_MAX).expect("a limit is not negative");
    let cast = Cast::of(harness).await;
    let other = tenant(harness, "other").await;
    let mut notes: Vec<_> =
        (0..kept_max).map(|number| note(&cast, cast.operator, number)).collect();
    notes.insert(7, note(&cast, other, 0));
    harness.gate().note_refusals(&notes).await.expect("note refusals");
    assert_eq!(harness.refusals(cast.operator).await, keys(0..kept_max));

    let more = [note(&cast, cast.operator, kept_max), note(&cast, cast.operator, kept_max + 1)];
    harness.gate().note_refusals(&more).await.expect("note refusals");
    assert_eq!(harness.refusals(cast.operator).await, keys(2..kept_max + 2));
    assert_eq!(harness.refusals(other).await, keys(0..1), "every tenant has a ring of its own");
}

/// Of a batch that is longer than the ring, the last ones stay.
pub async fn a_batch_may_be_longer_than_the_ring(harness: &impl Harness) {
    let kept_max = usize::try_from(REFUSALS_KEPT_MAX).expect("a limit is not negative");
    let cast = Cast::of(harness).await;
    let all = (0..kept_max + 5).map(|number| note(&cast, cast.operator, number));
    let all: Vec<RefusalNote> = all.collect();

    harness.gate().note_refusals(&all).await.expect("note refusals");
    assert_eq!(harness.refusals(cast.operator).await, keys(5..kept_max + 5));
}

fn note(cast: &Cast<'_>, scope: TenantScope, number: usize) -> RefusalNote {
    let event_key = format!("k{number}");
    RefusalNote { scope, bot: cast.bot.id, event_key, refusal: Refusal::UnboundAuthor }
}

fn keys(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|number| format!("k{number}")).collect()
}

async fn snapshot(cast: &Cast<'_>, author: &str, chat: &str) -> Snapshot {
    let snapshot = cast.harness.gate().snapshot(cast.bot.id, author, chat).await;
    snapshot.expect("read who may be reached")
}

pub(super) async fn reaches(cast: &Cast<'_>, person: &Person, chat: &str) -> Vec<Reach> {
    let reaches = cast.harness.gate().reaches(person.scope, person.agent, chat).await;
    reaches.expect("read where an agent may write")
}

/// Grants a chat; answers whether it was free.
pub(super) async fn grant(cast: &Cast<'_>, person: &Person, chat: &str, access: Access) -> bool {
    let register = cast.harness.register();
    let Person { scope, agent, .. } = *person;
    register.grant(scope, agent, cast.bot.id, (chat, access)).await.expect("grant a chat")
}
