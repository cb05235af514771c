//! Simulates agents without a line that are called at their URLs. A called agent dials in with the SDK, takes its
//! entry, and goes to sleep again.
//!
//! All agents run on one thread, as one agent would in its own process, so a recorded time is the time of the event and
//! not of a later thread.

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

/// Path of an agent's wake URL: `/wake/17`.
const WAKE: &str = "/wake/";

/// Path of a call without a desk behind it, followed by its start time.
pub(crate) const BARE: &str = "/bare/";

/// Arguments of the process.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Address of the desk.
    #[arg(long)]
    desk: SocketAddr,
    /// Address of the loopback, which answers lines without a desk.
    #[arg(long)]
    loopback: SocketAddr,
    /// Address on which calls arrive.
    #[arg(long)]
    target: SocketAddr,
    /// File of the cast.
    #[arg(long)]
    cast: PathBuf,
}

/// Commands to the sleepers.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Report the measurements so far.
    Tell,
    /// Dial the loopback.
    DialBare {
        /// Number of dials.
        dials: u64,
        /// Dials per second.
        per_second: u32,
    },
    /// Discard the measurements so far.
    Forget,
}

/// The sleepers' measurements. Times of day are in microseconds since 1970.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Seen {
    /// Agent and time of each call.
    pub calls: Vec<(usize, u64)>,
    /// Agent and time from dial to first entry.
    pub firsts: Vec<(usize, Duration)>,
    /// Duration of each bare call.
    pub bare_calls: Vec<Duration>,
    /// Time from dial to first frame of each bare line.
    pub bare_firsts: Vec<Duration>,
    /// The first error.
    pub problem: Option<String>,
}

/// State that all sleepers share.
#[derive(Debug)]
struct Dormitory {
    desk: SocketAddr,
    loopback: SocketAddr,
    cast: Cast,
    seen: Mutex<Seen>,
}

impl Dormitory {
    fn note(&self, note: impl FnOnce(&mut Seen)) {
        // The measurements are consistent at every step, also if a holder panicked.
        note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the time of day in microseconds since 1970: processes of one machine share that clock.
pub(crate) fn micros_now() -> u64 {
    u64::try_from(SystemClock::start().now().as_microsecond()).unwrap_or_default()
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
