//! Measures the load of a database with a small repeated query.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use crate::cluster::Cluster;
use crate::psql::Looker;

/// Interval of the query.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// Reads a row that every accept needs, and the number of the desk's connections.
const QUESTION: &str = "
    select (select next_seq from inbox_heads limit 1),
        (select count(*) from pg_stat_activity where application_name = 'nightdesk')";

/// A running probe.
#[derive(Debug)]
pub struct LoadProbe {
    tell: Sender<()>,
    thread: JoinHandle<Result<Seen>>,
}

/// The measurements.
#[derive(Debug, Default)]
pub struct Seen {
    /// Duration of each query.
    pub took: Vec<Duration>,
    /// Maximum number of the desk's connections.
    pub connections_max: u64,
}

impl LoadProbe {
    /// Starts the query on a separate connection.
    pub fn start(cluster: &Cluster, database: &str) -> Self {
        let mut looker = Looker::at(cluster.program("psql"), cluster.admin_url(database));
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            // The first query opens the connection.
            looker.ask(QUESTION)?;
            let mut seen = Seen::default();
            while told.recv_timeout(ASK_EVERY) == Err(RecvTimeoutError::Timeout) {
                seen.ask(&mut looker)?;
            }
            Ok(seen)
        });
        Self { tell, thread }
    }

    /// Stops the query. Returns the measurements.
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
