//! Counts the events that were in flight when a fault struck.

mod fires;

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use nightdesk_judge::{Event, GatewayState, Record};

use super::world::{Hit, Strike};
use fires::Fires;

/// Events sent longer ago than this are not in flight because of a fault: their gateway does not ack.
const LATELY_NS: u64 = 10_000_000_000;

/// Time at which each event was sent, and time and agent of its last ack.
#[derive(Debug, Default)]
struct Times {
    sent: HashMap<String, u64>,
    acked: HashMap<String, (u64, String)>,
    /// Agents that thawed, with the time.
    thawed: Vec<(String, u64)>,
    fires: Fires,
}

/// Returns for each fault the number of events sent before it and acked after it, or the number of sends in progress.
pub fn hits(folder: &Path, strikes: &[Strike]) -> Result<Vec<(String, usize)>> {
    let times = read(folder)?;
    let hit = |strike: &Strike| {
        let hits = match &strike.hit {
            Hit::Events => times.on_their_way(strike.at_ns, None),
            Hit::EventsOf(agent) => times.waited_for(agent, strike.at_ns),
            Hit::Sends(under_way) => *under_way,
            Hit::Fires => times.fires.untold(strike.at_ns),
        };
        (strike.number.clone(), hits)
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
    /// Returns the number of events that waited for an agent when it thawed.
    fn waited_for(&self, agent: &str, frozen_at_ns: u64) -> usize {
        let mine = self.thawed.iter().filter(|(other, _)| other == agent).map(|(_, at)| *at);
        let thawed = mine.filter(|at_ns| *at_ns > frozen_at_ns).min();
        thawed.map_or(0, |at_ns| self.on_their_way(at_ns, Some(agent)))
    }

    fn on_their_way(&self, at_ns: u64, of: Option<&str>) -> usize {
        let lately = at_ns.saturating_sub(LATELY_NS)..=at_ns;
        let acked_after = |nonce: &String| {
            let acked = self.acked.get(nonce);
            acked.is_some_and(|(at, by)| *at > at_ns && of.is_none_or(|of| of == by))
        };
        self.sent.iter().filter(|(nonce, sent)| lately.contains(sent) && acked_after(nonce)).count()
    }

    fn take(&mut self, record: Record, nonces: &mut HashMap<(String, String), String>) {
        let at_ns = record.at_ns;
        self.fires.take(&record);
        if let Event::PlatSend { nonce, .. } = record.ev {
            self.sent.insert(nonce, at_ns);
        } else if let Event::GwState { agent, what: GatewayState::Thawed } = record.ev {
            self.thawed.push((agent, at_ns));
        } else if let Event::GwRecv { conn, buffer_id, nonce, .. } = record.ev {
            nonces.insert((conn, buffer_id), nonce);
        } else if let Event::GwAck { conn, buffer_id, agent } = record.ev
            // The same history has its receipt before.
            && let Some(nonce) = nonces.get(&(conn, buffer_id))
        {
            let acked = self.acked.entry(nonce.clone()).or_default();
            *acked = (at_ns, agent).max(std::mem::take(acked));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn times() -> Times {
        let sent = [("old", 1), ("n1", 20), ("n2", 21), ("n3", 29)];
        let acked = [("old", 30, "ada"), ("n1", 30, "ada"), ("n2", 22, "ada"), ("n3", 31, "bob")];
        Times {
            sent: sent.map(|(nonce, at)| (nonce.to_owned(), at * SECOND_NS)).into(),
            acked: acked
                .map(|(nonce, at, by)| (nonce.to_owned(), (at * SECOND_NS, by.to_owned())))
                .into(),
            thawed: vec![("bob".to_owned(), 30 * SECOND_NS), ("ada".to_owned(), 25 * SECOND_NS)],
            fires: Fires::default(),
        }
    }

    #[test]
    fn an_event_is_hit_between_its_sending_and_its_ack() {
        for (at, want) in [(19, 0), (20, 1), (21, 2), (29, 2), (31, 0)] {
            assert_eq!(times().on_their_way(at * SECOND_NS, None), want, "at {at} s");
        }
    }

    #[test]
    fn an_event_waits_for_its_own_agent_when_that_thaws() {
        for (agent, frozen_at, want) in
            [("ada", 10, 1), ("bob", 10, 1), ("ada", 26, 0), ("eve", 0, 0)]
        {
            assert_eq!(times().waited_for(agent, frozen_at * SECOND_NS), want, "{agent}");
        }
    }
}
