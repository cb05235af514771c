//! The bell between nodes, over a real Redis that is well, is lost in every way, or lies.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

mod across;
mod ceiling;
mod losses;
mod lies;
mod node;
mod server;
