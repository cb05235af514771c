//! Holds the lines of all agents in one process.
//!
//! The gateways do only the necessary work, because they share the machine with the measured desk: no frame is parsed,
//! and the entries of one read are acked in one write.

mod again;
mod line;
pub(crate) mod socket;
pub(crate) mod wire;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use nightdesk_types::SystemClock;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::history::Ledger;
use crate::setup::Cast;
use crate::worker;
use line::Line;
use socket::NoLine;

/// Maximum number of concurrent dials.
const DIALS_AT_ONCE: usize = 64;

/// Arguments of the process.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Addresses of the desk's nodes. Lines are spread over them.
    #[arg(long, required = true)]
    desk: Vec<SocketAddr>,
    /// File of the cast.
    #[arg(long)]
    cast: PathBuf,
}

/// Commands to the gateways.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Dial in with all gateways.
    Dial,
    /// From now on, redial lost lines as the stock client does.
    ComeBack,
    /// Report the state of the gateways.
    Count,
    /// Write the acked entries to a file.
    Save(PathBuf),
}

/// State of the gateways.
#[derive(Debug, Serialize, Deserialize)]
pub struct Standing {
    /// Entries received whose ack was sent.
    pub acked: u64,
    /// Acked entries that were posted to another node than their line's.
    pub crossed: u64,
    /// Number of open lines.
    pub open: u64,
    /// Number of answered pings.
    pub pings: u64,
    /// Number of lines that were reopened after their end.
    pub again: u64,
    /// Number of dials that the desk deferred.
    pub put_off: u64,
    /// Number of revoked gateways, which never dial again.
    pub revoked: u64,
    /// Reason of the first line's end.
    pub problem: Option<String>,
}

/// Counters of all lines.
#[derive(Debug, Default)]
struct Book {
    acked: Ledger,
    crossed: AtomicU64,
    open: AtomicU64,
    pings: AtomicU64,
    again: AtomicU64,
    put_off: AtomicU64,
    revoked: AtomicU64,
    comes_back: AtomicBool,
    problem: Mutex<Option<String>>,
}

impl Book {
    fn ended(&self, why: &NoLine) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.get_or_insert_with(|| why.to_string());
    }

    fn standing(&self) -> Standing {
        Standing {
            acked: self.acked.count(),
            crossed: self.crossed.load(Ordering::Relaxed),
            open: self.open.load(Ordering::Relaxed),
            pings: self.pings.load(Ordering::Relaxed),
            again: self.again.load(Ordering::Relaxed),
            put_off: self.put_off.load(Ordering::Relaxed),
            revoked: self.revoked.load(Ordering::Relaxed),
            problem: self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// State that all lines share.
#[derive(Debug)]
struct Hall {
    nodes: Vec<SocketAddr>,
    cast: Cast,
    clock: SystemClock,
    book: Book,
}

/// Runs the process.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let hall = Arc::new(Hall {
        nodes: arguments.desk.clone(),
        cast: Cast::load(&arguments.cast)?,
        clock: SystemClock::start(),
        book: Book::default(),
    });
    let book = &hall.book;
    let mut lines = JoinSet::new();
    worker::answer(async |order| {
        match order {
            Order::Dial => dial_all(&hall, &mut lines).await?,
            Order::ComeBack => book.comes_back.store(true, Ordering::Relaxed),
            Order::Count => {}
            Order::Save(file) => book.acked.save(&file)?,
        }
        Ok(book.standing())
    })
    .await
}

async fn dial_all(hall: &Arc<Hall>, lines: &mut JoinSet<()>) -> Result<()> {
    let members = hall.cast.members.iter().enumerate();
    let dialled = members.map(async |(number, member)| {
        let line = Line::dial(&hall.nodes, member.token(&hall.clock).expose(), number).await;
        let line = line.with_context(|| format!("gateway {} got no line", member.gateway))?;
        hall.book.open.fetch_add(1, Ordering::Relaxed);
        anyhow::Ok(line)
    });
    let mut dialled = stream::iter(dialled).buffer_unordered(DIALS_AT_ONCE);
    while let Some(line) = dialled.try_next().await? {
        lines.spawn(again::live(Arc::clone(hall), line));
    }
    Ok(())
}
