//! Checks the audit log: each act has one row, in the chain of its tenant.

use std::time::Duration;

use nightdesk_inbox::LocalEntry;
use nightdesk_register::RedeemResult;
use nightdesk_register::audit::{AuditRecord, Fault, Kind, Verifier};
use nightdesk_register::enrolment::{
    Digest, EnrolmentRequest, Identity, MachineClient, NewInvitation,
};
use nightdesk_register::issuer::{IssuerSession, KeyAlgorithm, StoredKey};
use nightdesk_schedule::{ArmRequest, FireAt, JobId, Policies, Target};
use nightdesk_types::{
    Actor, ClientId, GrantTarget, Principal, Relevance, Seq, TenantScope, Timestamp,
};
use serde_json::json;

use super::provision::{boot, later, provision};
use crate::Harness;
use crate::cast::{Cast, Person, id_of, new_bot, secret, tenant};

const MANY: i64 = 1_000;

/// Checks that every change in the register has one row with its actor.
pub async fn each_act_is_told_once(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let register = harness.register();
    let scope = tenant(harness, "ann").await;
    let mut log = Log { harness, scope, seen: 0 };
    log.told(Kind::TenantCreated).await;
    let agent = register.create_agent(scope, "helper").await.expect("enter an agent");
    log.told(Kind::AgentCreated).await;
    register.create_bot(scope, &new_bot("anns")).await.expect("enter a bot");
    log.told(Kind::BotCreated).await;
    let first = register.create_gateway(scope, agent, "gw", &secret("one")).await;
    let gateway = first.expect("enter a gateway");
    log.told(Kind::GatewayCreated).await;
    let overlap = Duration::from_hours(1);
    register.rotate(scope, "gw", &secret("two"), overlap).await.expect("rotate a secret");
    log.told(Kind::GatewayRotated).await;
    register.revoke(scope, "gw").await.expect("revoke a gateway");
    log.told(Kind::GatewayRevoked).await;

    let ann = Person { author: "u1".to_owned(), scope, agent, gateway };
    let (on, granted) = (cast.on_bot(&ann), GrantTarget::for_chat(None, "c1"));
    cast.bind(&ann, "u1").await;
    log.told(Kind::Bound).await;
    assert!(register.prefer(on, "u1").await.expect("prefer an agent"));
    log.told(Kind::Preferred).await;
    register.grant(on, &granted, None).await.expect("grant a chat");
    log.told(Kind::Granted).await;
    for principal in [Principal::Any, Principal::Any, Principal::AllowList] {
        register.open_to(scope, agent, principal).await.expect("say who may reach an agent");
        log.told(Kind::PrincipalOpened).await;
    }
    for authors in [&["u1", "u2", "u3"][..], &["u3", "u4"], &[], &[]] {
        let authors: Vec<String> = authors.iter().map(|&author| author.to_owned()).collect();
        register.list(on, &authors).await.expect("replace a list");
        log.told(Kind::ListReplaced).await;
    }
    let relevance = Relevance { require_address: true, ..Relevance::default() };
    register.declare(scope, agent, "discord", &relevance).await.expect("declare");
    log.told(Kind::RelevanceDeclared).await;
    register.release(on, &granted).await.expect("release a grant");
    log.told(Kind::Released).await;
    cast.unbind(&ann, "u1").await;
    let last = log.told(Kind::Unbound).await;
    assert!(last.about.contains(&agent.to_string()), "it says about whom: {}", last.about);
}

/// Checks that every operator's act on an inbox, a wake or a job has one row.
pub async fn each_act_by_hand_is_told_once(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let (scope, agent) = (ann.scope.with_actor(Actor::Operator), ann.agent);
    let (aside, wakers) = (harness.aside(), harness.wakers());
    cast.several(&ann, 1).await;
    let mut log = Log::of(harness, scope).await;
    aside.park_waiting(scope, agent, Seq::new(1)).await.expect("set aside");
    log.told(Kind::EntrySetAside).await;
    aside.resubmit(scope, agent, Seq::new(1)).await.expect("resubmit");
    log.told(Kind::EntryResubmitted).await;
    let entry = LocalEntry::for_bot(cast.bot.id, "discord", "bot").expect("discord can be made up");
    aside.put_local(scope, agent, &entry).await.expect("put a test entry");
    log.told(Kind::EntryPut).await;
    for urls in [&["https://a.example", "https://b.example"][..], &["https://c.example"], &[], &[]]
    {
        let urls: Vec<String> = urls.iter().map(|&url| url.to_owned()).collect();
        wakers.set_wake_urls(scope, agent, &urls).await.expect("say where it is called");
        log.told(Kind::WakeUrlSet).await;
    }
    wakers.request_call(scope, agent).await.expect("ask for a call");

    assert_eq!(log.told(Kind::WakeAsked).await.actor, "operator");
    let (schedule, job) = (harness.schedule(), JobId::new("report").expect("a name"));
    let arm = ArmRequest {
        job: job.clone(),
        fire_at: FireAt::parse("2096-01-01T00:00:00Z").expect("an instant"),
        to: Target::Inbox("hello".to_owned()),
        recurring: false,
        reports: false,
        policies: Policies::default(),
    };
    // The agent's own acts have separate rows.
    let its_own = scope.with_actor(Actor::Agent(agent));
    schedule.arm(its_own, agent, &arm).await.expect("arm a job");
    schedule.cancel(its_own, agent, &job).await.expect("cancel a job");
    schedule.arm(scope, agent, &arm).await.expect("arm a job");
    log.told(Kind::JobArmed).await;
    schedule.cancel(scope, agent, &job).await.expect("cancel a job");
    log.told(Kind::JobCancelled).await;
}

