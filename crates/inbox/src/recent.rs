//! Cache of the entries that this node just stored.
//!
//! A line on the node that accepted an event need not read it back. The cache is only a shortcut to the table: entries
//! are added after their commit, and a gap sends the line to the table.

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use nightdesk_types::limits::RECENT_BYTES_MAX;
use nightdesk_types::{AgentId, Seq};

use crate::{AcceptRequest, Entry, StoredEntry};

pub(crate) struct RecentEntries {
    entries: Cache<(AgentId, Seq), Entry>,
}

impl RecentEntries {
    pub(crate) fn new() -> Self {
        const OVERHEAD_BYTES: usize = 200;
        let weigh = |_: &(AgentId, Seq), entry: &Entry| {
            let bytes = entry.json.as_ref().map_or(0, |json| json.as_bytes().len());
            u32::try_from(bytes + OVERHEAD_BYTES).unwrap_or(u32::MAX)
        };
        let entries = Cache::builder()
            .max_capacity(RECENT_BYTES_MAX)
            .weigher(weigh)
            .eviction_policy(EvictionPolicy::lru())
            .build();
        Self { entries }
    }

    pub(crate) fn remember(&self, accept: &AcceptRequest, stored: &StoredEntry) {
        let entry = Entry {
            seq: stored.seq,
            at: stored.at,
            bot: accept.bot,
            chat_id: accept.chat_id.clone(),
            json: accept.json().cloned(),
        };
        self.entries.insert((stored.agent, stored.seq), entry);
    }

    /// Returns the entries directly after `after`, up to the first gap.
    pub(crate) fn run_after(&self, agent: AgentId, after: Seq, entries_max: usize) -> Vec<Entry> {
        let mut run = Vec::new();
        let mut next = after.next();
        while run.len() < entries_max {
            let Some(entry) = self.entries.remove(&(agent, next)) else { break };
            run.push(entry);
            next = next.next();
        }
        run
    }
}
