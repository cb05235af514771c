//! Checks machine identities and one-time tokens.

use std::time::Duration;

use nightdesk_register::enrolment::{
    Digest, EnrolmentRefusal, EnrolmentRequest, EnrolmentResult, MachineClient, NewInvitation,
};
use nightdesk_types::ClientId;

use super::gateways::{named, revoke};
use crate::Harness;
use crate::cast::{Cast, Person, id_of, secret};

const MINUTE: Duration = Duration::from_mins(1);

/// Checks that a machine identity of any tenant is found by its id, until it is revoked.
pub async fn a_client_is_found_until_it_is_revoked(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let client = invite(harness, &ann, "one", None).await;
    let register = harness.register();

    let found = register.client(client.id).await.expect("find a client").expect("it is there");
    assert_eq!((found.client, found.live), (client, true));
    assert!(found.secret.is_of("one") && !found.secret.is_of("two"));
    let foreign = register.revoke_client(bob.scope, client.id).await;
    assert!(!foreign.expect("revoke a client"), "another tenant's");
    for _ in 0..2 {
        assert!(register.revoke_client(ann.scope, client.id).await.expect("revoke a client"));
    }
    let found = register.client(client.id).await.expect("find a client").expect("it is there");
    assert!(!found.live);
    let nobody = ClientId::from_uuid(id_of("client", "nobody"));
    assert!(register.client(nobody).await.expect("find a client").is_none());
}

/// Checks that a token creates one gateway of its agent, once.
pub async fn a_token_makes_one_gateway(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let client = invite(harness, &ann, "one", None).await;

    let EnrolmentResult::Gateway(id) = enrol(harness, &client, "one", "gw").await else {
        panic!("it is enrolled")
    };
    let found = named(harness, "gw").await;
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].gateway.id, found[0].gateway.agent), (id, ann.agent));
    assert_eq!(found[0].gateway.scope, ann.scope);
    assert_eq!(found[0].secret_id, secret("one gw").id);
    let again = enrol(harness, &client, "one", "gw-2").await;
    assert_eq!(again, EnrolmentResult::Refused(EnrolmentRefusal::Used));
    assert_eq!(named(harness, "gw-2").await.len(), 0, "nothing was made");
}

/// Checks that a gateway that is enrolled again has its old secret for a while too.
pub async fn an_enrolled_gateway_is_given_another_secret(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let first = invite(harness, &ann, "one", None).await;
    let second = invite(harness, &ann, "two", None).await;

    let made = enrol(harness, &first, "one", "gw").await;
    assert_eq!(enrol(harness, &second, "two", "gw").await, made, "the same gateway");
    let found = named(harness, "gw").await;
    assert_eq!((found.len(), found.iter().any(|one| one.expired)), (2, false));
}

/// Checks that a refused enrolment changes nothing, and that the token stays valid.
pub async fn a_refused_enrolment_uses_nothing_up(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let register = harness.register();
    let owl = register.create_agent(ann.scope, "owl").await.expect("enter an agent");
    let client = invite(harness, &ann, "one", Some("gw")).await;
    let bobs = invite(harness, &bob, "two", None).await;
    let owls = invite(harness, &Person { agent: owl, ..ann.clone() }, "three", None).await;
    revoke(harness, &ann).await;
    invite(harness, &ann, "four", None).await;
    let cases = [
        ("another tenant's identity", &bobs, "one", "gw", EnrolmentRefusal::Unknown),
        ("another agent's identity", &owls, "one", "gw", EnrolmentRefusal::OtherAgent),
        ("another name", &client, "one", "gw-2", EnrolmentRefusal::OtherName("gw".to_owned())),
        ("no such token", &client, "five", "gw", EnrolmentRefusal::Unknown),
        ("another agent's gateway", &owls, "three", "ann", EnrolmentRefusal::NameTaken),
        ("a revoked gateway", &client, "four", "ann", EnrolmentRefusal::NameRevoked),
    ];

    for (name, client, token, gateway, want) in cases {
        let enrolled = enrol(harness, client, token, gateway).await;
        assert_eq!(enrolled, EnrolmentResult::Refused(want), "{name}");
    }
    assert_eq!(named(harness, "gw").await.len() + named(harness, "gw-2").await.len(), 0);
    assert!(matches!(enrol(harness, &client, "one", "gw").await, EnrolmentResult::Gateway(_)));
}

/// Checks that exactly one of many concurrent enrolments with one token gets a gateway.
pub async fn of_racing_enrolments_one_wins(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let client = invite(harness, &ann, "one", None).await;
    let racing = (0..6).map(|number| {
        let register = harness.register();
        let enrol = wish("one", &format!("gw-{number}"));
        tokio::spawn(async move { register.enrol(&client.identity(), &enrol).await })
    });
    let racing: Vec<_> = racing.collect();

    let mut won = 0;
    for enrolled in racing {
        match enrolled.await.expect("no panic").expect("enrol a gateway") {
            EnrolmentResult::Gateway(_) => won += 1,
            EnrolmentResult::Refused(refusal) => assert_eq!(refusal, EnrolmentRefusal::Used),
        }
    }
    let mut made = 0;
    for number in 0..6 {
        made += named(harness, &format!("gw-{number}")).await.len();
    }
    assert_eq!((won, made), (1, 1));
}

/// Checks that there is no invitation for an agent of another tenant.
pub async fn nobody_is_invited_for_a_foreign_agent(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;

    let new = invitation("one", None);
    assert!(harness.register().invite(bob.scope, ann.agent, &new).await.is_err());
}

pub(crate) async fn invite(
    harness: &impl Harness,
    person: &Person,
    token: &str,
    gateway: Option<&str>,
) -> MachineClient {
    let new = invitation(token, gateway);
    let invited = harness.register().invite(person.scope, person.agent, &new).await;
    invited.expect("invite a gateway");
    MachineClient { scope: person.scope, id: new.client, agent: person.agent }
}

/// Returns an invitation whose secret and token have this name.
fn invitation(token: &str, gateway: Option<&str>) -> NewInvitation {
    NewInvitation {
        client: ClientId::from_uuid(id_of("client", token)),
        secret: Digest::from_secret(token),
        token: Digest::from_secret(token),
        gateway: gateway.map(str::to_owned),
        good_for: MINUTE,
    }
}

fn wish(token: &str, gateway: &str) -> EnrolmentRequest {
    EnrolmentRequest {
        token: Digest::from_secret(token),
        gateway: gateway.to_owned(),
        secret: secret(&format!("{token} {gateway}")),
        overlap: MINUTE,
    }
}

pub(crate) async fn enrol(
    harness: &impl Harness,
    client: &MachineClient,
    token: &str,
    gateway: &str,
) -> EnrolmentResult {
    let enrolled = harness.register().enrol(&client.identity(), &wish(token, gateway)).await;
    enrolled.expect("enrol a gateway")
}
