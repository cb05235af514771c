//! Implements the upkeep. Memory has no day partitions to open or drop; the rest is the same.

use async_trait::async_trait;
use jiff::SignedDuration;
use nightdesk_inbox::{InboxSweeper, ParkReason, SweepReport};
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::{
    ACKED_HOURS, DEDUPE_DAYS, PARKED_DAYS, PENDING_DAYS, PROMPT_DAYS, SEND_HOURS, UPKEEP_ROWS_MAX,
};
use nightdesk_types::{Quota, Seq, StoreError, Timestamp};
use serde_json::json;

use super::agent::Agent;
use super::{AgentKey, Day, Memory, State};

#[async_trait]
impl InboxSweeper for Memory {
    async fn sweep(&self) -> Result<SweepReport, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let expired = state.expire(before(now, PENDING_DAYS * 24), now);
        state.forget_parked(before(now, PARKED_DAYS * 24));
        self.trim_parked(&mut state);
        let forgotten = state.forget_acked(before(now, ACKED_HOURS));
        state.forget_sends(before(now, SEND_HOURS));
        let asked_first = before(now, PROMPT_DAYS * 24);
        state.prompts.retain(|_, (_, asked_at)| *asked_at >= asked_first);
        state.forget_fires(now);
        state.forget_letters(now);
        let oldest = Day::of(now).back(i64::from(DEDUPE_DAYS));
        state.dedupe_keys.retain(|_, day| *day >= oldest);
        Ok(SweepReport { expired, forgotten, days_dropped: 0, failed_steps: 0 })
    }
}

impl Memory {
    /// Removes the newest parked entries above the quotas of their agent, and records it.
    fn trim_parked(&self, state: &mut State) {
        let keys: Vec<AgentKey> = state.agents.keys().copied().collect();
        for (scope, id) in keys {
            let entries_max = state.allowed(scope, Quota::ParkedEntries);
            let bytes_max = state.allowed(scope, Quota::ParkedBytes);
            let agent = state.agents.get_mut(&(scope, id));
            let gone =
                agent.map(|agent| agent.trim_parked(entries_max, bytes_max)).unwrap_or_default();
            if let Some((first, last)) = gone.first().zip(gone.last()) {
                let count = gone.len();
                let about = json!({ "agent_id": id, "count": count, "first": first, "last": last });
                self.tell(state, scope, Kind::EntriesDiscarded, &about);
            }
        }
    }
}

impl State {
    fn expire(&mut self, before: Timestamp, now: Timestamp) -> u64 {
        let mut expired = 0;
        for (key, seq) in self.one_round(|agent| agent.late(before)) {
            let agent = self.agents.get_mut(&key);
            let parked = agent.is_some_and(|agent| agent.set_aside(seq, ParkReason::Expired, now));
            expired += u64::from(parked);
        }
        expired
    }

    fn forget_acked(&mut self, before: Timestamp) -> u64 {
        let mut forgotten = 0;
        for (key, seq) in self.one_round(|agent| agent.done(before)) {
            if let Some(agent) = self.agents.get_mut(&key) {
                agent.forget(seq);
                forgotten += 1;
            }
        }
        forgotten
    }

    fn forget_parked(&mut self, before: Timestamp) {
        for agent in self.agents.values_mut() {
            agent.forget_parked(before);
        }
    }

    /// Returns as many of these entries as one round may touch.
    fn one_round(&self, entries: impl Fn(&Agent) -> Vec<Seq>) -> Vec<(AgentKey, Seq)> {
        let rows_max = usize::try_from(UPKEEP_ROWS_MAX).unwrap_or(0);
        let all = self
            .agents
            .iter()
            .flat_map(|(key, agent)| entries(agent).into_iter().map(move |seq| (*key, seq)));
        all.take(rows_max).collect()
    }

    fn forget_sends(&mut self, before: Timestamp) {
        self.sends.retain(|_, row| !row.is_settled() || row.asked_at >= before);
    }
}

fn before(now: Timestamp, hours: i32) -> Timestamp {
    now.checked_sub(SignedDuration::from_hours(i64::from(hours))).unwrap_or(Timestamp::MIN)
}