/// Checks that every act of a manager of agents and bots has one row, regardless of the number of its changes.
pub async fn each_act_of_who_looks_after_agents_is_told_once(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, register) = (cast.person("ann").await, harness.register());
    let (scope, agent) = (ann.scope.with_actor(Actor::Agent(ann.agent)), ann.agent);
    let mut log = Log::of(harness, scope).await;
    let bot = register.create_bot(scope, &new_bot("anns")).await.expect("enter a bot");
    log.told(Kind::BotCreated).await;
    for shared in [true, false] {
        assert!(register.share(scope, bot, shared).await.expect("share a bot"));
        log.told(Kind::BotShared).await;
        register.let_gateways_widen(scope, shared).await.expect("let gateways widen");
        log.told(Kind::GatewaysTrusted).await;
        assert!(register.let_stop_others(scope, agent, shared).await.expect("let an agent stop"));
        log.told(Kind::StopsAllowed).await;
    }
    let overlap = Duration::from_hours(1);
    let rotated = register.rotate_bot_key(scope, bot, &secret("bots"), overlap).await;
    assert!(rotated.expect("rotate a bot's key"));
    log.told(Kind::BotKeyRotated).await;
    let (session, code) = (IssuerSession::from_own_issuer("s"), Digest::from_secret("code"));
    let begun = register.begin_session(scope, agent, &session, Some(code)).await;
    assert!(begun.expect("begin a session"));
    log.told(Kind::SessionBegun).await;
    assert!(register.end_session(scope, &session).await.expect("end a session"));
    log.told(Kind::SessionEnded).await;
    assert!(register.enter_code(scope, agent, &code).await.expect("enter a code"));
    log.told(Kind::LinkMade).await;
    let linked = register.redeem(bot, "u9", &code).await.expect("link a person");
    assert!(matches!(linked, RedeemResult::Linked { .. }), "{linked:?}");
    assert_eq!(log.told(Kind::Linked).await.actor, "person");
    register.redeem(bot, "u9", &code).await.expect("say it again");
    register.note(scope, Kind::AgentTokenMade, &json!({})).await.expect("tell of an act");
    log.told(Kind::AgentTokenMade).await;
    register.deprovision(scope, agent).await.expect("deprovision an agent");
    assert_eq!(log.told(Kind::AgentDeprovisioned).await.actor, format!("agent:{agent}"));
}

/// Checks that a boot is one act, with or without a new secret, and so is the revocation of its gateway.
pub async fn a_boot_is_told_once(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let mut log = Log::of(harness, ann.scope).await;
    for (platform, name) in [("discord", "one"), ("telegram", "two")] {
        provision(harness, &ann, &boot("gw", platform, name)).await;
        log.told(Kind::GatewayProvisioned).await;
    }
    let mut elsewhere = later("gw", "three");
    elsewhere.description.wake_url = Some("https://agents.example/ann".to_owned());
    provision(harness, &ann, &elsewhere).await;
    log.told(Kind::GatewayProvisioned).await;
    harness.register().revoke(ann.scope, "gw").await.expect("revoke a gateway");
    log.told(Kind::GatewayRevoked).await;
}

/// Checks that acts of the desk itself also have a chain.
pub async fn the_desks_own_acts_are_told(harness: &impl Harness) {
    let register = harness.register();
    let own = TenantScope::desk_own();
    let mut log = Log { harness, scope: own, seen: 0 };
    let key = StoredKey {
        number: 1,
        kid: "k1".to_owned(),
        sealed: b"sealed".to_vec(),
        algorithm: KeyAlgorithm::Es256,
        used_from: Timestamp::UNIX_EPOCH,
        retired: false,
    };
    register.enter_signing_key(&key).await.expect("enter a key");
    log.told(Kind::SigningKeyMade).await;
    register.enter_signing_key(&key).await.expect("enter it again");
    assert!(register.retire_signing_key(Actor::Operator, "k1").await.expect("retire a key"));
    assert_eq!(log.told(Kind::SigningKeyRetired).await.actor, "operator");
    assert!(register.retire_signing_key(Actor::Operator, "k1").await.expect("retire it again"));

    assert_eq!(verdict(harness, own).await, Ok(2));
    let heads = register.chain_heads(None, false).await.expect("read heads");
    assert_eq!(heads.first().map(|(tenant, _)| *tenant), Some(own.tenant()));
}

