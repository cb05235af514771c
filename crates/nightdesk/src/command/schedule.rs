//! Commands about the jobs of agents.

mod output;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use nightdesk_outside::TenantUrl;
use nightdesk_register::Register;
use nightdesk_schedule::{
    ArmRequest, CancelOutcome, FireAt, JobAdmin, JobId, Policies, ScheduledJob, Store, Target,
};
use nightdesk_store_pg::Pg;
use nightdesk_types::{AgentId, Clock, SystemClock, TenantScope, Timestamp};
use serde_json::json;

use super::names::AgentArgs;
use super::{PageArgs, names};
use crate::config::Config;
use crate::ui::{self, CommandOutput};

#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleSubcommand {
    /// List jobs: the next fire of each, and the result of the last.
    #[command(after_help = "Example:\n  nightdesk schedule list --tenant acme --agent helper")]
    List {
        /// The tenant of the jobs, by name or id.
        #[arg(long)]
        tenant: String,
        /// Only this agent, by name or id. Without it, all agents.
        #[arg(long)]
        agent: Option<String>,
        #[command(flatten)]
        page: PageArgs,
        #[command(flatten)]
        zone: ZoneArgs,
    },
    /// Show one job.
    #[command(
        after_help = "Example:\n  nightdesk schedule show --tenant acme --agent helper report"
    )]
    Show {
        #[command(flatten)]
        which: JobArgs,
        #[command(flatten)]
        zone: ZoneArgs,
    },
    /// Show the results of fires, newest first.
    #[command(
        after_help = "Example:\n  nightdesk schedule history --tenant acme --agent helper --job report"
    )]
    History {
        /// The tenant of the fires, by name or id.
        #[arg(long)]
        tenant: String,
        /// Only this agent, by name or id. Without it, all agents.
        #[arg(long)]
        agent: Option<String>,
        /// Only this job of the agent.
        #[arg(long, requires = "agent")]
        job: Option<String>,
        /// Only fires older than the fire of this id.
        #[arg(long, value_name = "FIRE")]
        before: Option<String>,
        #[command(flatten)]
        zone: ZoneArgs,
    },
    /// Schedule one message to an agent.
    #[command(
        after_help = "Example:\n  nightdesk schedule add --tenant acme --agent helper tidy-up --in 10m --say 'Tidy up.'"
    )]
    Add {
        #[command(flatten)]
        which: JobArgs,
        /// The time: 2026-12-24T18:00:00+01:00, or 2026-12-24T18:00 in the zone.
        #[arg(long, required_unless_present = "in", conflicts_with = "in")]
        at: Option<String>,
        /// The delay: 30s, 15m or 24h.
        #[arg(long, value_parser = ui::span, value_name = "SPAN")]
        r#in: Option<Duration>,
        /// The text of the message in the agent's inbox.
        #[arg(long, required_unless_present = "callback", conflicts_with = "callback")]
        say: Option<String>,
        /// The URL to call instead of the message.
        #[arg(long, value_name = "URL")]
        callback: Option<String>,
        #[command(flatten)]
        zone: ZoneArgs,
    },
    /// Fire a job now, in place of its next time. An agent whose job recurs arms it again.
    #[command(
        after_help = "Example:\n  nightdesk schedule fire-now --tenant acme --agent helper report"
    )]
    FireNow(JobArgs),
    /// Cancel a job: it is not fired any more.
    #[command(
        after_help = "Example:\n  nightdesk schedule cancel --tenant acme --agent helper report"
    )]
    Cancel(JobArgs),
}

/// The job that a command is about.
#[derive(Debug, Args)]
pub(crate) struct JobArgs {
    #[command(flatten)]
    whose: AgentArgs,
    /// The agent's id for the job.
    job: String,
}

/// The time zone for input and output.
#[derive(Debug, Args)]
pub(crate) struct ZoneArgs {
    /// The time zone, such as Europe/Berlin. Without it, this machine's.
    #[arg(long)]
    zone: Option<String>,
}

