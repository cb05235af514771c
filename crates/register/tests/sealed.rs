//! Secrets that do not open.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::sync::Arc;

use nightdesk_memory::Memory;
use nightdesk_protocol::upgrade_token::{self, PlausibleToken, UpgradeToken};
use nightdesk_register::{GatewayProof, NewSecret, Register, RegisterError};
use nightdesk_testkit::FakeClock;
use nightdesk_testkit::logs::Log;
use nightdesk_types::{Actor, AgentId, DataKeyId, TenantScope, Timestamp};
use nightdesk_vault::{Key, Vault};
use tracing_subscriber::util::SubscriberInitExt;
use uuid::Uuid;

/// The name of every gateway.
const NAME: &str = "gw-1";

async fn tenant(register: &Register, name: &str) -> (TenantScope, AgentId) {
    let scope = TenantScope::for_tenant(
        register.create_tenant(Actor::Operator, name).await.expect("a tenant"),
    );
    (scope, register.store().create_agent(scope, name).await.expect("an agent"))
}

fn token(secret: &str) -> PlausibleToken {
    let now = Timestamp::from_second(1_800_000_000).expect("a time");
    let token = upgrade_token::make(NAME, secret.as_bytes(), 300, now);
    let token = UpgradeToken::peek(token.expose()).expect("a token");
    token.at_the_door(now).expect("a fresh token")
}

#[tokio::test]
async fn a_secret_that_does_not_open_is_its_own_gateways_trouble_alone() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false);
    let _logging = subscriber.with_writer(move || writer.clone()).finish().set_default();
    let vault = Vault::from_key_file(&Vault::new_key_file()).expect("a new key file is good");
    let register = Register::new(Arc::new(Memory::new(FakeClock::default())), vault);
    let (bob, bobs_agent) = tenant(&register, "bob").await;
    let (ann, anns_agent) = tenant(&register, "ann").await;
    let sealed_elsewhere =
        NewSecret { id: Uuid::from_u128(7), sealed: vec![0; 64], key: DataKeyId::new(1) };
    let entered = register.store().create_gateway(bob, bobs_agent, NAME, &sealed_elsewhere).await;
    let bobs = entered.expect("a gateway");
    let (anns, secret): (_, Key) =
        register.create_gateway(ann, anns_agent, NAME).await.expect("a gateway");

    for _ in 0..3 {
        let found = register.identify(&secret.with(token)).await;
        let found = found.expect("the other tenant's secret opens");
        assert!(matches!(found, Some(GatewayProof::Valid(gateway)) if gateway.id == anns));
    }
    let unknown = register.identify(&token("guess")).await;
    assert!(matches!(unknown, Err(RegisterError::Sealed(_))), "it may be the one that is shut");
    let reports = log.text().matches("a gateway's secret does not open").count();
    assert_eq!(reports, 1, "each is told once: {}", log.text());
    assert!(log.text().contains(&bobs.to_string()), "{}", log.text());
}
