//! Chaos: a whole world under faults, and everything that was seen of it, written down.
//!
//! [`world`] starts real nodes over a real database, and beside them, as processes of their own,
//! a [`platform`] that posts and is called, a [`street`] of people on Discord and Telegram, and
//! [`gateways`] with [`manner`]s of every kind, agents with [`jobs`], and agents that write [`letters`]
//! and share a shelf. Each writes a history; a [`probe`] adds what the tables say. [`run`] strikes [`faults`] while all of
//! them are at work, lets everything come to rest, and hands the histories to the judge.
//! [`mutants`] does the same to desks with a bug planted, which the judge must find.
//!
//! # Promise
//!
//! Who writes, what is written and which faults strike when follows from the seed. What a
//! machine makes of it does not, so a failed history is kept.

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
pub mod probe;
pub mod faults;
pub mod in_flight;
mod afterwards;
pub mod run;
pub mod mutants;
