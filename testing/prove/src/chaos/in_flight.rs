//! In flight: how many events were on their way when a fault struck.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use nightdesk_judge::{Event, Record};

use super::world::Strike;

/// Events sent longer ago than this are not on their way because of a fault's doing: their
/// gateway does not ack.
const LATELY_NS: u64 = 10_000_000_000;

/// When each event was sent, and when an agent acked it for the last time.
#[derive(Debug, Default)]
struct Times {
    sent: HashMap<String, u64>,
    acked: HashMap<String, u64>,
}

/// How many events had been sent and were acked only afterwards, for each fault.
pub fn hits(folder: &Path, strikes: &[Strike]) -> Result<Vec<(String, usize)>> {
    let times = read(folder)?;
    let hit = |strike: &Strike| {
        let on_their_way = times.sent.iter().filter(|(nonce, sent)| {
            let acked_after = times.acked.get(*nonce).is_some_and(|acked| *acked > strike.at_ns);
            let lately = strike.at_ns.saturating_sub(LATELY_NS)..=strike.at_ns;
            lately.contains(sent) && acked_after
        });
        (strike.number.clone(), on_their_way.count())
    };
    Ok(strikes.iter().map(hit).collect())
}

fn read(folder: &Path) -> Result<Times> {
    let mut times = Times::default();
    let mut nonces = HashMap::new();
    for file in fs::read_dir(folder).context("could not list the histories")?.flatten() {
        let path = file.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let file = File::open(&path).context("could not open a history")?;
            for line in BufReader::new(file).lines() {
                let record = serde_json::from_str(&line?).context("could not read a history")?;
                times.take(record, &mut nonces);
            }
        }
    }
    Ok(times)
}

impl Times {
    fn take(&mut self, record: Record, nonces: &mut HashMap<(String, String), String>) {
        let at_ns = record.at_ns;
        if let Event::PlatSend { nonce, .. } = record.ev {
            self.sent.insert(nonce, at_ns);
        } else if let Event::GwRecv { conn, buffer_id, nonce, .. } = record.ev {
            nonces.insert((conn, buffer_id), nonce);
        } else if let Event::GwAck { conn, buffer_id, .. } = record.ev
            // It was received in the same history before.
            && let Some(nonce) = nonces.get(&(conn, buffer_id))
        {
            let acked = self.acked.entry(nonce.clone()).or_default();
            *acked = at_ns.max(*acked);
        }
    }
}
