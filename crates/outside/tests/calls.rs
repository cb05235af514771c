//! Calls over real sockets: a name server, hosts with certificates, and hostile behaviour.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

#[path = "calls/name_server.rs"]
mod name_server;
#[path = "calls/host.rs"]
mod host;
#[path = "calls/stage.rs"]
mod stage;
#[path = "calls/replies.rs"]
mod replies;
#[path = "calls/certificates.rs"]
mod certificates;
#[path = "calls/names.rs"]
mod names;
#[path = "calls/slow.rs"]
mod slow;
#[path = "calls/rates.rs"]
mod rates;
