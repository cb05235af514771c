//! Tests key rotation on a real database, and that a sealed value opens only where it belongs.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_inbox::{AcceptRequest, Store as _};
use nightdesk_port::Capability;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_register::{
    BotDraft, CapabilityPlace, CapabilitySession, Gateways, IdentityStore, Register,
    SealedCapability, SessionDigest,
};
use nightdesk_store_pg::Pg;
use nightdesk_testkit::builders::event;
use nightdesk_testkit::test_vault;
use nightdesk_types::{Actor, AgentId, BotId, TenantScope};
use nightdesk_vault::{Key, Locksmith, RekeyError, SEALED_EXTRA_BYTES, Store as _, Vault};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection};

use crate::planted::People;
use crate::server::{Database, run};
use crate::suites::{Postgres, postgres};

/// A desk with its own keys, and a tenant with a bot and a gateway.
struct Desk {
    database: Database,
    store: Arc<Pg>,
    key_file: String,
    scope: TenantScope,
    agent: AgentId,
    bot: BotId,
}

impl Desk {
    async fn set() -> Self {
        let database = Database::new().await;
        let store = Arc::new(database.store());
        let key_file = Vault::new_key_file().to_string();
        let register = Register::new(Arc::<Pg>::clone(&store), vault(&[&key_file]));
        let tenant = register.create_tenant(Actor::Operator, "acme").await.expect("enter a tenant");
        let scope = TenantScope::for_tenant(tenant);
        let agent = store.create_agent(scope, "helper").await.expect("enter an agent");
        register.create_gateway(scope, agent, "gw").await.expect("enter a gateway");
        let draft = BotDraft {
            platform: "discord".to_owned(),
            adapter: "scripted".to_owned(),
            handle: "bot".to_owned(),
            settings: json!({}),
            key: Some(Key::new("the bot's key".to_owned())),
        };
        let (bot, _) = register.create_bot(scope, draft).await.expect("enter a bot");
        Self { database, store, key_file, scope, agent, bot }
    }

    fn register(&self, keys: &[&str]) -> Register {
        Register::new(Arc::<Pg>::clone(&self.store), vault(keys))
    }

    fn locksmith(&self, keys: &[&str]) -> Locksmith {
        Locksmith::new(Arc::<Pg>::clone(&self.store), vault(keys))
    }

    /// Returns true if a desk with these keys opens the tenant's secrets.
    async fn opens_with(&self, keys: &[&str]) -> bool {
        let register = self.register(keys);
        let bot = register.bot(self.bot).await.ok().flatten();
        let bots_key = bot.and_then(|(bot, _)| bot.key).map(|key| key.with(str::to_owned));
        let sealed = register.create_gateway(self.scope, self.agent, &random_name()).await;
        bots_key.as_deref() == Some("the bot's key") && sealed.is_ok()
    }
}

fn random_name() -> String {
    nightdesk_register::new_secret().with(|secret| secret[..16].to_owned())
}

fn vault(keys: &[&str]) -> Vault {
    Vault::from_key_file(&keys.join("\n")).expect("good keys")
}

async fn count(connection: &mut PgConnection, sql: &str) -> i64 {
    let sql = format!("select count(*) from {sql}");
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(connection).await.expect("count")
}

#[tokio::test]
async fn a_vault_key_is_replaced_and_the_old_one_forgotten() {
    let desk = Desk::set().await;
    let (old, new) = (desk.key_file.as_str(), Vault::new_key_file());
    let shared = desk.locksmith(&[old]).shared_secret("bus").await.expect("a secret");

    let done = desk.locksmith(&[&new, old]).rotate().await.expect("rotate");
    assert_eq!(done, 2, "one data key and one secret of the desk's own");
    assert!(desk.opens_with(&[&new]).await, "the new key alone is enough");
    assert!(!desk.opens_with(&[old]).await, "the old one is of no use any more");
    let still = desk.locksmith(&[&new]).shared_secret("bus").await.expect("a secret");
    assert_eq!(still.with(str::to_owned), shared.with(str::to_owned), "nodes share it all along");
    let again = desk.locksmith(&[&new]).rotate().await.expect("rotate");
    assert_eq!(again, 1, "data keys that are wrapped already are left");
}

#[tokio::test]
async fn a_rotation_that_died_is_begun_again() {
    let desk = Desk::set().await;
    let (old, new) = (desk.key_file.as_str(), Vault::new_key_file());
    for number in 0..1_200 {
        let register = desk.register(&[old]);
        register
            .create_tenant(Actor::Operator, &format!("tenant {number}"))
            .await
            .expect("enter a tenant");
    }
    // Executes only the first step of a rotation.
    let vault = vault(&[&new, old]);
    let rows = desk.store.wrapped_by(Some(self::vault(&[old]).sealing_key())).await.expect("read");
    let rewrapped: Vec<_> = rows
        .into_iter()
        .map(|was| nightdesk_vault::RewrappedKey {
            wrapped: vault.rewrap(was.tenant, was.key, &was.wrapped).expect("it opens"),
            was,
        })
        .collect();
    let first = desk.store.rewrap(&rewrapped).await.expect("rewrap");
    assert_eq!(desk.store.rewrap(&rewrapped).await.expect("rewrap"), 0, "what changed is left");

    let rest = desk.locksmith(&[&new, old]).rotate().await.expect("rotate");
    assert_eq!(first + rest, 1_201);
    desk.locksmith(&[&new]).check().await.expect("the old key is not needed any more");
}

