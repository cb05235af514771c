//! Tests of egress between a gate and a platform, on paused time.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

#[path = "stop/stage.rs"]
mod stage;
#[path = "stop/parts.rs"]
mod parts;
#[path = "stop/pace.rs"]
mod pace;
#[path = "stop/fleeting.rs"]
mod fleeting;
#[path = "stop/lives.rs"]
mod lives;
#[path = "stop/owners.rs"]
mod owners;
