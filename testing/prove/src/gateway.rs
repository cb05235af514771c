//! Gateways: the lines of all agents, held by one process.
//!
//! They do what a client must and no more, because they share the machine with what is
//! measured: no frame is parsed, and what came in one read is acked in one write.

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

/// Dials under way at a time.
const DIALS_AT_ONCE: usize = 64;

/// What the process is told when it starts.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Where the desk's nodes are. Lines are spread over them.
    #[arg(long, required = true)]
    desk: Vec<SocketAddr>,
    /// The file with everybody in it.
    #[arg(long)]
    cast: PathBuf,
}

/// What the gateways can be told.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Dial in, all of them.
    Dial,
    /// From now on, whoever loses its line dials again as the stock client does.
    ComeBack,
    /// Say how things stand.
    Count,
    /// Put what was acked into a file.
    Save(PathBuf),
}

/// How things stand with the gateways.
#[derive(Debug, Serialize, Deserialize)]
pub struct Standing {
    /// Entries received whose ack was sent.
    pub acked: u64,
    /// Of those, entries that were posted to another node than their line's.
    pub crossed: u64,
    /// Lines that are open.
    pub open: u64,
    /// Pings of the desk that were answered.
    pub pings: u64,
    /// Lines that are open again after they ended.
    pub again: u64,
    /// Dials that the desk told to come again.
    pub put_off: u64,
    /// Gateways that were told that they are revoked, and so never dial again.
    pub revoked: u64,
    /// Why the first line that ended did.
    pub problem: Option<String>,
}

/// What all lines write down.
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

/// What all lines share.
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
        clock: SystemClock::started(),
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
