//! Tests the store on a real PostgreSQL: the conformance suites, the isolation of tenants, and the planted bugs that
//! the checks must find.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

#[path = "postgres/server.rs"]
mod server;
#[path = "postgres/suites.rs"]
mod suites;
#[path = "postgres/wall.rs"]
mod wall;
#[path = "postgres/privileges.rs"]
mod privileges;
#[path = "postgres/erasure.rs"]
mod erasure;
#[path = "postgres/audit.rs"]
mod audit;
#[path = "postgres/planted.rs"]
mod planted;
#[path = "postgres/durability.rs"]
mod durability;
#[path = "postgres/server_state.rs"]
mod server_state;
#[path = "postgres/locks.rs"]
mod locks;
#[path = "postgres/lookups.rs"]
mod lookups;
#[path = "postgres/silence.rs"]
mod silence;
#[path = "postgres/upkeep.rs"]
mod upkeep;
#[path = "postgres/leases.rs"]
mod leases;
#[path = "postgres/sources.rs"]
mod sources;
#[path = "postgres/history.rs"]
mod history;
#[path = "postgres/issuer.rs"]
mod issuer;
#[path = "postgres/vault.rs"]
mod vault;
#[path = "postgres/sealing.rs"]
mod sealing;
#[path = "postgres/webchat.rs"]
mod webchat;
#[path = "postgres/shelf.rs"]
mod shelf;
#[path = "postgres/waking.rs"]
mod waking;
#[path = "postgres/wake_rules.rs"]
mod wake_rules;
#[path = "postgres/alerts.rs"]
mod alerts;
#[path = "postgres/office.rs"]
mod office;
