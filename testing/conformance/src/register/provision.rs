//! Checks gateways that provision themselves.

use std::time::Duration;

use nightdesk_register::StoredSecret;
use nightdesk_register::enrolment::{EnrolmentRefusal, EnrolmentResult, Identity, MachineClient};
use nightdesk_register::provision::{Front, GatewayDescription, GatewayProvision, ProvisionResult};
use nightdesk_types::limits::PROVISIONED_SECRETS_MAX;
use uuid::Uuid;

use super::enrolment::{enrol, invite};
use super::gateways::{named, revoke};
use crate::Harness;
use crate::cast::{Cast, Person, secret};

const MINUTE: Duration = Duration::from_mins(1);
const WAKE: &str = "https://agents.example/ann";

/// Checks that a gateway that asks for each of its platforms gets one secret.
pub async fn a_boot_gets_one_secret_for_all_its_platforms(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;

    let first = provision(harness, &ann, &boot("gw", "discord", "one")).await;
    assert!(matches!(first, ProvisionResult::New(_)), "{first:?}");
    let again = provision(harness, &ann, &boot("gw", "telegram", "two")).await;
    let ProvisionResult::Same(same) = again else { panic!("the same again: {again:?}") };
    assert_eq!((same.secret_id, &same.sealed), (secret("one").id, &secret("one").sealed));
    assert_eq!(same.gateway.agent, ann.agent);
    assert_eq!(ids(&named(harness, "gw").await), [secret("one").id], "the first is the only one");
    let fronts = harness.register().fronts(ann.scope, "gw").await.expect("read what it fronts");
    assert_eq!(fronts, [front("discord"), front("telegram")]);
}

/// Checks that a later boot gets another secret, and that the earlier one stays valid for a while.
pub async fn a_later_boot_gets_another_secret(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    provision(harness, &ann, &boot("gw", "discord", "one")).await;

    let later = provision(harness, &ann, &later("gw", "two")).await;
    assert!(matches!(later, ProvisionResult::New(_)), "{later:?}");
    let found = named(harness, "gw").await;
    assert_eq!((found.len(), found.iter().any(|one| one.expired)), (2, false));
}

/// Checks that secrets of many boots do not pile up, and that an operator's secret is never removed among them.
pub async fn only_provisioned_secrets_go(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    for number in 0..2 * PROVISIONED_SECRETS_MAX {
        provision(harness, &ann, &later("ann", &number.to_string())).await;
    }

    let found = ids(&named(harness, "ann").await);
    assert_eq!(i64::try_from(found.len()), Ok(PROVISIONED_SECRETS_MAX + 1));
    assert!(found.contains(&secret("ann").id), "the operator's is still there");
    let newest = secret(&(2 * PROVISIONED_SECRETS_MAX - 1).to_string());
    assert!(found.contains(&newest.id), "and the newest");
    assert!(!named(harness, "ann").await.iter().any(|one| one.expired));
}

/// Checks that the same name in two tenants is two gateways that do not affect each other.
pub async fn a_name_in_two_tenants_is_two_gateways(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    provision(harness, &ann, &boot("gw", "discord", "anns")).await;
    provision(harness, &bob, &boot("gw", "telegram", "bobs")).await;

    let whose = |found: &[StoredSecret], person: &Person| {
        let of_person = |one: &&StoredSecret| one.gateway.scope == person.scope;
        found.iter().filter(of_person).map(|one| (one.secret_id, one.revoked)).collect::<Vec<_>>()
    };
    let found = named(harness, "gw").await;
    assert_eq!(whose(&found, &ann), [(secret("anns").id, false)]);
    assert_eq!(whose(&found, &bob), [(secret("bobs").id, false)]);
    let register = harness.register();
    let fronts = register.fronts(bob.scope, "gw").await.expect("read what it fronts");
    assert_eq!(fronts, [front("telegram")]);
    assert!(register.revoke(ann.scope, "gw").await.expect("revoke a gateway"));
    let found = named(harness, "gw").await;
    assert_eq!(whose(&found, &ann), [(secret("anns").id, true)]);
    assert_eq!(whose(&found, &bob), [(secret("bobs").id, false)]);
}

/// Checks that a name of another agent, or of a revoked gateway, is refused, and that nothing changes.
pub async fn a_name_that_cannot_be_had_is_not_provisioned(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let owl = harness.register().create_agent(ann.scope, "owl").await.expect("enter an agent");
    let owls = Person { agent: owl, ..ann.clone() };

    let taken = provision(harness, &owls, &boot("ann", "discord", "one")).await;
    assert!(matches!(taken, ProvisionResult::Refused(EnrolmentRefusal::NameTaken)), "{taken:?}");
    revoke(harness, &ann).await;
    let revoked = provision(harness, &ann, &boot("ann", "discord", "one")).await;
    assert!(
        matches!(revoked, ProvisionResult::Refused(EnrolmentRefusal::NameRevoked)),
        "{revoked:?}"
    );
    assert_eq!(ids(&named(harness, "ann").await), [secret("ann").id]);
    assert_eq!(harness.register().fronts(ann.scope, "ann").await.expect("read"), []);
}

