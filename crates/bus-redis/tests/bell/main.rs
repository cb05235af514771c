//! Tests of the bell over a real Redis that works, fails in every way, or forges hints.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

mod across;
mod ceiling;
mod losses;
mod lies;
mod node;
mod server;
