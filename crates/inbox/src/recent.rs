//! Cache of the entries that this node just stored.
//!
//! A line on the node that accepted an event need not read it back. The cache is only a shortcut to the table: entries
//! are added after their commit, and a gap sends the line to the table. An entry is only for the line that was the
//! agent's newest at the commit; any other line learns from the table that it was replaced.

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use nightdesk_types::limits::RECENT_BYTES_MAX;
use nightdesk_types::{AgentId, Generation, Seq};

use crate::{AcceptRequest, Entry, LineClaim, ParkReason, StoredEntry};

pub(crate) struct RecentEntries {
    entries: Cache<(AgentId, Seq), RecentEntry>,
}

#[derive(Clone)]
struct RecentEntry {
    entry: Entry,
    /// The newest line of the agent at the commit.
    generation: Generation,
}

impl RecentEntries {
    pub(crate) fn new() -> Self {
        const OVERHEAD_BYTES: usize = 200;
        let weigh = |_: &(AgentId, Seq), recent: &RecentEntry| {
            let bytes = recent.entry.json.as_ref().map_or(0, |json| json.as_bytes().len());
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
            incarnation: stored.incarnation,
            at: stored.at,
            bot: accept.bot,
            chat_id: accept.chat_id.clone(),
            json: accept.json().cloned().ok_or(ParkReason::Unsendable),
        };
        let recent = RecentEntry { entry, generation: stored.generation };
        self.entries.insert((stored.agent, stored.seq), recent);
    }

    /// Returns the line's entries directly after `after`, up to the first gap.
    pub(crate) fn run_after(&self, line: &LineClaim, after: Seq, entries_max: usize) -> Vec<Entry> {
        let is_for = |recent: &RecentEntry| {
            recent.generation == line.generation && recent.entry.incarnation == line.incarnation
        };
        let mut run = Vec::new();
        let mut next = after.next();
        while run.len() < entries_max {
            let Some(recent) = self.entries.remove(&(line.agent, next)).filter(is_for) else {
                break;
            };
            run.push(recent.entry);
            next = next.next();
        }
        run
    }
}