/// Checks that an enrolment is one act of the machine identity, for a new and for an existing gateway.
pub async fn an_enrolment_is_told_once(harness: &impl Harness) {
    let register = harness.register();
    let scope = tenant(harness, "ann").await;
    let agent = register.create_agent(scope, "helper").await.expect("enter an agent");
    let mut log = Log::of(harness, scope).await;
    for name in ["one", "two"] {
        let client = ClientId::from_uuid(id_of("client", name));
        let new = NewInvitation {
            client,
            secret: Digest::from_secret("secret"),
            token: Digest::from_secret(name),
            gateway: None,
            good_for: Duration::from_hours(1),
        };
        register.invite(scope, agent, &new).await.expect("invite a gateway");
        log.told(Kind::GatewayInvited).await;
        let found = register.client(client).await.expect("find a client");
        let MachineClient { scope: by, agent, .. } = found.expect("the client is known").client;
        let enrol = EnrolmentRequest {
            token: Digest::from_secret(name),
            gateway: "gw".to_owned(),
            secret: secret(name),
            overlap: Duration::ZERO,
        };
        register
            .enrol(&Identity { scope: by, agent, client: None }, &enrol)
            .await
            .expect("enrol a gateway");

        let deed = log.told(Kind::GatewayEnrolled).await;
        assert_eq!(deed.actor, format!("client:{client}"));
        register.revoke_client(scope, client).await.expect("revoke a client");
        log.told(Kind::ClientRevoked).await;
    }
    let stored = register.gateways_named("gw").await.expect("find a gateway");
    let actor = stored[0].gateway.scope.actor();
    assert_eq!(actor, Actor::Gateway(stored[0].gateway.id), "a proven gateway acts as itself");
}

/// Checks that a refused act has no row.
pub async fn an_act_that_failed_is_not_told(harness: &impl Harness) {
    let scope = tenant(harness, "ann").await;
    let register = harness.register();
    register.create_agent(scope, "helper").await.expect("enter an agent");
    let before = deeds(harness, scope).await;

    assert!(register.create_agent(scope, "helper").await.is_err());
    assert!(!register.revoke(scope, "nobody").await.expect("look for a gateway"));
    assert_eq!(deeds(harness, scope).await, before);
}

/// Checks that the rows of a tenant are a chain that verifies, and that no other tenant reads them.
pub async fn what_was_done_is_a_chain_of_its_tenant(harness: &impl Harness) {
    let ann = tenant(harness, "ann").await;
    let bob = tenant(harness, "bob").await;
    for number in 0..20 {
        let (scope, name) = (ann.with_actor(Actor::Operator), format!("agent-{number}"));
        harness.register().create_agent(scope, &name).await.expect("enter an agent");
    }

    assert_eq!(verdict(harness, ann).await, Ok(21));
    assert_eq!(verdict(harness, bob).await, Ok(1));
    let (anns, bobs) = (deeds(harness, ann).await, deeds(harness, bob).await);
    assert_eq!((anns.len(), bobs.len()), (21, 1));
    assert!(anns.iter().all(|deed| deed.actor == "operator"));
    let heads = harness.register().chain_heads(None, false).await.expect("read heads");
    let head = |scope: TenantScope, deed: &AuditRecord| (scope.tenant(), deed.hash.clone());
    let mut want = [head(ann, &anns[20]), head(bob, &bobs[0])];
    want.sort();
    let found: Vec<_> = heads.into_iter().map(|(tenant, link)| (tenant, link.hash)).collect();
    assert_eq!(found, want);
}

/// A tenant's audit rows, read on from the last position.
struct Log<'h> {
    harness: &'h dyn Harness,
    scope: TenantScope,
    seen: i64,
}

impl<'h> Log<'h> {
    async fn of(harness: &'h dyn Harness, scope: TenantScope) -> Self {
        let seen = deeds(harness, scope).await.last().map_or(0, |deed| deed.seq);
        Self { harness, scope, seen }
    }

    /// Checks that there is one new row, of this kind, and returns it.
    async fn told(&mut self, kind: Kind) -> AuditRecord {
        let new = self.harness.register().audit_records(self.scope, self.seen, MANY).await;
        let mut new = new.expect("read the audit log");
        let kinds: Vec<&str> = new.iter().map(|deed| deed.kind.as_str()).collect();
        assert_eq!(kinds, [kind.slug()]);
        self.seen += 1;
        new.pop().expect("there is one")
    }
}

async fn deeds(harness: &dyn Harness, scope: TenantScope) -> Vec<AuditRecord> {
    harness.register().audit_records(scope, 0, MANY).await.expect("read the audit log")
}

async fn verdict(harness: &dyn Harness, scope: TenantScope) -> Result<i64, Fault> {
    let chain = harness.register().chain(scope).await.expect("read where a chain ends");
    let mut verifier = Verifier::begin(scope.tenant(), chain, &[], Timestamp::UNIX_EPOCH)?;
    deeds(harness, scope).await.iter().try_for_each(|deed| verifier.verify_next(deed))?;
    verifier.finish()
}
