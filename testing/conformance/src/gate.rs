//! Checks the promises of the gate's store.

use std::collections::BTreeSet;

use nightdesk_gate::bot_reach::{AgentTerms, BotReach, ScopedAgent};
use nightdesk_gate::{BotPrompt, EventFacts, EventPlace, Reach, ReachChange};
use nightdesk_types::{ClientRules, GrantTarget, Principal, Relevance};

mod clients;
mod moderation;
mod refusals;

pub use clients::*;
pub use moderation::*;
pub use refusals::*;

use super::Harness;
use super::cast::{Cast, Person};

/// Checks that the snapshot of a new bot is empty.
pub async fn nothing_is_known_about_a_new_bot(harness: &impl Harness) {
    let cast = Cast::of(harness).await;

    let nothing = ReachChange { is_whole: true, ..ReachChange::default() };
    assert_eq!(everything(&cast).await, nothing);
    assert_eq!(since(&cast, 0).await, ReachChange { is_whole: false, ..nothing });
}

/// Checks that an author's agents come oldest binding first, over all tenants, and for this bot only.
pub async fn bindings_come_oldest_first(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let [ann, bob, cid] =
        [cast.stranger("ann").await, cast.stranger("bob").await, cast.stranger("cid").await];
    for person in [&bob, &cid, &ann, &bob] {
        cast.bind(person, "u1").await;
    }
    cast.bind(&ann, "u2").await;

    assert_eq!(agents_of(&cast, "u1").await, [agent(&bob), agent(&cid), agent(&ann)]);
    assert_eq!(agents_of(&cast, "u2").await, [agent(&ann)]);
    cast.unbind(&bob, "u1").await;
    assert_eq!(agents_of(&cast, "u1").await, [agent(&cid), agent(&ann)]);
    cast.bot = cast.another_bot("other-bot").await;
    assert_eq!(agents_of(&cast, "u1").await, []);
}

/// Checks that the agent that was preferred last comes before the others.
pub async fn the_agent_preferred_last_comes_first(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let [ann, bob, cid] =
        [cast.stranger("ann").await, cast.stranger("bob").await, cast.stranger("cid").await];
    for person in [&ann, &bob, &cid] {
        cast.bind(person, "u1").await;
    }
    let register = harness.register();
    let prefer = async |person: &Person, author: &str| {
        register.prefer(cast.on_bot(person), author).await.expect("prefer an agent")
    };

    assert!(prefer(&cid, "u1").await);
    assert_eq!(agents_of(&cast, "u1").await, [agent(&cid), agent(&ann), agent(&bob)]);
    assert!(prefer(&bob, "u1").await);
    assert_eq!(agents_of(&cast, "u1").await, [agent(&bob), agent(&cid), agent(&ann)]);
    assert!(!prefer(&bob, "u2").await, "nobody prefers an agent they are not bound to");
}

/// Checks that a prompt id belongs to the first agent that used it, on its bot only. That agent may use it again.
pub async fn a_prompt_is_its_first_askers(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let [ann, bob] = [cast.stranger("ann").await, cast.stranger("bob").await];
    let other = cast.another_bot("other-bot").await;
    let gate = harness.gate();
    let asks = async |person: &Person, bot| {
        let prompt = BotPrompt { bot, id: "a1b2c3.01234567" };
        gate.record_prompt(person.scope, person.agent, prompt).await.expect("ask")
    };
    let asker = async |bot, id| {
        gate.find_prompt_agent(BotPrompt { bot, id }).await.expect("find who asked")
    };

    assert!(asks(&ann, cast.bot.id).await);
    assert!(asks(&ann, cast.bot.id).await, "a repeat is the same");
    assert!(!asks(&bob, cast.bot.id).await, "it is somebody else's");
    assert!(asks(&bob, other.id).await, "another bot is another place");
    assert_eq!(asker(cast.bot.id, "a1b2c3.01234567").await, Some(agent(&ann)));
    assert_eq!(asker(other.id, "a1b2c3.01234567").await, Some(agent(&bob)));
    assert_eq!(asker(cast.bot.id, "a1b2c3.76543210").await, None);
}

