//! Checks the management of an agent's reach.

use nightdesk_register::AgentReach;
use nightdesk_register::enrolment::Digest;
use nightdesk_register::issuer::IssuerSession;
use nightdesk_types::{GrantTarget, Principal, Relevance};

use crate::Harness;
use crate::cast::{Cast, Person};

async fn reach_of(harness: &impl Harness, person: &Person) -> AgentReach {
    let reach = harness.register().reach_of(person.scope, person.agent).await;
    reach.expect("read an agent's reach")
}

/// Checks that an agent's reach has all of its own rows, and none of another agent's.
pub async fn an_agents_reach_is_its_own(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let (on, register) = (cast.on_bot(&ann), harness.register());
    let hall = GrantTarget::for_chat(Some("guild"), "hall");
    assert!(register.grant(on, &hall, Some(Principal::Any)).await.expect("grant a chat"));
    register.list(on, &["eve".to_owned()]).await.expect("replace a list");
    let policy = Relevance { require_address: true, ..Relevance::default() };
    register.declare(ann.scope, ann.agent, "discord", &policy).await.expect("declare");

    let expected = AgentReach {
        principal: Principal::OwnerOnly,
        people: vec![(cast.bot.id, "ann".to_owned())],
        grants: vec![(cast.bot.id, hall, Principal::Any)],
        listed: vec![(cast.bot.id, "eve".to_owned())],
        relevance: vec![("discord".to_owned(), policy)],
    };
    assert_eq!(reach_of(harness, &ann).await, expected);
    let bobs = reach_of(harness, &bob).await;
    assert_eq!(bobs.people, [(cast.bot.id, "bob".to_owned())]);
    assert_eq!((bobs.grants, bobs.listed, bobs.relevance), (vec![], vec![], vec![]));
    let foreign = register.reach_of(bob.scope, ann.agent).await;
    assert!(foreign.is_err(), "another tenant's agent is none");
}

/// Checks that a bot is open to its operator's tenant, and to others when it is shared.
pub async fn a_bot_is_open_to_its_own_and_when_shared_to_all(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let open = async |scope| {
        let open = harness.register().open_bots(scope).await.expect("find open bots");
        open.into_iter().map(|bot| (bot.id, bot.is_own)).collect::<Vec<_>>()
    };

    assert_eq!(open(cast.operator).await, [(cast.bot.id, true)]);
    assert_eq!(open(ann.scope).await, []);
    let shared = harness.register().share(cast.operator, cast.bot.id, true).await;
    assert!(shared.expect("share a bot"));
    assert_eq!(open(ann.scope).await, [(cast.bot.id, false)]);
}

/// Checks that a deprovisioned agent has no access and no gateway, and that others are not touched.
pub async fn a_deprovisioned_agent_has_nothing_left(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let (on, register) = (cast.on_bot(&ann), harness.register());
    register.grant(on, &GrantTarget::for_chat(None, "c1"), None).await.expect("grant a chat");
    register.list(on, &["eve".to_owned()]).await.expect("replace a list");
    register
        .enter_code(ann.scope, ann.agent, &Digest::from_secret("c"))
        .await
        .expect("enter a code");
    let session = IssuerSession { issuer: None, id: "s1".to_owned() };
    let begun = register.begin_session(ann.scope, ann.agent, &session, None).await;
    assert!(begun.expect("begin a session"));
    let before = harness.gate().read_changes(cast.bot.id, None).await.expect("read").version;

    let revoked = register.deprovision(ann.scope, ann.agent).await.expect("deprovision");
    assert_eq!(revoked, [ann.gateway]);
    let reach = reach_of(harness, &ann).await;
    assert_eq!((reach.people, reach.grants, reach.listed), (vec![], vec![], vec![]));
    let named = register.gateways_named("ann").await.expect("find gateways");
    assert!(named.iter().all(|secret| secret.revoked));
    let after = harness.gate().read_changes(cast.bot.id, None).await.expect("read");
    assert!(after.version > before, "every node is told");
    assert_eq!(after.authors, [("bob".to_owned(), vec![(bob.scope, bob.agent)])]);
    let redeemed =
        register.redeem(cast.bot.id, "u1", &Digest::from_secret("c")).await.expect("link");
    assert_eq!(redeemed, nightdesk_register::RedeemResult::Unknown);
    let of_session = register.agent_of_session(ann.scope, &session).await;
    assert_eq!(of_session.expect("find a session"), None, "no token is given out for it");
    let again = register.deprovision(ann.scope, ann.agent).await.expect("deprovision");
    assert_eq!(again, [], "there is nothing left to revoke");
    let foreign = register.deprovision(ann.scope, bob.agent).await;
    assert!(foreign.is_err() || foreign.is_ok_and(|revoked| revoked.is_empty()));
    assert_eq!(reach_of(harness, &bob).await.people.len(), 1);
}

/// Checks that an agent may stop other agents only after it was allowed, and only by its own tenant.
pub async fn an_agent_stops_others_only_if_it_may(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.stranger("ann").await, cast.stranger("bob").await);
    let register = harness.register();
    let may = async |person: &Person| {
        register.may_stop_others(person.scope, person.agent).await.expect("read what it may")
    };
    let allow = async |scope, agent, may| {
        register.let_stop_others(scope, agent, may).await.expect("say what it may")
    };

    assert!(!may(&ann).await);
    assert!(!allow(bob.scope, ann.agent, true).await, "another tenant's agent");
    assert!(!may(&ann).await);
    assert!(allow(ann.scope, ann.agent, true).await);
    assert_eq!((may(&ann).await, may(&bob).await), (true, false));
    let foreign = register.may_stop_others(bob.scope, ann.agent).await;
    assert!(!foreign.expect("read what it may"), "it is not an agent of this tenant");
    assert!(allow(ann.scope, ann.agent, false).await);
    assert!(!may(&ann).await);
}

/// Checks that each tenant decides if its gateways may widen their reach, and that the default is no.
pub async fn a_tenant_says_what_its_gateways_may(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.stranger("ann").await, cast.stranger("bob").await);
    let register = harness.register();
    let may = async |scope| register.gateways_may_widen(scope).await.expect("read what they may");

    assert!(!may(ann.scope).await);
    register.let_gateways_widen(ann.scope, true).await.expect("say what they may");
    assert_eq!((may(ann.scope).await, may(bob.scope).await), (true, false));
    register.let_gateways_widen(ann.scope, false).await.expect("say what they may");
    assert!(!may(ann.scope).await);
}
