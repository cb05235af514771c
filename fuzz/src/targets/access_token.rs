//! Z12: a token of another issuer is accepted only if a published key of that issuer signed it and every claim has the
//! right type and value. A second implementation decides both here.

use std::error::Error;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
    UnparsedPublicKey,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nightdesk_memory::Memory;
use nightdesk_register::issuers::{AgentBy, FetchKeys, KeySource, TrustedIssuer};
use nightdesk_register::{Issuer, Issuers, Register};
use nightdesk_testkit::FakeClock;
use nightdesk_types::{Actor, AgentId, TenantScope};
use nightdesk_vault::Vault;
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio_util::task::TaskTracker;

use super::adapters::{NOW_SECS, now};
use crate::input::FuzzInput;

const ISSUER: &str = "https://login.example.org";
const AUDIENCE: &str = "nightdesk";
const TENANT_CLAIM: &str = "tid";
const TENANT: &str = "acme";

/// Leeway and longest life of a token, in seconds.
const LEEWAY_SECS: i64 = 30;
const LIFE_SECS_MAX: i64 = 86_400;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));

static LOGIN: LazyLock<Login> = LazyLock::new(|| RUNTIME.block_on(Login::open()));

/// The first byte selects a token that the issuer signs, or one as text. Then come a line with the changes to the
/// published key, a line with the changes to the header or the first part, and the changes to the claims or the rest.
pub(super) fn run(data: &[u8]) {
    let mut input = FuzzInput::new(data);
    let is_signed = input.take_byte().is_multiple_of(2);
    let key = changed(LOGIN.jwk.clone(), input.take_line());
    let header = changed(json!({ "typ": "JWT", "alg": "ES256", "kid": "k1" }), input.take_line());
    let claims = changed(LOGIN.claims(), input.rest());
    let mut token = LOGIN.sign(&header, &claims);
    if !is_signed {
        token = damaged(token, input);
    }
    let published = json!({ "keys": [key] });
    let identity = LOGIN.identify(&token, &published);
    if let Some((scope, agent)) = identity {
        assert_eq!((scope, agent), (LOGIN.scope, LOGIN.agent));
        assert_eq!(is_verified(&token, &published["keys"][0]), Some(true), "{token}");
        assert!(is_right(&token), "{token} has wrong claims");
    }
}

/// The members of the text replace those of the object; a text that is no object changes nothing.
fn changed(object: Value, text: &[u8]) -> Value {
    let Value::Object(mut members) = object else { return object };
    let changes: Map<String, Value> = serde_json::from_slice(text).unwrap_or_default();
    for (name, value) in changes {
        // A claim that is set to the text "-" is removed.
        if value == "-" { drop(members.remove(&name)) } else { drop(members.insert(name, value)) }
    }
    Value::Object(members)
}

fn damaged(token: String, mut input: FuzzInput<'_>) -> String {
    let mut bytes = token.into_bytes();
    let (at, flip) = (usize::from(input.take_u16()) % bytes.len(), input.take_byte());
    bytes[at] ^= flip | 1;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Another issuer, and a desk that trusts it and has one agent.
struct Login {
    key: EcdsaKeyPair,
    /// The public key, as published.
    jwk: Value,
    memory: Memory,
    vault: Vault,
    scope: TenantScope,
    agent: AgentId,
}

impl Login {
    async fn open() -> Self {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
        let point = key.public_key().as_ref();
        let coordinate = |range: std::ops::Range<usize>| URL_SAFE_NO_PAD.encode(&point[range]);
        let jwk = json!({
            "kty": "EC", "crv": "P-256", "kid": "k1", "use": "sig", "alg": "ES256",
            "x": coordinate(1..33), "y": coordinate(33..65),
        });
        let memory = Memory::new(FakeClock::default());
        let vault = Vault::from_key_file(&Vault::new_key_file()).expect("a new key file");
        let register = Register::new(Arc::new(memory.clone()), vault.clone());
        let tenant =
            register.create_tenant(Actor::Operator, TENANT).await.expect("memory does not fail");
        let scope = TenantScope::for_tenant(tenant);
        let agent = register.store().create_agent(scope, "helper").await;
        let agent = agent.expect("memory does not fail");
        Self { key, jwk, memory, vault, scope, agent }
    }

    fn claims(&self) -> Value {
        json!({
            "iss": ISSUER, "aud": AUDIENCE, "sub": "s1", "iat": NOW_SECS, "exp": NOW_SECS + 3_600,
            TENANT_CLAIM: TENANT, "client_id": format!("agent:{}", self.agent),
        })
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let parts = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let message = parts.join(".");
        let signature = self.key.sign(&SystemRandom::new(), message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.expect("it signs")))
    }

    /// Returns the agent that the desk finds for a token while the issuer publishes these keys.
    fn identify(&self, token: &str, published: &Value) -> Option<(TenantScope, AgentId)> {
        let trusted = TrustedIssuer {
            url: ISSUER.to_owned(),
            keys: KeySource::Url(format!("{ISSUER}/jwks")),
            audience: AUDIENCE.to_owned(),
            tenant_claim: TENANT_CLAIM.to_owned(),
            agent_by: AgentBy::Client,
        };
        let own =
            Issuer::new(Arc::new(self.memory.clone()), self.vault.clone(), "https://desk.test");
        let fetch: Arc<dyn FetchKeys> = Arc::new(PublishedKeys(published.to_string().into_bytes()));
        let issuers = Issuers::only_own(own).trusting(vec![trusted], &fetch, &TaskTracker::new());
        let found = RUNTIME.block_on(issuers.identify(token, now())).ok().flatten()?;
        Some((found.scope, found.agent))
    }
}

