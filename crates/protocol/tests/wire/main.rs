//! Tests of the wire formats against data of real clients.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot set up should stop")]

mod strategies;
mod session_keys;
mod upgrade_tokens;
mod hermes_frames;
mod frames;
mod poison;
mod tolerance;
mod bodies;
mod made_vectors;
mod vectors;
// `nightdesk-api` turns the feature on in every build of the workspace.
#[cfg(feature = "openapi")]
mod schemas;