#[tokio::test]
async fn a_missing_vault_key_is_named() {
    let desk = Desk::set().await;
    let (old, new) = (desk.key_file.as_str(), Vault::new_key_file());
    let missing = vault(&[old]).sealing_key();

    for told in
        [desk.locksmith(&[&new]).check().await, desk.locksmith(&[&new]).rotate().await.map(drop)]
    {
        assert!(matches!(told, Err(RekeyError::Missing(kek)) if kek == missing), "{told:?}");
    }
}

#[tokio::test]
async fn a_tenants_data_key_is_replaced() {
    let desk = Desk::set().await;
    let keys = [desk.key_file.as_str()];
    let resealed = desk.locksmith(&keys).rotate_tenant(desk.scope).await.expect("rotate");
    assert_eq!(resealed, 2, "a gateway's secret and a bot's key");

    assert!(desk.opens_with(&keys).await);
    let mut admin = desk.database.admin().await;
    assert_eq!(count(&mut admin, "gateway_secrets where key_id < 2").await, 0);
    assert_eq!(count(&mut admin, "bot_keys where key_id < 2").await, 0);
    desk.store.forget_ended().await.expect("forget");
    assert_eq!(count(&mut admin, "tenant_keys").await, 2, "somebody may just have read it");
    run(&mut admin, "update tenant_keys set replaced_at = replaced_at - interval '11 minutes'")
        .await;
    desk.store.forget_ended().await.expect("forget");
    assert_eq!(count(&mut admin, "tenant_keys").await, 1);
    assert!(desk.opens_with(&keys).await);
}

#[tokio::test]
async fn of_an_erased_tenant_nothing_opens_and_nobody_is_served() {
    let desk = Desk::set().await;
    let keys = [desk.key_file.as_str()];
    let register = desk.register(&keys);
    register.create_tenant(Actor::Operator, "other").await.expect("enter a tenant");
    desk.locksmith(&keys).erase(desk.scope).await.expect("erase");

    assert!(register.bot(desk.bot).await.expect("a store").is_none());
    assert!(desk.store.gateways_named("gw").await.expect("a store").is_empty(), "no service");
    let revoked = desk.store.revoked_within(Duration::from_mins(1)).await.expect("a store");
    assert_eq!(revoked.len(), 1, "its lines are closed");
    assert!(register.create_gateway(desk.scope, desk.agent, "gw-2").await.is_err());
    let again = desk.locksmith(&keys).rotate_tenant(desk.scope).await;
    assert!(matches!(again, Err(RekeyError::Erased)), "{again:?}");
    assert_eq!(count(&mut desk.database.admin().await, "tenant_keys").await, 1, "only the other's");
    register.create_tenant(Actor::Operator, "acme").await.expect("its name is free");
}

/// A person to whom a capability was lent, as the accept wrote it.
struct Lent {
    postgres: Postgres,
    cast: People,
    register: Register,
}

const KIND: &str = "discord.interaction_token";

impl Lent {
    async fn set() -> Self {
        let postgres = postgres().await;
        let cast = People::of(&postgres, 2).await;
        let store = Arc::<Pg>::clone(&postgres.store);
        Self { postgres, cast, register: Register::new(store, test_vault()) }
    }

    /// Accepts an event of the first person with a capability.
    async fn lend(&self, key: &str, good_for: Duration) {
        let ann = &self.cast.people[0];
        let event = event().keyed(key).from(&ann.author);
        let accept: AcceptRequest = self.cast.accept(&self.postgres.store, &event).await;
        let secret = Key::new("t0ken".to_owned());
        let capability = Capability { kind: KIND.to_owned(), secret, good_for };
        let at = CapabilityPlace { bot: self.cast.bot.id, chat: accept.chat_id() };
        let session = [SessionKey::new("s1").expect("a key")];
        let bound = self.register.bind(ann.scope, ann.agent, at, &session, &capability).await;
        let written = |sealed: SealedCapability| nightdesk_inbox::EntryCapability {
            agent: sealed.agent,
            session: *sealed.session.bytes(),
            kind: sealed.kind,
            sealed: sealed.sealed,
            key: sealed.key,
            good_for: sealed.good_for,
        };
        let bound = bound.expect("seal").into_iter().map(written).collect();
        self.postgres.store.accept(&[accept.with_capabilities(bound)]).await.expect("put");
    }

