//! Checks that each quota is enforced, and that an increase counts at once.

use nightdesk_inbox::ParkReason;
use nightdesk_register::enrolment::Identity;
use nightdesk_types::{GrantTarget, OverQuota, Quota, Seq, TenantScope};

use super::provision::boot;
use crate::Harness;
use crate::cast::{Cast, secret, tenant};

/// Checks that a tenant at its quota creates no agent until the quota is raised, without effect on other tenants.
pub async fn a_tenant_enters_as_many_agents_as_it_may(harness: &impl Harness) {
    let (ann, bob) = (tenant(harness, "ann").await, tenant(harness, "bob").await);
    let register = harness.register();
    set(harness, ann, Quota::Agents, 2).await;
    for name in ["one", "two"] {
        register.create_agent(ann, name).await.expect("enter an agent");
    }

    let refused = register.create_agent(ann, "three").await.expect_err("it is one too many");
    let over = OverQuota { quota: Quota::Agents, allowed: 2 };
    assert_eq!((refused.over_quota(), refused.retryable), (Some(over), false));
    register.create_agent(bob, "one").await.expect("bob has his own");
    set(harness, ann, Quota::Agents, 3).await;
    register.create_agent(ann, "three").await.expect("there is room now");
    let quotas = register.quotas(ann).await.expect("read quotas");
    assert_eq!(quotas[0], (Quota::Agents, 3));
    let unset = (Quota::Grants, Quota::Grants.default_allowed());
    assert_eq!(quotas[1], unset, "what nobody set is as it was");
}

/// Checks that a tenant at its quota gets no grant, and that a removed grant makes room.
pub async fn a_tenant_is_granted_as_much_as_it_may(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let (on, register) = (cast.on_bot(&ann), harness.register());
    let chat = |name: &str| GrantTarget::for_chat(None, name);
    set(harness, ann.scope, Quota::Grants, 1).await;
    assert!(register.grant(on, &chat("c1"), None).await.expect("grant a chat"));

    let refused = register.grant(on, &chat("c2"), None).await.expect_err("it is one too many");
    let over = OverQuota { quota: Quota::Grants, allowed: 1 };
    assert_eq!(refused.over_quota(), Some(over));
    assert!(register.release(on, &chat("c1")).await.expect("release a grant"));
    assert!(register.grant(on, &chat("c2"), None).await.expect("there is room again"));
}

/// Checks that a tenant at its quota gets no gateway, whichever way it asks, and that its gateways go on to boot.
pub async fn a_tenant_has_as_many_gateways_as_it_may(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let register = harness.register();
    let identity = Identity { scope: ann.scope, agent: ann.agent, client: None };
    let has = register.gateways(ann.scope, "").await.expect("list gateways").len();
    let allowed = i64::try_from(has).expect("few") + 1;
    set(harness, ann.scope, Quota::Gateways, allowed).await;
    register.provision(&identity, &boot("gw-1", "discord", "one")).await.expect("there is room");

    let refused = [
        register.provision(&identity, &boot("gw-2", "discord", "two")).await.map(drop),
        register.create_gateway(ann.scope, ann.agent, "gw-2", &secret("two")).await.map(drop),
        register.gateway_for_tokens(ann.scope, ann.agent).await.map(drop),
    ];
    let over = OverQuota { quota: Quota::Gateways, allowed };
    assert_eq!(
        refused.map(|refused| refused.err().and_then(|error| error.over_quota())),
        [Some(over); 3]
    );
    register.provision(&identity, &boot("gw-1", "discord", "three")).await.expect("it is there");
    set(harness, ann.scope, Quota::Gateways, allowed + 1).await;
    register.provision(&identity, &boot("gw-2", "discord", "two")).await.expect("there is room");
}

/// Checks that entries above an inbox's quota are parked, by count and by bytes, and that a raised quota makes room.
pub async fn an_inbox_holds_what_its_tenant_may(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    set(harness, ann.scope, Quota::PendingEntries, 2).await;
    let mut parked = Vec::new();
    for number in 1..=3 {
        parked.push(cast.stored(&ann.says(number)).await.parked);
    }
    assert_eq!(parked, [false, false, true]);
    set(harness, ann.scope, Quota::PendingEntries, 10).await;
    assert!(!cast.stored(&ann.says(4)).await.parked, "there is room now");

    set(harness, ann.scope, Quota::PendingBytes, 20_000).await;
    let long = "x".repeat(15_000);
    assert!(!cast.stored(&ann.says(5).saying(long.clone())).await.parked, "so much is allowed");
    assert!(cast.stored(&ann.says(6).saying(long.clone())).await.parked, "that is too much");
    let aside = harness.parked(ann.scope, ann.agent).await;
    assert_eq!(aside, [3, 6].map(|number| (Seq::new(number), ParkReason::Full)));
    let line = cast.line(&ann).await;
    cast.ack(&line, &[(1, 6)]).await;
    assert!(!cast.stored(&ann.says(7).saying(long)).await.parked, "an empty inbox takes one");
}

async fn set(harness: &impl Harness, scope: TenantScope, quota: Quota, allowed: i64) {
    harness.register().set_quota(scope, quota, allowed).await.expect("set a quota");
}