/// Checks that a grant is known with the authors that may reach its agent there, on its bot only.
pub async fn grants_are_known_where_they_hold(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let bob = cast.stranger("bob").await;
    let scoped = GrantTarget::for_chat(Some("g1"), "c2");
    assert!(grant(&cast, &ann, "c1", Principal::OwnerOnly).await);
    assert!(grant(&cast, &bob, "*", Principal::Any).await);
    let register = harness.register();
    let granted = register.grant(cast.on_bot(&ann), &scoped, Some(Principal::AllowList)).await;
    assert!(granted.expect("grant a chat"));

    let mut want = vec![
        (GrantTarget::for_chat(None, "c1"), Some((agent(&ann), Principal::OwnerOnly))),
        (scoped, Some((agent(&ann), Principal::AllowList))),
        (GrantTarget::Bot, Some((agent(&bob), Principal::Any))),
    ];
    let mut got = everything(&cast).await.grants;
    got.sort_by(|(one, _), (other, _)| one.cmp(other));
    want.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert_eq!(got, want);
    cast.bot = cast.another_bot("other-bot").await;
    assert_eq!(everything(&cast).await.grants, []);
}

/// Checks that a chat belongs to one agent in any scope, and so does a scope, and a bot.
pub async fn what_is_granted_belongs_to_one_agent(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let bob = cast.stranger("bob").await;
    let claims = async |person: &Person, scope: Option<&str>, chat: &str| {
        let granted = GrantTarget::for_chat(scope, chat);
        let granted = harness.register().grant(cast.on_bot(person), &granted, None).await;
        granted.expect("grant a chat")
    };
    for (scope, chat) in [(Some("g1"), "c1"), (Some("g1"), "*"), (None, "*"), (None, "c2")] {
        assert!(claims(&ann, scope, chat).await, "{scope:?} {chat} is free");
        assert!(!claims(&bob, scope, chat).await, "{scope:?} {chat} is taken");
        assert!(!claims(&ann, scope, chat).await, "{scope:?} {chat} was given");
    }

    assert!(!claims(&bob, Some("g2"), "c1").await, "the same chat under another name");
    assert!(!claims(&bob, Some("g1"), "c2").await, "nor under its whole one");
    assert!(claims(&bob, Some("g2"), "*").await, "another scope");
    let c1 = GrantTarget::for_chat(Some("g1"), "c1");
    let release = async |person: &Person| {
        harness.register().release(cast.on_bot(person), &c1).await.expect("release a grant")
    };
    assert!(!release(&bob).await, "what is another's");
    assert!(release(&ann).await);
    assert!(!release(&ann).await, "it is gone");
    assert!(claims(&bob, Some("g1"), "c1").await, "it is free again");
}

/// Checks that a grant without a principal takes the agent's own, and follows its changes.
pub async fn an_agents_principal_holds_for_its_grants(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let register = harness.register();
    let principals = async || {
        let mut grants = everything(&cast).await.grants;
        grants.sort_by(|(one, _), (other, _)| one.cmp(other));
        let held = grants.into_iter().filter_map(|(_, held)| held);
        held.map(|(_, principal)| principal).collect::<Vec<_>>()
    };
    let claim = async |chat: &str| {
        let granted = GrantTarget::for_chat(None, chat);
        register.grant(cast.on_bot(&ann), &granted, None).await.expect("grant a chat");
    };
    claim("c1").await;
    assert_eq!(principals().await, [Principal::OwnerOnly], "by default");

    let open_to = register.open_to(ann.scope, ann.agent, Principal::AllowList).await;
    open_to.expect("say who may reach an agent");
    claim("c2").await;
    assert_eq!(principals().await, [Principal::AllowList; 2]);
}

/// Checks an agent's terms: its list, its owner, and its relevance rules on that platform.
pub async fn terms_are_known_by_bot_and_platform(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    grant(&cast, &ann, "c1", Principal::AllowList).await;
    let relevance = Relevance {
        require_address: true,
        free_scopes: vec!["c7".to_owned(), "g1".to_owned()],
        allow_other_bots: true,
        ..Relevance::default()
    };
    let register = harness.register();
    register.list(cast.on_bot(&ann), &["u1".to_owned(), "u2".to_owned()]).await.expect("list");
    register.list(cast.on_bot(&ann), &["u2".to_owned(), "u3".to_owned()]).await.expect("list");
    let declare = async |platform: &str, relevance: &Relevance| {
        register.declare(ann.scope, ann.agent, platform, relevance).await.expect("declare");
    };
    declare(&cast.bot.platform, &relevance).await;
    declare("another-platform", &Relevance::default()).await;

    let terms = terms(&cast, &ann).await;
    assert_eq!(terms.listed, BTreeSet::from(["u2".to_owned(), "u3".to_owned()]), "replaced");
    assert_eq!((terms.owners, terms.relevance), (vec!["ann".to_owned()], relevance));
    cast.bot = cast.another_bot("other-bot").await;
    grant(&cast, &ann, "c1", Principal::Any).await;
    let elsewhere = self::terms(&cast, &ann).await;
    assert_eq!((elsewhere.listed.len(), elsewhere.owners.len()), (0, 0), "of the other bot");
}