/// Checks that the machine identity of an invitation enrols and provisions one gateway: the named one, or else the first
/// that it names.
pub async fn an_invited_identity_has_one_gateway_name(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let named_client = invite(harness, &ann, "one", Some("gw")).await;
    let free_client = invite(harness, &ann, "two", None).await;
    let provision = |client: MachineClient, name: &str, called: &str| {
        let (register, boot) = (harness.register(), boot(name, "discord", called));
        async move {
            let provisioned = register.provision(&client.identity(), &boot).await;
            match provisioned.expect("provision a gateway") {
                ProvisionResult::New(_) | ProvisionResult::Same(_) => Ok(()),
                ProvisionResult::Refused(refusal) => Err(refusal),
            }
        }
    };
    let other = |name: &str| EnrolmentRefusal::OtherName(name.to_owned());

    assert_eq!(provision(named_client, "gw-2", "a").await, Err(other("gw")));
    assert_eq!(provision(named_client, "gw", "b").await, Ok(()));
    assert_eq!(provision(free_client, "first", "c").await, Ok(()));
    assert_eq!(provision(free_client, "first", "d").await, Ok(()), "its other platform");
    assert_eq!(provision(free_client, "gw", "e").await, Err(other("first")));
    let enrolled = enrol(harness, &free_client, "two", "second").await;
    assert_eq!(enrolled, EnrolmentResult::Refused(other("first")));
    assert_eq!(named(harness, "gw-2").await.len() + named(harness, "second").await.len(), 0);
    assert_eq!(ids(&named(harness, "gw").await), [secret("b").id], "no other secret for it");
}

/// Checks that many concurrent requests under one name get one secret.
pub async fn of_racing_boots_all_get_one_secret(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let racing: Vec<_> = (0..6)
        .map(|number| {
            let (register, identity) = (harness.register(), identity(&ann));
            let boot = boot("gw", "discord", &number.to_string());
            tokio::spawn(async move { register.provision(&identity, &boot).await })
        })
        .collect();
    let (mut new, mut same) = (0, Vec::new());
    for provisioned in racing {
        match provisioned.await.expect("no panic").expect("provision a gateway") {
            ProvisionResult::New(_) => new += 1,
            ProvisionResult::Same(secret) => same.push(secret.secret_id),
            ProvisionResult::Refused(refusal) => panic!("{refusal}"),
        }
    }

    let found = ids(&named(harness, "gw").await);
    assert_eq!((new, found.len()), (1, 1));
    assert_eq!(same, vec![found[0]; 5]);
}

/// Checks that a gateway sets its wake URL, unless an operator did.
pub async fn a_gateway_says_where_it_is_woken(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let wakers = || async { harness.wakers().wake_urls(ann.scope, ann.agent).await.expect("read") };
    let at = |url: Option<&str>| {
        let mut boot = boot("gw", "discord", "one");
        boot.description.wake_url = url.map(str::to_owned);
        boot
    };
    let steps = [
        ("it says where", at(Some(WAKE)), vec![WAKE]),
        ("it says it again", at(Some(WAKE)), vec![WAKE]),
        ("it says elsewhere", at(Some("https://b.example")), vec!["https://b.example"]),
        ("it says nothing any more", at(None), vec![]),
        ("it says where", at(Some(WAKE)), vec![WAKE]),
    ];
    for (name, boot, want) in steps {
        provision(harness, &ann, &boot).await;
        assert_eq!(wakers().await, want, "{name}");
    }
    assert!(harness.register().revoke(ann.scope, "gw").await.expect("revoke a gateway"));
    assert_eq!(wakers().await, [""; 0], "nobody is called for a revoked gateway");

    let operators = ["https://operator.example".to_owned()];
    harness.wakers().set_wake_urls(ann.scope, ann.agent, &operators).await.expect("set");
    let other = GatewayProvision {
        description: GatewayDescription {
            gateway: "gw-2".to_owned(),
            ..at(Some(WAKE)).description
        },
        ..at(None)
    };
    provision(harness, &ann, &other).await;
    assert_eq!(wakers().await, operators, "an operator's word stands");
}

fn ids(found: &[StoredSecret]) -> Vec<Uuid> {
    found.iter().map(|one| one.secret_id).collect()
}

pub(crate) const fn identity(person: &Person) -> Identity {
    Identity { scope: person.scope, agent: person.agent, client: None }
}

fn front(platform: &str) -> Front {
    Front {
        platform: platform.to_owned(),
        bot_handle: "bot".to_owned(),
        route_keys: vec!["g1".to_owned()],
        instance: Some("i1".to_owned()),
    }
}

/// Returns the provision request of a gateway's boot for a platform. `called` names its secret.
pub(crate) fn boot(gateway: &str, platform: &str, called: &str) -> GatewayProvision {
    let said = GatewayDescription {
        gateway: gateway.to_owned(),
        front: front(platform),
        wake_url: None,
        display_name: None,
    };
    GatewayProvision {
        description: said,
        secret: secret(called),
        same_for: MINUTE,
        overlap: MINUTE,
    }
}

/// Returns another boot, long after the last.
pub(crate) fn later(gateway: &str, called: &str) -> GatewayProvision {
    GatewayProvision { same_for: Duration::ZERO, ..boot(gateway, "discord", called) }
}

pub(crate) async fn provision(
    harness: &impl Harness,
    person: &Person,
    provision: &GatewayProvision,
) -> ProvisionResult {
    let provisioned = harness.register().provision(&identity(person), provision).await;
    provisioned.expect("provision a gateway")
}
