//! Fire tokens: an agent accepts them, and every route of the desk refuses them.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use nightdesk_memory::Memory;
use nightdesk_protocol::Bearer;
use nightdesk_register::issuer::KeyAlgorithm;
use nightdesk_register::{Issuer, Issuers, Register};
use nightdesk_testkit::FakeClock;
use nightdesk_types::{Actor, AgentId, FireId, TenantScope, Timestamp};
use nightdesk_vault::Vault;
use serde_json::{Value, json};
use uuid::Uuid;

const NOW: i64 = 1_800_000_000;
const URL: &str = "https://desk.example.org/behind/a/path";
const FIRE: FireId = FireId::from_uuid(Uuid::from_u128(7));

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn issuer(memory: &Memory, vault: &Vault, algorithm: KeyAlgorithm) -> Issuer {
    Issuer::new(Arc::new(memory.clone()), vault.clone(), URL).with_algorithm(algorithm)
}

fn vault() -> Vault {
    Vault::from_key_file(&Vault::new_key_file()).expect("a new key file is good")
}

/// Returns the claims that an agent reads from a token with the desk's published keys.
async fn checked(issuer: &Issuer, token: &str, now: i64) -> Value {
    let header = decode_header(token).expect("a token");
    assert_eq!((header.alg, header.typ.as_deref()), (Algorithm::ES256, Some("JWT")));
    let keys = issuer.jwks(at(now)).await.expect("keys");
    let keys: JwkSet = serde_json::from_value(keys).expect("a set of keys");
    let key = keys.find(&header.kid.expect("it names its key")).expect("it is published");
    let mut only_signature = Validation::new(Algorithm::ES256);
    only_signature.validate_exp = false;
    only_signature.validate_aud = false;
    let key = DecodingKey::from_jwk(key).expect("a key");
    decode(token, &key, &only_signature).expect("it is signed").claims
}

#[tokio::test]
async fn a_token_of_a_fire_says_whose_and_which_and_for_how_long() {
    for algorithm in [KeyAlgorithm::Es256, KeyAlgorithm::Rs256] {
        let issuer = issuer(&Memory::new(FakeClock::default()), &vault(), algorithm);
        let agent = AgentId::from_uuid(Uuid::from_u128(9));
        let token = issuer.fire_token(agent, FIRE, at(NOW)).await.expect("a token");

        let claims = checked(&issuer, &token.with(str::to_owned), NOW).await;
        let want = json!({
            "iss": URL, "aud": "agent:00000000-0000-0000-0000-000000000009",
            "purpose": "cron_fire", "jti": "00000000-0000-0000-0000-000000000007",
            "iat": NOW, "nbf": NOW, "exp": NOW + 90,
        });
        assert_eq!(claims, want, "{algorithm:?}");
    }
}

#[tokio::test]
async fn what_the_issuer_signs_else_is_signed_as_it_is_wished() {
    let (memory, vault) = (Memory::new(FakeClock::default()), vault());
    let agent = AgentId::from_uuid(Uuid::from_u128(9));
    let scope = TenantScope::for_tenant(nightdesk_types::TenantId::from_uuid(Uuid::from_u128(1)));
    let day = i64::try_from(Duration::from_hours(24).as_secs()).expect("a day");
    for now in [NOW, NOW + 2 * day, NOW + 31 * day, NOW + 62 * day] {
        let issuer = issuer(&memory, &vault, KeyAlgorithm::Rs256);
        let access = issuer.agent_token(scope, agent, at(now)).await.expect("a token");
        let algorithm = access.with(|token| decode_header(token).expect("a token").alg);
        assert_eq!(algorithm, Algorithm::RS256, "{}", (now - NOW) / day);
        let fire = issuer.fire_token(agent, FIRE, at(now)).await.expect("a token");
        checked(&issuer, &fire.with(str::to_owned), now).await;
        let believed = issuer.agent_of(&access.with(str::to_owned), at(now)).await;
        assert_eq!(believed.expect("a store"), Some((scope, agent)));
    }
}

// T29: no route of the desk accepts a fire token.
#[tokio::test]
async fn a_token_of_a_fire_is_for_its_agent_alone() {
    let (memory, vault) = (Memory::new(FakeClock::default()), vault());
    let register = Register::new(Arc::new(memory.clone()), vault.clone());
    let scope = TenantScope::for_tenant(
        register.create_tenant(Actor::Operator, "ann").await.expect("a tenant"),
    );
    let agent = register.store().create_agent(scope, "ann").await.expect("an agent");
    let issuers = Issuers::only_own(issuer(&memory, &vault, KeyAlgorithm::Es256));
    let fire = issuers.own_issuer().fire_token(agent, FIRE, at(NOW)).await.expect("a token");
    let fire = fire.with(str::to_owned);
    let access = issuers.own_issuer().agent_token(scope, agent, at(NOW)).await.expect("a token");
    let access = access.with(str::to_owned);

    for (token, known) in [(&access, true), (&fire, false)] {
        let caller = register.caller(&issuers, &Bearer::Jwt(token), at(NOW)).await;
        assert_eq!(caller.expect("a store").is_some(), known);
        // A dial asks for the agent of its token, too.
        let dials = issuers.agent_of(token, at(NOW)).await;
        assert_eq!(dials.expect("a store").is_some(), known);
    }
    assert_eq!(issuers.identify(&fire, at(NOW)).await.expect("a store"), None);
}
