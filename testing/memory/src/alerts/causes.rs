//! Finds the causes of alerts in the tables.

use std::collections::BTreeMap;

use nightdesk_alerts::{AlertCause, AlertKind, one_line};
use nightdesk_inbox::ParkReason;
use nightdesk_types::limits::{
    ALERT_CALLS_MIN, ALERT_EVENT_FOR, ALERT_FULL_FOR, ALERT_LOSS_FOR, ALERT_QUOTA_PERCENT,
    ALERT_SAMPLES_MAX, FINDINGS_LAST,
};
use nightdesk_types::{Quota, TenantScope, Timestamp};
use nightdesk_wake::WakePhase;
use uuid::Uuid;

use super::{AlertKey, has_been_within};
use crate::shelf::{ShelfRow, ShelfUsage};
use crate::{AgentKey, State};

/// One subject of a cause.
struct CauseFact {
    scope: TenantScope,
    kind: AlertKind,
    /// The agent or the bot, if it is one, and its part: a reason or a job. Of causes as old, the first are samples.
    key: (Uuid, String),
    subject: String,
    count: u64,
    since: Timestamp,
}

impl State {
    /// Returns the causes of these kinds, in the order of tenants and of the names of kinds.
    pub(super) fn causes(&self, kinds: &[AlertKind], now: Timestamp) -> Vec<AlertCause> {
        let facts = [
            self.parked_facts(),
            self.full_facts(now),
            self.quarantine_facts(now),
            self.deaf_facts(),
            self.wake_facts(),
            self.fire_facts(now),
            self.loss_facts(now),
            self.quota_facts(now),
            self.node_facts(now),
        ];
        let mut causes: BTreeMap<AlertKey, AlertCause> = BTreeMap::new();
        let mut facts: Vec<CauseFact> = facts.into_iter().flatten().collect();
        facts.retain(|fact| kinds.contains(&fact.kind));
        facts.sort_by(|one, other| (one.since, &one.key).cmp(&(other.since, &other.key)));
        for CauseFact { scope, kind, subject, count, since, .. } in facts {
            let cause = causes.entry((scope, kind)).or_insert_with(|| AlertCause {
                scope,
                kind,
                count: 0,
                subjects: 0,
                samples: Vec::new(),
                since,
            });
            cause.count += count;
            cause.subjects += 1;
            if cause.samples.len() < ALERT_SAMPLES_MAX {
                cause.samples.push(one_line(&subject));
            }
        }
        let mut causes: Vec<AlertCause> = causes.into_values().collect();
        causes.sort_by_key(|cause| (cause.scope, cause.kind.slug()));
        causes
    }

    fn agent_name(&self, key: &AgentKey) -> &str {
        self.agents.get(key).map_or("", |agent| agent.name.as_str())
    }

    /// Entries that a person or the stop of a turn set aside are no fault; full inboxes have a kind of their own.
    fn parked_facts(&self) -> Vec<CauseFact> {
        let mut facts = Vec::new();
        for ((scope, id), agent) in &self.agents {
            let mut by_reason: BTreeMap<&str, (u64, Timestamp)> = BTreeMap::new();
            for (_, record) in agent.stuck() {
                let is_fault = !matches!(
                    record.reason,
                    ParkReason::Full | ParkReason::Operator | ParkReason::Stopped
                );
                if is_fault {
                    let found = by_reason.entry(record.reason.slug()).or_insert((0, record.at));
                    *found = (found.0 + 1, found.1.min(record.at));
                }
            }
            facts.extend(by_reason.into_iter().map(|(reason, (count, since))| CauseFact {
                scope: *scope,
                kind: AlertKind::Parked,
                key: (id.uuid(), reason.to_owned()),
                subject: format!("agent {}: {count}, reason {reason}", agent.name),
                count,
                since,
            }));
        }
        facts
    }

    fn full_facts(&self, now: Timestamp) -> Vec<CauseFact> {
        let full = self.agents.iter().filter_map(|((scope, id), agent)| {
            let refused = agent.stuck().filter(|(_, record)| {
                record.reason == ParkReason::Full && has_been_within(record.at, ALERT_FULL_FOR, now)
            });
            let since = refused.map(|(_, record)| record.at).min()?;
            let entries_max = self.allowed(*scope, Quota::PendingEntries);
            let bytes_max = self.allowed(*scope, Quota::PendingBytes);
            let subject = format!("agent {}", agent.name);
            let (kind, key) = (AlertKind::InboxFull, (id.uuid(), String::new()));
            let fact = CauseFact { scope: *scope, kind, key, subject, count: 1, since };
            agent.has_no_room(entries_max, bytes_max).then_some(fact)
        });
        full.collect()
    }

    fn quarantine_facts(&self, now: Timestamp) -> Vec<CauseFact> {
        let rings = self.quarantined.iter().filter_map(|((scope, bot), ring)| {
            let recent = ring.iter().map(|(at, _)| *at);
            let recent: Vec<Timestamp> =
                recent.filter(|at| has_been_within(*at, ALERT_EVENT_FOR, now)).collect();
            let row = self.bots.get(bot)?;
            let (handle, platform) = (&row.new.handle, &row.new.platform);
            Some(CauseFact {
                scope: *scope,
                kind: AlertKind::Quarantined,
                key: (bot.uuid(), String::new()),
                subject: format!("bot {handle} ({platform}): {}", recent.len()),
                count: recent.len() as u64,
                since: recent.into_iter().min()?,
            })
        });
        rings.collect()
    }

