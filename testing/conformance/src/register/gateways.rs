//! Checks gateways and their secrets.

use std::time::Duration;

use nightdesk_register::{Gateway, GatewayProof, StoredSecret};
use nightdesk_types::GatewayId;

use crate::Harness;
use crate::cast::{Cast, Person, secret};

const HOUR: Duration = Duration::from_hours(1);

/// Checks that a gateway is found by its name, with its sealed secret and its tenant's key.
pub async fn a_gateway_is_found_by_its_name(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;

    let found = named(harness, "ann").await;
    let Person { scope, agent, gateway: id, .. } = ann;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].gateway, Gateway { scope, id, agent, acks: true });
    let sealed = secret("ann");
    assert_eq!((found[0].secret_id, &found[0].sealed), (sealed.id, &sealed.sealed));
    let (_, wrapped) = harness.register().data_key(scope).await.expect("read a tenant's key");
    assert_eq!(found[0].wrapped, wrapped, "the tenant was entered with it");
    assert!(!found[0].revoked && !found[0].expired);
    assert_eq!(named(harness, "nobody").await.len(), 0);
}

/// Checks that two tenants may use the same name, and that one may not use it twice.
pub async fn two_tenants_may_use_the_same_gateway_name(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let bob = cast.stranger("bob").await;
    let register = harness.register();
    let mut want = Vec::new();
    for person in [&ann, &bob] {
        let secret = secret(&format!("{}'s second", person.author));
        let gateway = register.create_gateway(person.scope, person.agent, "gw", &secret).await;
        want.push((person.scope, gateway.expect("enter a gateway"), secret.id));
    }

    let found = named(harness, "gw").await;
    let whose = |one: &StoredSecret| (one.gateway.scope, one.gateway.id, one.secret_id);
    let mut got: Vec<_> = found.iter().map(whose).collect();
    got.sort();
    want.sort();
    assert_eq!(got, want);
    let third = secret("a third");
    assert!(register.create_gateway(ann.scope, ann.agent, "gw", &third).await.is_err());
    let foreign = register.create_gateway(bob.scope, ann.agent, "new", &third).await;
    assert!(foreign.is_err(), "the agent is another tenant's");
}

/// Checks that a new secret is valid at once, and that the old one is valid during the overlap and then expired.
pub async fn a_rotated_secret_overlaps_with_the_new_one(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let rotated = rotate(harness, &ann, "new", HOUR).await;
    assert_eq!(rotated, Some(ann.gateway));
    assert_eq!(expired(harness).await, [("ann", false), ("new", false)]);

    rotate(harness, &ann, "newest", Duration::ZERO).await;
    assert_eq!(expired(harness).await, [("ann", true), ("new", true), ("newest", false)]);
    rotate(harness, &ann, "last", HOUR).await;
    let want = [("ann", true), ("last", false), ("new", true), ("newest", false)];
    assert_eq!(expired(harness).await, want, "a secret whose time is over stays so");
}

/// Checks that only the tenant's own gateway is rotated, and only while it is not revoked.
pub async fn only_a_live_gateway_is_rotated(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let foreign = Person { scope: bob.scope, ..ann.clone() };

    assert_eq!(rotate(harness, &foreign, "new", HOUR).await, None);
    revoke(harness, &ann).await;
    assert_eq!(rotate(harness, &ann, "new", HOUR).await, None);
    assert_eq!(expired(harness).await, [("ann", false)]);
}

/// Checks that a revoked gateway is marked and still found: its token must prove that it existed.
pub async fn a_revoked_gateway_is_still_found(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let foreign = Person { scope: bob.scope, ..ann.clone() };
    assert!(!revoke(harness, &foreign).await, "it is another tenant's");
    assert_eq!(revoked_lately(harness).await, []);

    assert!(revoke(harness, &ann).await);
    assert!(revoke(harness, &ann).await, "again");
    assert!(named(harness, "ann").await[0].revoked);
    assert!(!named(harness, "bob").await[0].revoked);
    assert_eq!(revoked_lately(harness).await, [ann.gateway]);
}

/// Checks that an agent with an issuer's token dials as one gateway, which has no secret and can be revoked like any
/// other.
pub async fn an_agent_has_one_gateway_for_tokens(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let register = harness.register();
    let for_tokens = |scope, agent| {
        let register = harness.register();
        async move { register.gateway_for_tokens(scope, agent).await.expect("find a gateway") }
    };

    let (one, other) =
        tokio::join!(for_tokens(ann.scope, ann.agent), for_tokens(ann.scope, ann.agent));
    assert!(one == other, "{one:?} {other:?}");
    let Some(GatewayProof::Valid(gateway)) = one else { panic!("it is entered: {one:?}") };
    assert_eq!((gateway.scope, gateway.agent), (ann.scope, ann.agent));
    assert_ne!(gateway.id, ann.gateway, "not the one with a secret");
    assert_eq!(for_tokens(bob.scope, ann.agent).await, None, "another tenant's agent");
    let name = format!("agent:{}", ann.agent);
    assert_eq!(named(harness, &name).await.len(), 0, "no secret opens it");
    assert!(register.revoke(ann.scope, &name).await.expect("revoke a gateway"));
    assert_eq!(for_tokens(ann.scope, ann.agent).await, Some(GatewayProof::Revoked(gateway)));
}

pub(crate) async fn named(harness: &impl Harness, name: &str) -> Vec<StoredSecret> {
    harness.register().gateways_named(name).await.expect("find a gateway")
}

pub(crate) async fn rotate(
    harness: &impl Harness,
    person: &Person,
    new: &str,
    overlap: Duration,
) -> Option<GatewayId> {
    let Person { scope, author, .. } = person;
    let rotated = harness.register().rotate(*scope, author, &secret(new), overlap).await;
    rotated.expect("rotate a secret")
}

/// Returns the secrets of ann's gateway by name, with true for expired ones.
pub(crate) async fn expired(harness: &impl Harness) -> Vec<(&'static str, bool)> {
    let names = ["ann", "last", "new", "newest"];
    let found = named(harness, "ann").await;
    let of = |name: &&'static str| {
        let stored = found.iter().find(|stored| stored.secret_id == secret(name).id)?;
        Some((*name, stored.expired))
    };
    names.iter().filter_map(of).collect()
}

pub(crate) async fn revoke(harness: &impl Harness, person: &Person) -> bool {
    let revoked = harness.register().revoke(person.scope, &person.author).await;
    revoked.expect("revoke a gateway")
}

/// Returns the gateways revoked within the hour.
pub(crate) async fn revoked_lately(harness: &impl Harness) -> Vec<GatewayId> {
    let revoked = harness.register().revoked_within(HOUR).await.expect("find revoked gateways");
    revoked.into_iter().map(|(_, gateway)| gateway).collect()
}