/// Checks that an agent's version moves with every change of its access, and only that agent's.
pub async fn the_version_moves_with_every_change(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let (on, register) = (cast.on_bot(&ann), harness.register());
    let bobs = version(&cast, &bob).await;
    let mut seen = vec![version(&cast, &ann).await];
    let c1 = GrantTarget::for_chat(None, "c1");
    let relevance = Relevance { require_address: true, ..Relevance::default() };

    cast.bind(&ann, "friend").await;
    seen.push(version(&cast, &ann).await);
    register.prefer(on, "friend").await.expect("prefer");
    seen.push(version(&cast, &ann).await);
    cast.unbind(&ann, "friend").await;
    seen.push(version(&cast, &ann).await);
    register.grant(on, &c1, Some(Principal::OwnerOnly)).await.expect("grant");
    seen.push(version(&cast, &ann).await);
    register.open_to(ann.scope, ann.agent, Principal::Any).await.expect("open");
    seen.push(version(&cast, &ann).await);
    register.list(on, &["u1".to_owned()]).await.expect("list");
    seen.push(version(&cast, &ann).await);
    register.declare(ann.scope, ann.agent, &cast.bot.platform, &relevance).await.expect("declare");
    seen.push(version(&cast, &ann).await);
    let follow = async || {
        let rules = ClientRules::Hermes020;
        register.follow_rules(ann.scope, ann.agent, rules).await.expect("follow the rules");
    };
    follow().await;
    seen.push(version(&cast, &ann).await);
    register.release(on, &c1).await.expect("release");
    seen.push(version(&cast, &ann).await);
    assert!(seen.is_sorted_by(|one, next| one < next), "{seen:?}");

    cast.unbind(&ann, "friend").await;
    cast.bind(&ann, "ann").await;
    register.release(on, &c1).await.expect("release");
    register.declare(ann.scope, ann.agent, &cast.bot.platform, &relevance).await.expect("declare");
    follow().await;
    assert_eq!(version(&cast, &ann).await, seen[seen.len() - 1], "nothing changed");
    assert_eq!(version(&cast, &bob).await, bobs, "bob's did not move");
}

/// Checks that a reader of a version gets the changes since, and the list of changed bots.
pub async fn what_changed_since_is_told(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let seen = everything(&cast).await.version;
    assert_eq!(changed(&cast, seen).await, []);
    cast.unbind(&ann, "ann").await;
    grant(&cast, &ann, "c1", Principal::Any).await;

    assert_eq!(changed(&cast, seen).await, [cast.bot.id]);
    let change = since(&cast, seen).await;
    assert!(!change.is_whole);
    assert_eq!(change.authors, [("ann".to_owned(), vec![])], "bob is no news");
    let want = [(GrantTarget::for_chat(None, "c1"), Some((agent(&ann), Principal::Any)))];
    assert_eq!(change.grants, want);
    assert!(change.agents.iter().all(|(of, _)| *of == agent(&ann)));
    assert_eq!(changed(&cast, change.version).await, []);
    let later = since(&cast, change.version + 7).await;
    assert!(later.is_whole, "a version that never was is answered with everything");
    assert_eq!(later.authors, [("bob".to_owned(), vec![agent(&bob)])]);
}

/// Checks that a reader that takes change after change has the same snapshot as one that reads everything at the end.
pub async fn who_keeps_up_knows_everything(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let people = [cast.stranger("ann").await, cast.stranger("bob").await];
    let mut kept_up = BotReach::default();
    kept_up.apply(everything(&cast).await);
    let register = harness.register();
    for step in 0..24 {
        let person = &people[step % 2];
        let (on, author) = (cast.on_bot(person), format!("u{}", step % 3));
        let granted = GrantTarget::for_chat((step % 4 == 0).then_some("g1"), ["c1", "*"][step % 2]);
        match step % 8 {
            0 | 3 => cast.bind(person, &author).await,
            1 | 2 => drop(register.grant(on, &granted, Some(Principal::Any)).await.expect("grant")),
            4 => cast.unbind(person, &author).await,
            5 => drop(register.release(on, &granted).await.expect("release")),
            6 => register.list(on, std::slice::from_ref(&author)).await.expect("list"),
            _ => register
                .open_to(person.scope, person.agent, Principal::AllowList)
                .await
                .expect("open"),
        }
        let mut whole = BotReach::default();
        whole.apply(everything(&cast).await);
        kept_up.apply(since(&cast, kept_up.version()).await);
        for (author, chat) in [("u0", "c1"), ("u1", "c1"), ("u2", "c9"), ("u9", "c9")] {
            let place = EventPlace { scope: Some("g1"), chat, parent: None, is_direct: false };
            let facts = EventFacts {
                author,
                is_program: false,
                is_addressed: false,
                takes_part: false,
                place,
            };
            let (got, want) = (kept_up.decide(&facts, None), whole.decide(&facts, None));
            assert_eq!(got, want, "{author} in {chat} after step {step}");
        }
    }
}

