//! Tests of several nodes with one issuer.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_register::{IdentityStore, Issuer, Register, RegisterError};
use nightdesk_store_pg::Pg;
use nightdesk_types::{Actor, Clock, SystemClock, TenantScope, Timestamp};
use nightdesk_vault::Vault;

use crate::server::Database;

const URL: &str = "https://desk.test";

/// Creates a node's issuer with its own pool and the key file.
fn issuer(database: &Database, key_file: &str) -> Issuer {
    let vault = Vault::from_key_file(key_file).expect("a good key file");
    Issuer::new(Arc::new(database.store()), vault, URL)
}

fn now() -> Timestamp {
    SystemClock::start().now()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_nodes_that_start_at_once_share_one_key() {
    let database = Database::new().await;
    let key_file = Vault::new_key_file();
    let (one, other) = (issuer(&database, &key_file), issuer(&database, &key_file));

    let (ones, others) = tokio::join!(one.jwks(now()), other.jwks(now()));
    assert_eq!(ones.expect("the keys"), others.expect("the keys"));
}

#[tokio::test]
async fn what_one_node_signs_every_other_knows_again() {
    let database = Database::new().await;
    let key_file = Vault::new_key_file();
    let store = Arc::new(database.store());
    let vault = Vault::from_key_file(&key_file).expect("a good key file");
    let register = Register::new(Arc::<Pg>::clone(&store), vault);
    let tenant = register.create_tenant(Actor::Operator, "acme").await.expect("enter a tenant");
    let scope = TenantScope::for_tenant(tenant);
    let agent = store.create_agent(scope, "helper").await.expect("enter an agent");
    let invited = register.invite(scope, agent, None, Duration::from_mins(1)).await;
    let invited = invited.expect("invite a gateway");
    let (one, other) = (issuer(&database, &key_file), issuer(&database, &key_file));
    let secret = invited.client_secret.with(str::to_owned);

    let token = one.token(&invited.client.to_string(), &secret, now()).await;
    let token = token.expect("a store").expect("a token").with(str::to_owned);
    let known = other.identify(&token, now()).await.expect("a store").expect("it is known");
    assert_eq!((known.scope, known.agent), (scope, agent));
    let elsewhere = issuer(&Database::new().await, &key_file);
    assert_eq!(elsewhere.identify(&token, now()).await.expect("a store"), None, "another desk");
}

#[tokio::test]
async fn another_key_file_opens_no_key() {
    let database = Database::new().await;
    issuer(&database, &Vault::new_key_file()).jwks(now()).await.expect("the keys");

    let stranger = issuer(&database, &Vault::new_key_file()).jwks(now()).await;
    assert!(matches!(stranger, Err(RegisterError::Sealed(_))), "{stranger:?}");
}