    async fn place(&self, person: usize, session: &str) -> Option<(BotId, String)> {
        let person = &self.cast.people[person];
        let session = SessionDigest::from_key(session);
        let lessee =
            CapabilitySession { scope: person.scope, agent: person.agent, session, kind: KIND };
        self.register.find_capability_place(&lessee).await.expect("ask")
    }

    async fn of(&self, person: usize, session: &str, kind: &str) -> Option<Option<String>> {
        let person = &self.cast.people[person];
        let session = SessionDigest::from_key(session);
        let lessee = CapabilitySession { scope: person.scope, agent: person.agent, session, kind };
        let at = CapabilityPlace { bot: self.cast.bot.id, chat: "c1" };
        let lent = self.register.find_capability(&lessee, at).await.ok()?;
        Some(lent.map(|lent| lent.with(str::to_owned)))
    }
}

#[tokio::test]
async fn a_capability_is_found_by_whom_it_was_lent_to() {
    let lent = Lent::set().await;
    lent.lend("k1", Duration::from_mins(15)).await;

    assert_eq!(lent.of(0, "s1", KIND).await, Some(Some("t0ken".to_owned())));
    assert_eq!(lent.of(1, "s1", KIND).await, Some(None), "another tenant's agent");
    assert_eq!(lent.of(0, "s2", KIND).await, Some(None), "another session");
    assert_eq!(lent.of(0, "s1", "other").await, Some(None), "another kind");
}

#[tokio::test]
async fn a_capability_that_was_moved_does_not_open() {
    let moves = [
        "session_sha256 = sha256('s2')",
        "kind = 'other'",
        "chat_id = 'c1', bot_id = gen_random_uuid()",
        "sealed = set_byte(sealed, 20, 255 - get_byte(sealed, 20))",
    ];
    for moved in moves {
        let lent = Lent::set().await;
        lent.lend("k1", Duration::from_mins(15)).await;
        let mut admin = lent.postgres.database.admin().await;
        run(&mut admin, &format!("update capabilities set {moved}")).await;

        for (session, kind) in [("s1", KIND), ("s2", KIND), ("s1", "other")] {
            let found = lent.of(0, session, kind).await;
            assert!(found.flatten().is_none(), "{moved}: {session} {kind}");
        }
    }
}

#[tokio::test]
async fn a_capability_moved_to_another_tenant_does_not_open() {
    let lent = Lent::set().await;
    lent.lend("k1", Duration::from_mins(15)).await;
    let bob = &lent.cast.people[1];
    let moved = format!(
        "update capabilities set tenant_id = '{}', agent_id = '{}'",
        bob.scope.tenant(),
        bob.agent
    );
    run(&mut lent.postgres.database.admin().await, &moved).await;

    assert_eq!(lent.of(1, "s1", KIND).await, None, "it is found and does not open");
}

#[tokio::test]
async fn a_capability_ends_and_is_gone() {
    let lent = Lent::set().await;
    lent.lend("k1", Duration::from_mins(15)).await;
    let mut admin = lent.postgres.database.admin().await;
    run(&mut admin, "update capabilities set expires_at = now()").await;

    assert_eq!(lent.of(0, "s1", KIND).await, Some(None));
    assert_eq!(count(&mut admin, "capabilities").await, 1);
    assert!(lent.place(0, "s1").await.is_some(), "where it acted is known");
    lent.postgres.store.forget_ended().await.expect("forget");
    let wiped = "capabilities where sealed = ''";
    assert_eq!(count(&mut admin, wiped).await, 1, "and nothing else of it");
    assert!(lent.place(0, "s1").await.is_some(), "a day longer");
    assert_eq!(
        (lent.place(1, "s1").await, lent.place(0, "s2").await),
        (None, None),
        "by nobody else"
    );

    run(&mut admin, "update capabilities set expires_at = now() - interval '1 day'").await;
    assert_eq!(lent.place(0, "s1").await, None);
    lent.postgres.store.forget_ended().await.expect("forget");
    assert_eq!(count(&mut admin, "capabilities").await, 0);
}

#[tokio::test]
async fn a_repeat_lends_nothing() {
    let lent = Lent::set().await;
    lent.lend("k1", Duration::from_mins(15)).await;
    let mut admin = lent.postgres.database.admin().await;
    run(&mut admin, "delete from capabilities").await;

    lent.lend("k1", Duration::from_mins(15)).await;
    assert_eq!(count(&mut admin, "capabilities").await, 0, "its event is a duplicate");
}

#[tokio::test]
async fn the_size_of_a_sealed_body_is_known_in_sql() {
    let mut admin = postgres().await.database.admin().await;
    let sql = "select body_bytes(decode(repeat('00', $1), 'hex'))";
    let extra = i32::try_from(SEALED_EXTRA_BYTES).expect("a few bytes");
    for (sealed, plain) in [(0, 0), (extra, 0), (extra + 5, 5)] {
        let bytes: i32 =
            sqlx::query_scalar(sql).bind(sealed).fetch_one(&mut admin).await.expect("ask");
        assert_eq!(bytes, plain, "{sealed}");
    }
}