impl ZoneArgs {
    fn resolve(&self) -> anyhow::Result<TimeZone> {
        match &self.zone {
            Some(name) => TimeZone::get(name).with_context(|| {
                format!("there is no time zone {name}; write it like Europe/Berlin")
            }),
            None => Ok(TimeZone::system()),
        }
    }
}

/// Runs a command about jobs.
pub(super) async fn run(
    config: &Config,
    register: &Register,
    pg: &Arc<Pg>,
    command: ScheduleSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        ScheduleSubcommand::List { tenant, agent, page, zone } => {
            let (scope, agent) = resolve_optional(register, tenant, agent).await?;
            let (zone, after) = (zone.resolve()?, parse_after(&page.after)?);
            let jobs = pg.list_jobs(scope, agent, after).await?;
            Ok(CommandOutput::Many(jobs.iter().map(|job| output::job(job, &zone)).collect()))
        }
        ScheduleSubcommand::Show { which, zone } => {
            let (zone, key) = (zone.resolve()?, which.resolve(register).await?);
            let found = find_job(pg, &key).await?;
            Ok(CommandOutput::One(output::job_json(&found, &zone)))
        }
        ScheduleSubcommand::History { tenant, agent, job, before, zone } => {
            let (scope, agent) = resolve_optional(register, tenant, agent).await?;
            let (zone, job) = (zone.resolve()?, job.map(JobId::new).transpose()?);
            let before = before.map(|text| text.parse()).transpose();
            let before = before.context("--before takes the id of a fire")?;
            let fires = pg.list_fires(scope, agent.map(|agent| (agent, job)), before).await?;
            Ok(CommandOutput::Many(fires.iter().map(|fire| output::fire(fire, &zone)).collect()))
        }
        ScheduleSubcommand::Add { which, at, r#in, say, callback, zone } => {
            let (zone, key) = (zone.resolve()?, which.resolve(register).await?);
            let (fire_at, to) = (parse_fire_at(at, r#in, &zone)?, target(config, say, callback)?);
            add(pg, key, fire_at, to, &zone).await
        }
        ScheduleSubcommand::FireNow(which) => fire_now(pg, &which.resolve(register).await?).await,
        ScheduleSubcommand::Cancel(which) => cancel(pg, &which.resolve(register).await?).await,
    }
}

/// A job of an agent.
struct JobKey {
    scope: TenantScope,
    agent: AgentId,
    job: JobId,
}

impl JobArgs {
    async fn resolve(self, register: &Register) -> anyhow::Result<JobKey> {
        let (scope, agent) = self.whose.resolve(register).await?;
        Ok(JobKey { scope, agent, job: JobId::new(self.job)? })
    }
}

/// Returns the job as the store has it.
async fn find_job(pg: &Pg, key: &JobKey) -> anyhow::Result<ScheduledJob> {
    let found = pg.find_job(key.scope, key.agent, &key.job).await?;
    found.with_context(|| unknown_job_text(&key.job))
}

async fn resolve_optional(
    register: &Register,
    tenant: String,
    agent: Option<String>,
) -> anyhow::Result<(TenantScope, Option<AgentId>)> {
    match agent {
        Some(agent) => {
            let (scope, agent) = AgentArgs { tenant, agent }.resolve(register).await?;
            Ok((scope, Some(agent)))
        }
        None => Ok((names::tenant(register, &tenant).await?, None)),
    }
}

/// Parses the last job of the previous page, as `agent/job`.
fn parse_after(text: &str) -> anyhow::Result<Option<(AgentId, JobId)>> {
    const HELP: &str = "--after takes `key` of the last job of the previous page";
    if text.is_empty() {
        return Ok(None);
    }
    let (agent, job) = text.split_once('/').context(HELP)?;
    Ok(Some((agent.parse().context(HELP)?, JobId::new(job).context(HELP)?)))
}

fn unknown_job_text(job: &JobId) -> String {
    format!("the agent has no job called {job}; `nightdesk schedule list` shows them")
}

/// Parses the time at which a job is due.
fn parse_fire_at(
    at: Option<String>,
    span: Option<Duration>,
    zone: &TimeZone,
) -> anyhow::Result<FireAt> {
    let now = SystemClock::start().now();
    let Some(at) = at else {
        let at = now
            .checked_add(span.unwrap_or_default())
            .context("the time is too far in the future")?;
        return Ok(FireAt::from_timestamp(at));
    };
    if let Ok(exactly) = FireAt::parse(at.as_str()) {
        return Ok(exactly);
    }
    let civil: DateTime = at.parse().with_context(|| {
        format!("`{at}` is not a time; write it like 2026-12-24T18:00, or --in 15m")
    })?;
    Ok(FireAt::from_timestamp(zone.to_timestamp(civil)?))
}

fn target(
    config: &Config,
    say: Option<String>,
    callback: Option<String>,
) -> anyhow::Result<Target> {
    match callback {
        Some(url) => {
            let read = TenantUrl::parse(&url, &config.outside);
            let read = read.with_context(|| format!("{url} cannot be called"))?;
            Ok(Target::Callback(read.as_str().to_owned()))
        }
        None => Ok(Target::inbox(say.unwrap_or_default())?),
    }
}

async fn add(
    pg: &Pg,
    key: JobKey,
    fire_at: FireAt,
    to: Target,
    zone: &TimeZone,
) -> anyhow::Result<CommandOutput> {
    let JobKey { scope, agent, job } = key;
    let taken = pg.find_job(scope, agent, &job).await?.is_some_and(|found| found.next_at.is_some());
    ensure!(!taken, "the agent has a job called {job} already; choose another name, or cancel it");
    let arm = ArmRequest {
        job,
        fire_at,
        to,
        recurring: false,
        reports: false,
        policies: Policies::default(),
    };
    let armed = pg.arm(scope, agent, &arm).await?;
    Ok(CommandOutput::One(json!({
        "agent_id": agent,
        "job": arm.job.as_str(),
        "schedule_id": armed.id,
        "due": output::format_time(arm.fire_at.instant(), zone),
    })))
}

async fn fire_now(pg: &Pg, key: &JobKey) -> anyhow::Result<CommandOutput> {
    let found = find_job(pg, key).await?;
    let now: Timestamp = SystemClock::start().now();
    let arm = ArmRequest { fire_at: FireAt::from_timestamp(now), ..found.arm };
    let armed = pg.arm(key.scope, key.agent, &arm).await?;
    Ok(CommandOutput::One(json!({
        "agent_id": key.agent,
        "job": key.job.as_str(),
        "arming": armed.arming,
        "next": "`nightdesk schedule history` shows the result",
    })))
}

async fn cancel(pg: &Pg, key: &JobKey) -> anyhow::Result<CommandOutput> {
    let JobKey { scope, agent, job } = key;
    match pg.cancel(*scope, *agent, job).await? {
        CancelOutcome::Cancelled => Ok(CommandOutput::One(
            json!({ "agent_id": agent, "job": job.as_str(), "cancelled": true }),
        )),
        CancelOutcome::UnderWay => bail!(
            "the fire of {job} is being delivered and cannot be cancelled; `nightdesk schedule history` \
             shows the result"
        ),
        CancelOutcome::Unknown => bail!(unknown_job_text(job)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_in_the_zone_unless_it_says_another() {
        let berlin = TimeZone::fixed(jiff::tz::offset(1));
        let read =
            |text: &str| parse_fire_at(Some(text.to_owned()), None, &berlin).map(|at| at.instant());

        let six: Timestamp = "2026-12-24T17:00:00Z".parse().unwrap();
        assert_eq!(read("2026-12-24T18:00").unwrap(), six);
        assert_eq!(read("2026-12-24 18:00:00").unwrap(), six);
        assert_eq!(read("2026-12-24T17:00:00+00:00").unwrap(), six);
        assert!(read("tomorrow").unwrap_err().to_string().contains("--in 15m"));
    }

    #[test]
    fn a_page_goes_on_after_a_key() {
        let agent = AgentId::from_uuid(uuid::Uuid::from_u128(7));
        let job = JobId::new("a/b").unwrap();

        assert_eq!(parse_after("").unwrap(), None);
        assert_eq!(parse_after(&format!("{agent}/a/b")).unwrap(), Some((agent, job)));
        assert!(parse_after("nonsense").is_err());
    }
}
