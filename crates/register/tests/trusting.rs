//! Another issuer's tokens, over a store: each is resolved to its agent or refused.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::error::Error;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use nightdesk_memory::Memory;
use nightdesk_protocol::Bearer;
use nightdesk_register::enrolment::Identity;
use nightdesk_register::issuer::{IssuerSession, Sessions};
use nightdesk_register::issuers::{AgentBy, FetchKeys, KeySource, TrustedIssuer};
use nightdesk_register::{
    Caller, CallerCheck, CallerProof, Issuer, Issuers, Register, RegisterError,
};
use nightdesk_testkit::FakeClock;
use nightdesk_types::{Actor, AgentId, TenantScope, Timestamp};
use nightdesk_vault::Vault;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;

const NOW: i64 = 1_800_000_000;
const URL: &str = "https://login.example.org";

/// The issuer's key, and its server, which may be down.
struct Login {
    signing: EncodingKey,
    up: Mutex<bool>,
}

impl Login {
    fn new() -> Arc<Self> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let signing = EncodingKey::from_ec_der(pair.expect("random bytes").as_ref());
        Arc::new(Self { signing, up: Mutex::new(true) })
    }

    /// Returns a token with these claims in addition to the common ones.
    fn token(&self, says: &Value) -> String {
        let mut claims = json!({
            "iss": URL, "sub": "s", "aud": "nightdesk", "iat": NOW, "exp": NOW + 600,
        });
        let says = says.as_object().cloned().expect("claims are an object");
        claims.as_object_mut().expect("an object").extend(says);
        let mut header = Header::new(Algorithm::ES256);
        header.kid = Some("k1".to_owned());
        encode(&header, &claims, &self.signing).expect("it signs")
    }
}

#[async_trait]
impl FetchKeys for Login {
    async fn fetch(&self, _: &KeySource) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        if !*self.up.lock().expect("no panic") {
            return Err("it is down".into());
        }
        let mut key = Jwk::from_encoding_key(&self.signing, Algorithm::ES256)?;
        key.common.key_id = Some("k1".to_owned());
        Ok(json!({ "keys": [key] }).to_string().into_bytes())
    }
}

/// Two tenants with an agent each, and a desk that trusts the login.
struct Stage {
    login: Arc<Login>,
    memory: Memory,
    register: Register,
    issuers: Issuers,
    ann: (TenantScope, AgentId),
    bob: (TenantScope, AgentId),
}

impl Stage {
    async fn set(agent_by: AgentBy) -> Self {
        let memory = Memory::new(FakeClock::default());
        let store = || Arc::new(memory.clone());
        let vault = Vault::from_key_file(&Vault::new_key_file()).expect("a new key file");
        let register = Register::new(store(), vault.clone());
        let login = Login::new();
        let trusted = TrustedIssuer {
            url: URL.to_owned(),
            keys: KeySource::Url(format!("{URL}/jwks")),
            audience: "nightdesk".to_owned(),
            tenant_claim: "tid".to_owned(),
            agent_by,
        };
        let fetch: Arc<dyn FetchKeys> = Arc::<Login>::clone(&login);
        let own = Issuer::new(store(), vault, "https://desk.test");
        let issuers = Issuers::only_own(own).trusting(vec![trusted], &fetch, &TaskTracker::new());
        let ann = household(&register, "ann").await;
        let bob = household(&register, "bob").await;
        Self { login, memory, register, issuers, ann, bob }
    }

    async fn identity(&self, says: Value) -> Option<(TenantScope, AgentId)> {
        let found = self.issuers.identify(&self.login.token(&says), now()).await;
        found.expect("a store").map(|Identity { scope, agent, .. }| (scope, agent))
    }

    async fn caller(&self, token: &str) -> Result<Option<CallerCheck>, RegisterError> {
        self.register.caller(&self.issuers, &Bearer::Jwt(token), now()).await
    }
}

async fn household(register: &Register, name: &str) -> (TenantScope, AgentId) {
    let tenant = register.create_tenant(Actor::Operator, name).await.expect("enter a tenant");
    let scope = TenantScope::for_tenant(tenant);
    (scope, register.store().create_agent(scope, "helper").await.expect("enter an agent"))
}

fn now() -> Timestamp {
    Timestamp::from_second(NOW).expect("a time")
}

