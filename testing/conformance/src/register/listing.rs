//! Checks the operator's lists of tenants, agents and gateways.

use std::time::Duration;

use nightdesk_register::{LastLine, ListedGateway};
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{TenantId, TenantScope};
use nightdesk_vault::WrappedKey;

use super::gateways::{revoke, rotate};
use crate::Harness;
use crate::cast::{Cast, Person, id_of, secret, tenant};

const LIFE: Duration = Duration::from_mins(1);

/// Checks that a tenant is found by its name and by its id, and two only if one's name is the other's id.
pub async fn a_tenant_is_found_by_name_or_id(harness: &impl Harness) {
    let ann = tenant(harness, "ann").await;
    let id = ann.tenant().to_string();
    let register = harness.register();
    for called in ["ann", &id, &id.to_uppercase()] {
        let found = register.tenants_called(called).await.expect("find a tenant");
        let found: Vec<_> = found.iter().map(|one| (one.id, one.name.as_str())).collect();
        assert_eq!(found, [(ann.tenant(), "ann")], "{called}");
    }
    assert_eq!(register.tenants_called("nobody").await.expect("find a tenant"), []);
    tenant(harness, &id).await;
    assert_eq!(register.tenants_called(&id).await.expect("find a tenant").len(), 2);
}

/// Checks that tenants are listed by name, in bounded pages.
pub async fn tenants_are_listed_in_pages(harness: &impl Harness) {
    let register = harness.register();
    let name = |number: i64| format!("t{number:04}");
    for number in 0..=LIST_ROWS_MAX {
        let (name, key) = (name(number), WrappedKey(Vec::new()));
        let id = TenantId::from_uuid(id_of("tenant", &name));
        register
            .create_tenant(TenantScope::for_tenant(id), &name, &key)
            .await
            .expect("enter a tenant");
    }

    let first = register.tenants("").await.expect("list tenants");
    let last = first.last().map(|one| one.name.clone()).expect("a page");
    assert_eq!(i64::try_from(first.len()), Ok(LIST_ROWS_MAX));
    assert_eq!(last, name(LIST_ROWS_MAX - 1));
    let second = register.tenants(&name(LIST_ROWS_MAX - 1)).await.expect("list tenants");
    assert_eq!(second.len(), 1);
}

/// Checks that agents are found and listed in their tenant only.
pub async fn agents_are_listed_to_their_tenant(harness: &impl Harness) {
    let ann = tenant(harness, "ann").await;
    let bob = tenant(harness, "bob").await;
    let register = harness.register();
    let owl = register.create_agent(ann, "owl").await.expect("enter an agent");
    let ape = register.create_agent(ann, "ape").await.expect("enter an agent");
    register.create_agent(bob, "owl").await.expect("enter an agent");

    let agents = register.agents(ann, "").await.expect("list agents");
    assert_eq!(agents.iter().map(|agent| agent.id).collect::<Vec<_>>(), [ape, owl]);
    assert_eq!(register.agents(ann, "ape").await.expect("list agents").len(), 1);
    let id = owl.to_string();
    for called in ["owl", &id, &id.to_uppercase()] {
        let found = register.agents_called(ann, called).await.expect("find an agent");
        assert_eq!(found.iter().map(|agent| agent.id).collect::<Vec<_>>(), [owl], "{called}");
    }
    for unknown in [&format!("{{{id}}}"), &id.replace('-', ""), "OWL", ""] {
        let found = register.agents_called(ann, unknown).await.expect("find an agent");
        assert_eq!(found, [], "{unknown}");
    }
    let foreign = register.agents_called(bob, &id).await.expect("find an agent");
    assert_eq!(foreign, []);
    register.create_agent(ann, &id).await.expect("enter an agent");
    assert_eq!(register.agents_called(ann, &id).await.expect("find an agent").len(), 2);
}

/// Checks that a gateway is listed with its agent, its live secrets and the state of its line.
pub async fn a_gateway_is_listed_with_its_line_and_secrets(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    cast.person("bob").await;
    let before = listed(harness, &ann).await;
    assert_eq!((before.agent.as_str(), before.revoked_at), ("ann", None));
    assert_eq!((before.line, before.secrets.len()), (LastLine::None, 1));
    rotate(harness, &ann, "new", Duration::from_hours(1)).await;
    rotate(harness, &ann, "newest", Duration::from_hours(1)).await;

    // The life of the line's node.
    harness.lease().begin("node-1", LIFE).await.expect("begin a node's life");
    let line = cast.line(&ann).await;
    let open = listed(harness, &ann).await;
    assert!(matches!(open.line, LastLine::Open { .. }), "{:?}", open.line);
    let expiring = open.secrets.iter().map(|secret| secret.expires_at.is_some());
    assert_eq!(expiring.collect::<Vec<_>>(), [true, true, false]);
    cast.close(&line, None).await;
    revoke(harness, &ann).await;
    let closed = listed(harness, &ann).await;
    assert!(matches!(closed.line, LastLine::Closed { at: Some(_) }), "{:?}", closed.line);
    assert!(closed.revoked_at.is_some());
}

/// Checks that an agent's gateways are listed by name, wherever they are among those of its tenant.
pub async fn an_agents_gateways_are_listed_with_it(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let register = harness.register();
    let owl = register.create_agent(ann.scope, "owl").await.expect("enter an agent");
    let gateways = async |scope, agent| {
        let found = register.gateways_of(scope, agent).await.expect("list gateways");
        found.into_iter().map(|gateway| gateway.name).collect::<Vec<_>>()
    };
    let own = gateways(ann.scope, ann.agent).await;
    assert_eq!((own.len(), gateways(ann.scope, owl).await), (1, Vec::new()));
    for name in ["owl-2", "owl-1"] {
        let entered = register.create_gateway(ann.scope, owl, name, &secret(name)).await;
        entered.expect("enter a gateway");
    }

    assert_eq!(gateways(ann.scope, owl).await, ["owl-1", "owl-2"]);
    assert_eq!(gateways(ann.scope, ann.agent).await, own);
    assert_eq!(gateways(bob.scope, owl).await, [""; 0], "its tenant's alone");
}

async fn listed(harness: &impl Harness, person: &Person) -> ListedGateway {
    let mut gateways = harness.register().gateways(person.scope, "").await.expect("list gateways");
    assert_eq!(gateways.len(), 1, "its tenant's alone");
    gateways.remove(0)
}
