//! Polls the tables every second, and records their changes.

pub mod claims;
mod fires;
mod ranges;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use nightdesk_judge::{EntryState, Event, Recorder};
use nightdesk_types::{AgentId, EntryId, Incarnation, Seq};

use super::plan::Plan;
use crate::psql::Looker;
use claims::Owners;
use ranges::Ranges;

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A running probe.
#[derive(Debug)]
pub struct Probe {
    tell: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Probe {
    /// Starts the probe with its own history and connection.
    pub fn start(plan: &Plan) -> Result<Self> {
        let mut tables = Tables {
            notes: plan.record("probe")?,
            looker: Looker::at(plan.psql.clone(), plan.database_url.clone()),
            inboxes: inboxes(plan),
            leases: BTreeMap::new(),
            owners: Owners::default(),
        };
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            while told.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                // If the server is down, the next poll sees the missed rows.
                tables.look().ok();
            }
            // The last poll reads all rows again, so that no late row is missed.
            tables.inboxes.values_mut().for_each(|inbox| inbox.seen = 0);
            tables.look().context("could not look at the tables at the end")?;
            tables.still_pending();
            fires::note(&mut tables).context("could not look at the fires at the end")?;
            tables.notes.end().context("could not end the probe's history")
        });
        Ok(Self { tell: Some(tell), thread: Some(thread) })
    }

    /// Polls a last time, and ends.
    pub fn end(&mut self) -> Result<()> {
        drop(self.tell.take());
        let thread = self.thread.take().context("the probe has ended before")?;
        thread.join().map_err(|_| anyhow!("the probe ended badly"))?
    }
}

/// Known state of the tables.
struct Tables {
    notes: Recorder,
    looker: Looker,
    inboxes: BTreeMap<AgentId, Inbox>,
    /// Epoch of each live node.
    leases: BTreeMap<String, u64>,
    owners: Owners,
}

/// Known state of an inbox.
struct Inbox {
    agent: String,
    tenant: String,
    /// The last number that was read.
    seen: i64,
    /// The history in which each known entry was accepted. A lost number is given out again in another one.
    noted: BTreeMap<i64, Incarnation>,
    pending: BTreeSet<i64>,
    parked: BTreeSet<i64>,
}

fn inboxes(plan: &Plan) -> BTreeMap<AgentId, Inbox> {
    let members = plan.cast.members.iter().enumerate();
    let inbox = |number, tenant: String| Inbox {
        agent: Plan::agent(number),
        tenant,
        seen: 0,
        noted: BTreeMap::new(),
        pending: BTreeSet::new(),
        parked: BTreeSet::new(),
    };
    members.map(|(number, m)| (m.agent, inbox(number, m.tenant.to_string()))).collect()
}

impl Tables {
    fn look(&mut self) -> Result<()> {
        self.entries()?;
        self.parked()?;
        self.cursors()?;
        self.nodes()?;
        self.owners.look(&mut self.looker, &self.notes)
    }

    /// Reads new entries. Numbers follow the order of commits, so new entries are after the last one read.
    fn entries(&mut self) -> Result<()> {
        let mut known = String::new();
        for (agent, inbox) in &self.inboxes {
            let comma = if known.is_empty() { "" } else { "," };
            write!(known, "{comma}('{}'::uuid,'{agent}'::uuid,{})", inbox.tenant, inbox.seen)?;
        }
        let rows = self.looker.ask(&format!(
            "select e.agent_id, e.seq, e.incarnation from (values {known}) as k (tenant, agent, seq)
                 join inbox_entries e on e.tenant_id = k.tenant and e.agent_id = k.agent
             where e.seq > k.seq order by e.seq"
        ))?;
        for row in rows {
            let [agent, seq, incarnation] = columns(&row)?;
            let (agent, seq) = (agent.parse()?, seq.parse()?);
            let Some(inbox) = self.inboxes.get_mut(&agent) else { continue };
            let incarnation = Incarnation::new(incarnation.parse()?);
            inbox.seen = inbox.seen.max(seq);
            if inbox.noted.insert(seq, incarnation) != Some(incarnation) {
                inbox.pending.insert(seq);
                self.notes.note(inbox.event(agent, seq, EntryState::Pending));
            }
        }
        Ok(())
    }

    fn parked(&mut self) -> Result<()> {
        let parked = "select agent_id, seq, incarnation, reason from inbox_parked order by seq";
        for row in self.looker.ask(parked)? {
            let [agent, seq, incarnation, reason] = columns(&row)?;
            let (agent, seq) = (agent.parse()?, seq.parse()?);
            let Some(inbox) = self.inboxes.get_mut(&agent) else { continue };
            inbox.noted.insert(seq, Incarnation::new(incarnation.parse()?));
            if inbox.parked.insert(seq) {
                inbox.pending.remove(&seq);
                self.notes.note(Event::Parked {
                    agent: inbox.agent.clone(),
                    seq: seq.unsigned_abs(),
                    buffer_id: inbox.buffer_id(agent, seq),
                    reason: reason.to_owned(),
                });
            }
        }
        Ok(())
    }

    fn cursors(&mut self) -> Result<()> {
        for row in self.looker.ask("select agent_id, acked_seq, ahead from inbox_cursors")? {
            let [agent, acked, ahead] = columns(&row)?;
            let (agent, acked): (AgentId, i64) = (agent.parse()?, acked.parse()?);
            let ahead = Ranges::read(ahead).with_context(|| format!("odd ranges: {ahead}"))?;
            let Some(inbox) = self.inboxes.get_mut(&agent) else { continue };
            let is_acked = |seq: &i64| *seq <= acked || ahead.contains(*seq);
            let done: Vec<i64> = inbox.pending.iter().copied().filter(is_acked).collect();
            for seq in done {
                inbox.pending.remove(&seq);
                self.notes.note(inbox.event(agent, seq, EntryState::Acked));
            }
        }
        Ok(())
    }

    /// Records the entries that still wait, although they were recorded before.
    fn still_pending(&self) {
        for (agent, inbox) in &self.inboxes {
            for seq in &inbox.pending {
                self.notes.note(inbox.event(*agent, *seq, EntryState::Pending));
            }
        }
    }

    fn nodes(&mut self) -> Result<()> {
        for row in self.looker.ask("select node, epoch from nodes")? {
            let [node, epoch] = columns(&row)?;
            let epoch = epoch.parse()?;
            if self.leases.insert(node.to_owned(), epoch) != Some(epoch) {
                let (resource, owner) = (format!("node:{node}"), node.to_owned());
                self.notes.note(Event::Lease { resource, owner, epoch });
            }
        }
        Ok(())
    }
}

impl Inbox {
    fn event(&self, agent: AgentId, seq: i64, state: EntryState) -> Event {
        Event::Inbox {
            agent: self.agent.clone(),
            seq: seq.unsigned_abs(),
            buffer_id: self.buffer_id(agent, seq),
            state,
        }
    }

    fn buffer_id(&self, agent: AgentId, seq: i64) -> String {
        let incarnation = self.noted.get(&seq).copied().unwrap_or_default();
        EntryId { agent, incarnation, seq: Seq::new(seq) }.to_string()
    }
}

fn columns<const N: usize>(row: &str) -> Result<[&str; N]> {
    let columns: Vec<&str> = row.split('|').collect();
    columns.try_into().map_err(|_| anyhow!("odd row: {row}"))
}
