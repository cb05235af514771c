//! Checks tenants, agents, bindings and grants.

use nightdesk_testkit::test_vault;
use nightdesk_types::{DataKeyId, GrantTarget, Principal, TenantId, TenantScope};
use nightdesk_vault::WrappedKey;

use crate::Harness;
use crate::cast::{Cast, Person, id_of, tenant};
use crate::gate::grant;

/// Checks that a tenant's name and id are unique, and that it has its data key.
pub async fn a_tenant_is_entered_once(harness: &impl Harness) {
    let ann = tenant(harness, "ann").await;
    let register = harness.register();
    let another = TenantScope::for_tenant(TenantId::from_uuid(id_of("tenant", "another")));

    assert!(register.create_tenant(another, "ann", &wrapped("k")).await.is_err(), "same name");
    let again = register.create_tenant(ann, "bob", &wrapped("k")).await;
    assert!(again.is_err(), "same id");
    let (id, key) = register.data_key(ann).await.expect("read a tenant's key");
    assert_eq!(id, DataKeyId::new(1));
    assert!(test_vault().unwrap(ann.tenant(), id, &key).is_ok(), "it is the tenant's own");
    let nobody = register.data_key(another).await;
    assert!(nobody.is_err(), "what was refused left nothing");
}

fn wrapped(key: &str) -> WrappedKey {
    WrappedKey(key.as_bytes().to_vec())
}

/// Checks that an agent's name is unique in its tenant: two tenants may use the same.
pub async fn an_agent_has_its_name_in_its_tenant(harness: &impl Harness) {
    let ann = tenant(harness, "ann").await;
    let bob = tenant(harness, "bob").await;
    let register = harness.register();
    let first = register.create_agent(ann, "helper").await.expect("enter an agent");

    assert!(register.create_agent(ann, "helper").await.is_err());
    let second = register.create_agent(ann, "other").await.expect("enter an agent");
    let bobs = register.create_agent(bob, "helper").await.expect("enter an agent");
    assert!(first != second && first != bobs && second != bobs, "ids are never the same");
}

/// Checks that only agents of the tenant can get a binding or a grant.
pub async fn nobody_binds_an_agent_of_another_tenant(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let bob = cast.stranger("bob").await;
    let on = cast.on_bot(&Person { scope: bob.scope, ..ann.clone() });
    let register = harness.register();

    assert!(register.bind(on, "u1").await.is_err());
    for principal in [None, Some(Principal::Any)] {
        assert!(register.grant(on, &GrantTarget::for_chat(None, "c1"), principal).await.is_err());
    }
    cast.bind(&ann, "u1").await;
    register.unbind(on, "u1").await.expect("there is nothing to unbind");
    let known =
        harness.gate().read_changes(cast.bot.id, None).await.expect("read who may be reached");
    assert_eq!(known.authors, [("u1".to_owned(), vec![(ann.scope, ann.agent)])]);
    assert_eq!(known.grants, []);
}

/// Checks that a chat is granted to one agent, and that a later claim is refused as taken.
pub async fn a_chat_is_granted_once(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let bob = cast.stranger("bob").await;

    assert!(grant(&cast, &ann, "c1", Principal::Any).await);
    assert!(!grant(&cast, &bob, "c1", Principal::Any).await, "another tenant's agent");
    assert!(!grant(&cast, &ann, "c1", Principal::OwnerOnly).await, "the same agent");
    assert!(grant(&cast, &bob, "c2", Principal::Any).await, "another chat");
    cast.bot = cast.another_bot("other-bot").await;
    assert!(grant(&cast, &bob, "c1", Principal::Any).await, "another bot's chat");
}