/// The text at the issuer's address.
struct PublishedKeys(Vec<u8>);

#[async_trait]
impl FetchKeys for PublishedKeys {
    async fn fetch(&self, _: &KeySource) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        Ok(self.0.clone())
    }
}

/// Returns true if the published key may verify tokens of this name and algorithm, and signed the token.
fn is_verified(token: &str, key: &Value) -> Option<bool> {
    let (message, signature) = token.rsplit_once('.')?;
    let header = decode_part(message.split('.').next()?)?;
    let coordinate = |name: &str| URL_SAFE_NO_PAD.decode(key[name].as_str()?).ok();
    let point = [vec![4], coordinate("x")?, coordinate("y")?].concat();
    let verifying = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let is_usable = key["kty"] == "EC"
        && key["crv"] == "P-256"
        && key.get("use").is_none_or(|used| used == "sig" || used.is_null())
        && key.get("alg").is_none_or(|named| named == "ES256" || named.is_null());
    let is_named = header["kid"].is_string() && header["kid"] == key["kid"];
    let is_signed = verifying.verify(message.as_bytes(), &signature).is_ok();
    Some(is_usable && is_named && header["alg"] == "ES256" && is_signed)
}

fn decode_part(part: &str) -> Option<Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// Returns true if every claim of the token is right.
fn is_right(token: &str) -> bool {
    let Some(claims) = token.split('.').nth(1).and_then(decode_part) else { return false };
    let is_text = |name: &str| claims[name].as_str().is_some_and(|text| !text.is_empty());
    let second = |name: &str| claims[name].as_i64();
    let (Some(made), Some(ends)) = (second("iat"), second("exp")) else { return false };
    let begins = if claims.get("nbf").is_some() { second("nbf") } else { Some(made) };
    let is_for_us = claims["aud"] == AUDIENCE
        || claims["aud"].as_array().is_some_and(|all| all.iter().any(|one| one == AUDIENCE));
    claims["iss"] == ISSUER
        && is_for_us
        && is_text("sub")
        && claims[TENANT_CLAIM] == TENANT
        && claims.get("purpose").is_none()
        && made <= NOW_SECS + LEEWAY_SECS
        && begins.is_some_and(|begins| begins <= NOW_SECS + LEEWAY_SECS)
        && NOW_SECS < ends.saturating_add(LEEWAY_SECS)
        && ends.checked_sub(made).is_some_and(|life| (0..=LIFE_SECS_MAX).contains(&life))
        && is_agent(&claims)
}

/// Returns true if the client of the token is the agent, by either name of that claim.
fn is_agent(claims: &Value) -> bool {
    let agent = format!("agent:{}", LOGIN.agent);
    let names = ["client_id", "azp"].map(|name| claims.get(name));
    let is_named = names.iter().flatten().count() > 0;
    is_named && names.into_iter().flatten().all(|name| *name == *agent)
}