#[tokio::test]
async fn a_machine_is_its_client_or_its_session() {
    let stage = Stage::set(AgentBy::Either).await;
    let (scope, agent) = stage.ann;
    let session = IssuerSession { issuer: Some(URL.to_owned()), id: "s1".to_owned() };
    let begun = stage.memory.begin_session(scope, agent, &session, None).await;
    assert!(begun.expect("begin a session"));
    let (client, bobs) = (format!("agent:{agent}"), format!("agent:{}", stage.bob.1));
    let ann = Some(stage.ann);
    let cases = [
        ("its client", json!({ "tid": "ann", "client_id": client }), ann),
        ("its client by another name", json!({ "tid": "ann", "azp": client }), ann),
        ("the tenant's id", json!({ "tid": scope.tenant(), "client_id": client }), ann),
        ("its session", json!({ "tid": "ann", "client_id": "hermes", "sid": "s1" }), ann),
        ("a session alone", json!({ "tid": "ann", "sid": "s1" }), ann),
        ("neither", json!({ "tid": "ann", "client_id": "hermes" }), None),
        ("another's session", json!({ "tid": "ann", "sid": "s2" }), None),
        ("another tenant's agent", json!({ "tid": "ann", "client_id": bobs }), None),
        ("another tenant's session", json!({ "tid": "bob", "sid": "s1" }), None),
        ("another tenant", json!({ "tid": "bob", "client_id": client }), None),
        ("no such tenant", json!({ "tid": "nobody", "client_id": client }), None),
        ("no tenant", json!({ "client_id": client }), None),
        (
            "a foreign agent, with a session",
            json!({ "tid": "ann", "client_id": bobs, "sid": "s1" }),
            None,
        ),
        ("for somebody else", json!({ "tid": "ann", "client_id": client, "aud": "x" }), None),
        ("for the agent alone", json!({ "tid": "ann", "client_id": client, "aud": client }), None),
        ("a fire", json!({ "tid": "ann", "client_id": client, "purpose": "cron_fire" }), None),
    ];
    for (name, says, want) in cases {
        assert_eq!(stage.identity(says).await, want, "{name}");
    }
}

#[tokio::test]
async fn an_operator_says_by_which_of_the_two() {
    for (by, by_client, by_session) in
        [(AgentBy::Client, true, false), (AgentBy::Session, false, true)]
    {
        let stage = Stage::set(by).await;
        let (scope, agent) = stage.ann;
        let session = IssuerSession { issuer: Some(URL.to_owned()), id: "s1".to_owned() };
        let begun = stage.memory.begin_session(scope, agent, &session, None).await;
        assert!(begun.expect("begin a session"));

        let client = json!({ "tid": "ann", "client_id": format!("agent:{agent}") });
        assert_eq!(stage.identity(client).await.is_some(), by_client, "{by:?}");
        let session = json!({ "tid": "ann", "sid": "s1" });
        assert_eq!(stage.identity(session).await.is_some(), by_session, "{by:?}");
    }
}

#[tokio::test]
async fn a_caller_is_the_agent_that_the_audience_names() {
    let stage = Stage::set(AgentBy::Either).await;
    let (scope, agent) = stage.ann;
    let aud = format!("agent:{agent}");
    let cases = [
        ("the agent", json!({ "tid": "ann", "aud": aud }), true),
        ("the agent in a list of one", json!({ "tid": "ann", "aud": [aud] }), true),
        ("the agent and the desk", json!({ "tid": "ann", "aud": [aud, "nightdesk"] }), false),
        ("the desk", json!({ "tid": "ann", "client_id": aud }), false),
        ("in another tenant", json!({ "tid": "bob", "aud": aud }), false),
        ("in capitals", json!({ "tid": "ann", "aud": aud.to_uppercase() }), false),
        ("without dashes", json!({ "tid": "ann", "aud": aud.replace('-', "") }), false),
        ("a fire", json!({ "tid": "ann", "aud": aud, "purpose": "cron_fire" }), false),
    ];
    for (name, says, known) in cases {
        let found = stage.caller(&stage.login.token(&says)).await.expect("a store");
        let want = CallerCheck::Known(Caller { scope, agent, proof: CallerProof::Token });
        assert_eq!(found, known.then_some(want), "{name}");
    }
}

// T50, T54: an issuer whose keys cannot be read causes no refusal.
#[tokio::test]
async fn an_issuer_that_is_down_is_no_refusal() {
    let stage = Stage::set(AgentBy::Either).await;
    *stage.login.up.lock().expect("no panic") = false;
    let token =
        stage.login.token(&json!({ "tid": "ann", "aud": format!("agent:{}", stage.ann.1) }));

    let called = stage.caller(&token).await;
    assert!(matches!(called, Err(RegisterError::NoIssuerKeys)), "{called:?}");
    let own = stage.issuers.own_issuer().agent_token(stage.ann.0, stage.ann.1, now()).await;
    let own = own.expect("a token").with(str::to_owned);
    assert!(stage.caller(&own).await.expect("a store").is_some(), "the desk's own go on");
}
