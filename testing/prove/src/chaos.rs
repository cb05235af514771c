//! Runs a whole world under faults, and records its histories.
//!
//! [`world`] starts real nodes on a real database, and beside them separate processes: a [`platform`] that posts and is
//! called, a [`street`] of people on Discord and Telegram, [`gateways`] with [`manner`]s of every kind, agents with
//! [`jobs`], and agents that write [`letters`] and share a shelf. Each process writes a history, and a [`probe`] adds
//! the state of the tables. [`run`] injects [`faults`] (by `means` that undo themselves) while all of them work, waits until the world is idle, and
//! passes the histories to the judge. [`mutants`] does the same to desks with a bug, which the judge must find.
//!
//! # Promise
//!
//! Authors, messages, faults and their times follow from the seed. The timing on a machine does not, so the history of
//! a failed run is retained.

pub mod plan;
pub mod rooms;
pub mod manner;
pub mod world;
pub mod node;
pub mod platform;
pub mod gateways;
pub mod street;
mod asking;
pub mod jobs;
pub mod letters;
pub mod wires;
mod means;
pub mod probe;
pub mod faults;
pub mod in_flight;
mod afterwards;
pub mod mutation;
pub mod run;
pub mod mutants;