const fn agent(person: &Person) -> ScopedAgent {
    (person.scope, person.agent)
}

async fn everything(cast: &Cast<'_>) -> ReachChange {
    let change = cast.harness.gate().read_changes(cast.bot.id, None).await;
    change.expect("read who may be reached")
}

async fn since(cast: &Cast<'_>, version: i64) -> ReachChange {
    let change = cast.harness.gate().read_changes(cast.bot.id, Some(version)).await;
    change.expect("read what changed")
}

async fn changed(cast: &Cast<'_>, version: i64) -> Vec<nightdesk_types::BotId> {
    let changed = cast.harness.gate().changed_bots(&[(cast.bot.id, version)]).await;
    changed.expect("read where something changed")
}

async fn agents_of(cast: &Cast<'_>, author: &str) -> Vec<ScopedAgent> {
    let authors = everything(cast).await.authors;
    let own = authors.into_iter().find(|(known, _)| known == author);
    own.map(|(_, agents)| agents).unwrap_or_default()
}

async fn terms(cast: &Cast<'_>, person: &Person) -> AgentTerms {
    let agents = everything(cast).await.agents;
    let own = agents.into_iter().find(|(known, _)| *known == agent(person));
    own.map(|(_, terms)| terms).expect("the agent has something there")
}

async fn version(cast: &Cast<'_>, person: &Person) -> i64 {
    terms(cast, person).await.version
}

/// Checks that only an entry's agent may write to its chat, through its bot.
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

/// Checks that an agent may write to a chat that was granted to it.
pub async fn a_grant_lets_its_agent_write(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    grant(&cast, &ann, "c1", Principal::OwnerOnly).await;
    cast.stored(&ann.says(1).in_chat("c1")).await;

    assert_eq!(reaches(&cast, &ann, "c1").await, [reach(&cast)], "once, for both reasons");
    assert_eq!(reaches(&cast, &bob, "c1").await, []);
    assert_eq!(reaches(&cast, &ann, "c2").await, []);
}

/// Checks that an agent may write first to a bound person whose private chat has their id: to no other person, through
/// no other bot, and only while they are bound.
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

/// Checks that a grant of every chat does not let its agent write first.
pub async fn a_grant_of_every_chat_lets_nobody_write_first(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    grant(&cast, &ann, "*", Principal::Any).await;
    assert_eq!(reaches(&cast, &ann, "c1").await, []);
    assert_eq!(reaches(&cast, &ann, "*").await, []);

    cast.stored(&ann.says(1).in_chat("c1")).await;
    assert_eq!(reaches(&cast, &ann, "c1").await, [reach(&cast)], "it may answer");
}

/// Checks that past messages give no access through a bot on which the agent has no binding or grant any more.
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

/// Checks that both bots are returned if two bots know a chat of the same id.
pub async fn every_bot_that_knows_the_chat_is_told(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.stored(&ann.says(1)).await;
    let first = reach(&cast);
    cast.bot = cast.another_bot("other-bot").await;
    grant(&cast, &ann, "c1", Principal::Any).await;

    let mut got = reaches(&cast, &ann, "c1").await;
    let mut want = [first, reach(&cast)];
    got.sort_by_key(|reach| reach.bot);
    want.sort_by_key(|reach| reach.bot);
    assert_eq!(got, want);
}

fn reach(cast: &Cast<'_>) -> Reach {
    let (platform, handle) = (cast.bot.platform.clone(), cast.bot.handle.clone());
    Reach { bot: cast.bot.id, platform, handle, speaks_as: None, is_moderator: false }
}

pub(super) async fn reaches(cast: &Cast<'_>, person: &Person, chat: &str) -> Vec<Reach> {
    let reaches = cast.harness.gate().find_reaches(person.scope, person.agent, chat).await;
    reaches.expect("read where an agent may write")
}

/// Grants a chat. Returns true if it was free.
pub(super) async fn grant(
    cast: &Cast<'_>,
    person: &Person,
    chat: &str,
    principal: Principal,
) -> bool {
    let (on, granted) = (cast.on_bot(person), GrantTarget::for_chat(None, chat));
    let free = cast.harness.register().grant(on, &granted, Some(principal)).await;
    free.expect("grant a chat")
}
