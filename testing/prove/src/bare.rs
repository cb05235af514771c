//! Runs the desk's own accept and ack statements on bare PostgreSQL with `pgbench`.

mod script;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::cluster::{APP_ROLE, Cluster, output};
use crate::setup::Cast;

/// Clients that run statements at the same time.
const CLIENTS: usize = 8;

/// Number of different batches that each client runs.
const SCRIPTS: usize = 8;

/// Number of agents needed so that no two batches share an agent.
pub const AGENTS_MIN: usize = CLIENTS * script::EVENTS;

/// A database on which only the statements run.
#[derive(Debug)]
pub struct Bare {
    database: String,
    scripts: Vec<PathBuf>,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    /// Number of events that were accepted and acked.
    pub events: u64,
    /// Duration of the run.
    pub elapsed: Duration,
}

impl Bare {
    /// Writes the scripts for this cast and for bodies of this size.
    pub fn prepare(
        cluster: &Cluster,
        database: &str,
        cast: &Cast,
        body_bytes: usize,
    ) -> Result<Self> {
        let write = |number: usize| {
            let file = cluster.folder().join(format!("{database}-{number}.sql"));
            let text = script::text(cast, script::Place { number, clients: CLIENTS }, body_bytes);
            fs::write(&file, text).context("could not write a script for pgbench")?;
            Ok(file)
        };
        let scripts: Result<Vec<PathBuf>> = (0..SCRIPTS).map(write).collect();
        // The scripts name the version that a head has before any change.
        cluster.ask(database, "update inbox_heads set reach_version = 0")?;
        Ok(Self { database: database.to_owned(), scripts: scripts? })
    }

    /// Runs the scripts for the given number of seconds.
    pub fn run(&self, cluster: &Cluster, seconds: u64) -> Result<Done> {
        let mut pgbench = cluster.client("pgbench");
        pgbench.args(["-n", "-M", "prepared", "-j", "1", "-h", "127.0.0.1", "-U", APP_ROLE]);
        pgbench.args(["-p", &cluster.port().to_string(), "-c", &CLIENTS.to_string()]);
        pgbench.args(["-T", &seconds.to_string()]);
        for script in &self.scripts {
            pgbench.arg("-f").arg(script);
        }
        let said = output(pgbench.arg(&self.database))?;
        done(&said).with_context(|| format!("could not read what pgbench said:\n{said}"))
    }

    /// Checks that exactly these events were accepted and acked.
    pub fn check(&self, cluster: &Cluster, events: u64) -> Result<()> {
        let counts = "select (select count(*) from inbox_entries),
            (select sum(acked_seq) from inbox_cursors), (select sum(next_seq - 1) from inbox_heads)";
        let counts = cluster.ask(&self.database, counts)?;
        let want = format!("{events}|{events}|{events}");
        ensure!(
            counts.trim() == want,
            "bare PostgreSQL has entries, acks and numbers {}, and should have {want}",
            counts.trim()
        );
        Ok(())
    }
}

/// Reads `pgbench`'s report. One transaction of the scripts is one batch of events.
fn done(said: &str) -> Option<Done> {
    let value = |begin: &str| said.lines().find_map(|line| line.trim().strip_prefix(begin));
    let first = |begin: &str| value(begin)?.split_ascii_whitespace().next();
    let batches: u64 = first("number of transactions actually processed:")?.parse().ok()?;
    let per_second: f64 = first("tps =")?.parse().ok()?;
    let failed: u64 = first("number of failed transactions:")?.parse().ok()?;
    let each = Duration::try_from_secs_f64(1.0 / per_second).ok()?;
    let elapsed = each.checked_mul(u32::try_from(batches).ok()?)?;
    (failed == 0).then_some(Done { events: batches * script::EVENTS as u64, elapsed })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "pgbench (15.14)\ntransaction type: multiple scripts\n\
        number of transactions actually processed: 500\n\
        number of failed transactions: 0 (0.000%)\nlatency average = 10 ms\n\
        tps = 250.000000 (without initial connection time)\n";

    #[test]
    fn reads_what_pgbench_says() {
        let want = Done { events: 8_000, elapsed: Duration::from_secs(2) };

        assert_eq!(done(SAID), Some(want));
        assert_eq!(done(&SAID.replace("transactions: 0", "transactions: 1")), None);
        assert_eq!(done("pgbench: error: could not connect\n"), None);
    }
}
