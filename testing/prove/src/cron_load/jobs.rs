//! Arms a million jobs directly in the table, as their agents would have armed them one by one.

use anyhow::{Context, Result};

use crate::cluster::Cluster;
use crate::stage::DATABASE;

/// Number of hosts at which agents are called. With few hosts the default rate limit per host would be exceeded.
pub const HOSTS: u8 = 200;

/// Arms this many jobs of every agent, far in the future.
pub fn arm(cluster: &Cluster, per_agent: usize, port: u16) -> Result<()> {
    let insert = format!(
        "insert into schedules (tenant_id, agent_id, job_id, arming, fire_at, due_at, next_at, by_inbox,
             target, recurring, reports, overlap, catch_up_ms, jitter_ms, changed_at)
         select a.tenant_id, a.agent_id, 'job-' || n, 1, '2096-01-01T00:00:00Z', '2096-01-01T00:00:00Z',
             timestamptz '2096-01-01T00:00:00Z' + make_interval(secs => n), false,
             'http://127.0.' || (1 + host / 100) || '.' || (1 + host % 100) || ':{port}',
             false, false, 'buffer_one', 604800000, 0, now()
         from (select *, (row_number() over (order by agent_id) % {HOSTS})::integer as host from agents) a
             cross join generate_series(1, {per_agent}) n"
    );
    cluster.ask(DATABASE, &insert)?;
    cluster.ask(DATABASE, "vacuum analyze schedules").map(drop)
}

/// Makes this many jobs due at one instant. Returns the instant in microseconds since 1970.
pub fn due(cluster: &Cluster, count: usize, in_seconds: u32) -> Result<u64> {
    let update = format!(
        "with at as (select date_trunc('second', now()) + interval '{in_seconds} s' as due),
             these as (
                 select tenant_id, agent_id, job_id from schedules where next_at > now() + interval '1 year'
                 order by job_id, agent_id limit {count}
             ),
             done as (
                 update schedules s
                 set next_at = at.due, due_at = at.due, arming = s.arming + 1,
                     fire_at = to_char(at.due at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"+00:00\"')
                 from these, at
                 where (s.tenant_id, s.agent_id, s.job_id) = (these.tenant_id, these.agent_id, these.job_id)
             )
         select (extract(epoch from due) * 1000000)::bigint from at"
    );
    let at = cluster.ask(DATABASE, &update)?;
    at.trim().parse().context("could not read when jobs are due")
}

/// Returns the number of fires in this state, without the jobs of the far future.
pub fn fires(cluster: &Cluster, state: &str) -> Result<usize> {
    let count = cluster.ask(
        DATABASE,
        &format!("select count(*) from fires where state {state} and fire_at < '2095'"),
    )?;
    count.trim().parse().context("could not count fires")
}
