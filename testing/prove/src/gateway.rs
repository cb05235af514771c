//! Gateways: the lines of all agents, held by one process.
//!
//! They do what a client must and no more, because they share the machine with what is
//! measured: no frame is parsed, and what came in one read is acked in one write.

mod line;
pub(crate) mod socket;
pub(crate) mod wire;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use nightdesk_types::SystemClock;
use serde::{Deserialize, Serialize};

use crate::history::Ledger;
use crate::setup::{Cast, Member};
use crate::worker;
use line::Line;

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
    problem: Mutex<Option<String>>,
}

impl Book {
    fn ended(&self, why: &anyhow::Error) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        problem.get_or_insert_with(|| format!("{why:#}"));
    }

    fn standing(&self) -> Standing {
        Standing {
            acked: self.acked.count(),
            crossed: self.crossed.load(Ordering::Relaxed),
            open: self.open.load(Ordering::Relaxed),
            pings: self.pings.load(Ordering::Relaxed),
            problem: self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// Runs the process.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let cast = Cast::load(&arguments.cast)?;
    let book = Arc::new(Book::default());
    worker::answer(async |order| {
        match order {
            Order::Dial => dial_all(&arguments.desk, &cast.members, &book).await?,
            Order::Count => {}
            Order::Save(file) => book.acked.save(&file)?,
        }
        Ok(book.standing())
    })
    .await
}

async fn dial_all(nodes: &[SocketAddr], members: &[Member], book: &Arc<Book>) -> Result<()> {
    let clock = SystemClock::started();
    let dialled = members.iter().enumerate().map(|(number, member)| {
        let (clock, book) = (&clock, Arc::clone(book));
        async move {
            let token = member.token(clock);
            let line = Line::dial(nodes, token.expose(), number).await;
            let line = line.with_context(|| format!("gateway {} got no line", member.gateway))?;
            book.open.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(hold(line, book));
            anyhow::Ok(())
        }
    });
    stream::iter(dialled).buffer_unordered(DIALS_AT_ONCE).try_collect().await
}

async fn hold(mut line: Line, book: Arc<Book>) {
    if let Err(why) = line.hold(&book).await {
        book.ended(&why);
    }
}
