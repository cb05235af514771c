//! Load probe: a small query, asked again and again, shows how a database bears what happens.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use crate::cluster::Cluster;
use crate::psql::Looker;

/// How often it asks.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// A row that everybody needs, and how many connections the desk has.
const QUESTION: &str = "
    select (select next_seq from inbox_heads limit 1),
        (select count(*) from pg_stat_activity where application_name = 'nightdesk')";

/// A running probe.
#[derive(Debug)]
pub struct LoadProbe {
    tell: Sender<()>,
    thread: JoinHandle<Result<Seen>>,
}

/// What it saw.
#[derive(Debug, Default)]
pub struct Seen {
    /// How long each answer took.
    pub took: Vec<Duration>,
    /// The most connections the desk had.
    pub connections_max: u64,
}

impl LoadProbe {
    /// Begins to ask, over a connection of its own.
    pub fn start(cluster: &Cluster, database: &str) -> Self {
        let mut looker = Looker::at(cluster.program("psql"), cluster.admin_url(database));
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            // The first opens the connection.
            looker.ask(QUESTION)?;
            let mut seen = Seen::default();
            while told.recv_timeout(ASK_EVERY) == Err(RecvTimeoutError::Timeout) {
                seen.ask(&mut looker)?;
            }
            Ok(seen)
        });
        Self { tell, thread }
    }

    /// Asks no more, and says what it saw.
    pub fn end(self) -> Result<Seen> {
        drop(self.tell);
        self.thread.join().map_err(|_| anyhow!("the probe ended badly"))?
    }
}

impl Seen {
    fn ask(&mut self, looker: &mut Looker) -> Result<()> {
        let began = Instant::now();
        let rows = looker.ask(QUESTION)?;
        self.took.push(began.elapsed());
        let connections = rows.first().and_then(|row| row.rsplit('|').next());
        let connections: u64 = connections.context("the probe got no answer")?.parse()?;
        self.connections_max = self.connections_max.max(connections);
        Ok(())
    }
}
