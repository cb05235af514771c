//! An agent on real lines, against a whole desk.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

mod wire;
mod taking;
mod dialling;
mod logs;
mod tls;
mod readme;
mod sleeping;
