//! Sleepers: agents without a line, each called at its URL. Whoever is called dials in with the
//! SDK, takes what waits, and goes to sleep again.
//!
//! One thread, as an agent's own process would be for itself: what it notes is noted when it
//! happened, and not when another of its threads came to it.

mod agent;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use nightdesk_types::{Clock, SystemClock};
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::pace::Pace;
use crate::setup::Cast;
use crate::{called, worker};

/// Where an agent is called: `/wake/17`.
const WAKE: &str = "/wake/";

/// Where a call comes that has no desk behind it; what follows is when it began.
pub(crate) const BARE: &str = "/bare/";

/// What the process is told when it starts.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Where the desk is.
    #[arg(long)]
    desk: SocketAddr,
    /// Where lines are answered with no desk behind them.
    #[arg(long)]
    loopback: SocketAddr,
    /// Where calls come.
    #[arg(long)]
    target: SocketAddr,
    /// The file with everybody in it.
    #[arg(long)]
    cast: PathBuf,
}

/// What the sleepers can be told.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Say what was seen so far.
    Tell,
    /// Dial where no desk is.
    DialBare {
        /// How often.
        dials: u64,
        /// How often in a second.
        per_second: u32,
    },
    /// Forget what was seen so far.
    Forget,
}

/// What the sleepers saw. Times of day are in microseconds since 1970.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Seen {
    /// When whose call came.
    pub calls: Vec<(usize, u64)>,
    /// How long whose first entry took, from the dial on.
    pub firsts: Vec<(usize, Duration)>,
    /// How long a bare call took.
    pub bare_calls: Vec<Duration>,
    /// How long the first frame of a bare line took, from the dial on.
    pub bare_firsts: Vec<Duration>,
    /// What went wrong first.
    pub problem: Option<String>,
}

/// What all of them share.
#[derive(Debug)]
struct Dormitory {
    desk: SocketAddr,
    loopback: SocketAddr,
    cast: Cast,
    seen: Mutex<Seen>,
}

impl Dormitory {
    fn note(&self, note: impl FnOnce(&mut Seen)) {
        // What is behind it is whole at every step, also if a holder panicked.
        note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The time of day, in microseconds since 1970: processes of one machine share that clock.
pub(crate) fn micros_now() -> u64 {
    u64::try_from(SystemClock::started().now().as_microsecond()).unwrap_or_default()
}

/// Runs the process.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { desk, loopback, target, cast } = arguments;
    let (cast, seen) = (Cast::load(cast)?, Mutex::default());
    let all = Arc::new(Dormitory { desk: *desk, loopback: *loopback, cast, seen });
    let listener = TcpListener::bind(target).await.context("could not listen for calls")?;
    let mut tasks = JoinSet::new();
    tasks.spawn(listen(Arc::clone(&all), listener));
    worker::answer(async |order| {
        match order {
            Order::Tell => {}
            Order::DialBare { dials, per_second } => {
                let pace = Pace::of(dials, per_second);
                agent::dial_bare(&all, &pace).await;
            }
            Order::Forget => all.note(|seen| *seen = Seen::default()),
        }
        Ok(all.seen())
    })
    .await
}

async fn listen(all: Arc<Dormitory>, listener: TcpListener) {
    let mut calls = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while calls.try_join_next().is_some() {}
        calls.spawn(heard(Arc::clone(&all), stream));
    }
}

async fn heard(all: Arc<Dormitory>, mut stream: TcpStream) {
    let path = called::path(&mut stream).await.unwrap_or_default();
    let now = micros_now();
    called::answer(stream).await;
    if let Some(began) = path.strip_prefix(BARE).and_then(|began| began.parse().ok()) {
        let took = Duration::from_micros(now.saturating_sub(began));
        all.note(|seen| seen.bare_calls.push(took));
    } else if let Some(member) = path.strip_prefix(WAKE).and_then(|member| member.parse().ok()) {
        all.note(|seen| seen.calls.push((member, now)));
        agent::wake_up(&all, member).await;
    }
}
