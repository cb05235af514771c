//! The binary, tested from outside: a shell, a socket, and a test server for the store.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

mod agent_trial;
mod audit;
mod commands;
mod desk;
mod dev;
mod docs;
mod doctor;
mod enrolment;
mod erasure;
mod health;
mod nodes;
mod reach;
mod readme;
mod redis;
mod restored;
mod discord;
mod telegram;
mod ticking;
mod letters;
mod peers;
mod ways;
mod shelf;
mod time;
mod tls;
mod trace;
mod waking;
mod webchat;
mod posting;