    fn deaf_facts(&self) -> Vec<CauseFact> {
        let deaf = self.hearings.values().filter_map(|hearing| {
            let outage = hearing.outage.as_ref().filter(|outage| outage.is_told)?;
            let row = self.bots.get(&hearing.bot)?;
            let (handle, platform, why) = (&row.new.handle, &row.new.platform, &outage.why);
            Some(CauseFact {
                scope: row.operator,
                kind: AlertKind::DeafBot,
                key: (hearing.bot.uuid(), String::new()),
                subject: format!("bot {handle} ({platform}): {why}"),
                count: 1,
                since: outage.since,
            })
        });
        deaf.collect()
    }

    fn wake_facts(&self) -> Vec<CauseFact> {
        let failing = self.wakes.iter().filter_map(|(key, row)| {
            let name = self.agent_name(key);
            let subject = match row.phase {
                WakePhase::Unreachable => format!("agent {name}: given up"),
                WakePhase::Due if row.calls > ALERT_CALLS_MIN => {
                    let last = row.outcome.as_deref().unwrap_or("no outcome");
                    format!("agent {name}: {} calls, the last: {last}", row.calls)
                }
                WakePhase::Due | WakePhase::Held | WakePhase::Woken | WakePhase::Settled => {
                    return None;
                }
            };
            let kind = AlertKind::FailingWake;
            let (scope, key) = (key.0, (key.1.uuid(), String::new()));
            Some(CauseFact { scope, kind, key, subject, count: 1, since: row.since })
        });
        failing.collect()
    }

    fn fire_facts(&self, now: Timestamp) -> Vec<CauseFact> {
        let missed = self.fires.values().filter_map(|row| {
            let since = row.missed_at().filter(|at| has_been_within(*at, ALERT_EVENT_FOR, now))?;
            let agent = row.agent_key();
            let subject = row.alert_subject(self.agent_name(&agent));
            let key = (agent.1.uuid(), row.job().as_str().to_owned());
            let (scope, kind) = (agent.0, AlertKind::MissedFire);
            Some(CauseFact { scope, kind, key, subject, count: 1, since })
        });
        missed.collect()
    }

    fn loss_facts(&self, now: Timestamp) -> Vec<CauseFact> {
        let broken_at = self.history_broken_at;
        let lost = broken_at.filter(|at| has_been_within(*at, ALERT_LOSS_FOR, now));
        let fact = lost.map(|since| CauseFact {
            scope: TenantScope::desk_own(),
            kind: AlertKind::LostCommits,
            key: (Uuid::nil(), String::new()),
            subject: format!("history {}", self.incarnation),
            count: 1,
            since,
        });
        fact.into_iter().collect()
    }

    fn quota_facts(&self, now: Timestamp) -> Vec<CauseFact> {
        let quotas = self.tenants.keys().flat_map(|scope| {
            let used = self.quota_usage(*scope);
            used.into_iter().map(move |(quota, used)| (*scope, quota, used))
        });
        let facts = quotas.filter_map(|(scope, quota, used)| {
            let (used, allowed) = (i64::try_from(used).ok()?, self.allowed(scope, quota));
            let is_high = used > 0 && used * 100 >= allowed * ALERT_QUOTA_PERCENT;
            let subject = format!("{}: {used} of {allowed}", quota.slug());
            let (kind, key) = (AlertKind::Quota, (Uuid::nil(), subject.clone()));
            is_high.then_some(CauseFact { scope, kind, key, subject, count: 1, since: now })
        });
        facts.collect()
    }

    /// Returns the use of a tenant's quotas, as far as it is cheap to count.
    fn quota_usage(&self, scope: TenantScope) -> [(Quota, usize); 9] {
        let agents = || self.agents.iter().filter(|((tenant, _), _)| *tenant == scope);
        let armed = || {
            self.jobs
                .iter()
                .filter(|((key, _), row)| key.0 == scope && row.status.next_at.is_some())
        };
        let mut by_agent: BTreeMap<AgentKey, usize> = BTreeMap::new();
        for ((key, _), _) in armed() {
            *by_agent.entry(*key).or_default() += 1;
        }
        let stored = self.shelves.get(&scope).map(ShelfRow::usage);
        let of_shelf = |count: fn(&ShelfUsage) -> usize| stored.as_ref().map_or(0, count);
        let pending = agents().map(|(_, agent)| agent.waits().count()).max();
        [
            (Quota::Agents, agents().count()),
            (Quota::Gateways, self.gateways.values().filter(|row| row.scope() == scope).count()),
            (Quota::Grants, self.grants.iter().filter(|row| row.on.scope == scope).count()),
            (Quota::ArmedJobs, armed().count()),
            (Quota::AgentJobs, by_agent.into_values().max().unwrap_or(0)),
            (Quota::Skills, of_shelf(|usage| usage.skills)),
            (Quota::DataEntries, of_shelf(|usage| usage.entries)),
            (Quota::ShelfBytes, of_shelf(|usage| usage.bytes)),
            (Quota::PendingEntries, pending.unwrap_or(0)),
        ]
    }

    fn node_facts(&self, now: Timestamp) -> Vec<CauseFact> {
        let rows = self.alerts.findings.iter().flat_map(|(node, rows)| {
            let current =
                rows.iter().filter(move |row| has_been_within(row.reported_at, FINDINGS_LAST, now));
            current.map(move |row| {
                let subject = format!("node {node}: {}", row.found.subject);
                CauseFact {
                    scope: TenantScope::desk_own(),
                    kind: row.found.kind,
                    key: (Uuid::nil(), subject.clone()),
                    subject,
                    count: 1,
                    since: row.since,
                }
            })
        });
        rows.collect()
    }
}
