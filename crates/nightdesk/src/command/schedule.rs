//! Commands about the jobs of agents.

mod output;

use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use nightdesk_types::Timestamp;
use serde_json::{Value, json};

use super::PageArgs;
use super::names::AgentArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::{self, CommandOutput};
use output::shown_in_zone;

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

/// The members of a job in a list.
const JOB_COLUMNS: &[&str] = &["agent", "job", "due", "state", "last", "last_at", "key"];

/// The members of a fire in a list.
const FIRE_COLUMNS: &[&str] =
    &["due", "job", "state", "cause", "tries", "outcome", "ended", "run_ok", "run_note", "fire_id"];

/// Runs a command about jobs.
pub(super) async fn run(
    desk: &DeskClient,
    command: ScheduleSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        ScheduleSubcommand::List { tenant, agent, page, zone } => {
            let request = ApiRequest::get(&["tenants", &tenant, "jobs"])
                .with("agent", agent.unwrap_or_default())
                .with("after", &page.after);
            list(desk, request, JOB_COLUMNS, &zone.resolve()?).await
        }
        ScheduleSubcommand::Show { which, zone } => {
            let zone = zone.resolve()?;
            let found = desk.call(ApiRequest::get(&which.path(&[]))).await?;
            Ok(CommandOutput::One(shown_in_zone(found, &zone)))
        }
        ScheduleSubcommand::History { tenant, agent, job, before, zone } => {
            let request = ApiRequest::get(&["tenants", &tenant, "fires"])
                .with("agent", agent.unwrap_or_default())
                .with("job", job.unwrap_or_default())
                .with("before", before.unwrap_or_default());
            list(desk, request, FIRE_COLUMNS, &zone.resolve()?).await
        }
        ScheduleSubcommand::Add { which, at, r#in, say, callback, zone } => {
            let zone = zone.resolve()?;
            let body = json!({
                "fire_at": at.map(|at| read_time(at, &zone)).transpose()?,
                "in_seconds": r#in.map(|span| span.as_secs()),
                "say": say,
                "callback": callback,
            });
            let added = desk.call(ApiRequest::put(&which.path(&[])).with_body(body)).await?;
            Ok(CommandOutput::One(shown_in_zone(added, &zone)))
        }
        ScheduleSubcommand::FireNow(which) => {
            Ok(CommandOutput::One(desk.call(ApiRequest::post(&which.path(&["fire"]))).await?))
        }
        ScheduleSubcommand::Cancel(which) => {
            Ok(CommandOutput::One(desk.call(ApiRequest::delete(&which.path(&[]))).await?))
        }
    }
}

impl JobArgs {
    fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&self.whose.path(&["jobs", &self.job])[..], rest].concat()
    }
}

/// Requests a list, and returns it as a table with its times in the zone.
async fn list(
    desk: &DeskClient,
    request: ApiRequest<'_>,
    columns: &'static [&'static str],
    zone: &TimeZone,
) -> anyhow::Result<CommandOutput> {
    let Value::Array(rows) = desk.call(request).await? else {
        anyhow::bail!("the answer of the desk is no list; is it of another release?");
    };
    let rows = rows.into_iter().map(|row| shown_in_zone(row, zone)).collect();
    Ok(CommandOutput::Table { rows, columns })
}

/// Reads the time at which a job is due: with an offset as it was written, or in the zone.
fn read_time(at: String, zone: &TimeZone) -> anyhow::Result<String> {
    if at.parse::<Timestamp>().is_ok() {
        return Ok(at);
    }
    let civil: DateTime = at.parse().with_context(|| {
        format!("`{at}` is not a time; write it like 2026-12-24T18:00, or --in 15m")
    })?;
    Ok(zone.to_timestamp(civil)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_in_the_zone_unless_it_says_another() {
        let berlin = TimeZone::fixed(jiff::tz::offset(1));
        let read = |text: &str| read_time(text.to_owned(), &berlin);

        assert_eq!(read("2026-12-24T18:00").unwrap(), "2026-12-24T17:00:00Z");
        assert_eq!(read("2026-12-24 18:00:00").unwrap(), "2026-12-24T17:00:00Z");
        assert_eq!(read("2026-12-24T17:00:00+00:00").unwrap(), "2026-12-24T17:00:00+00:00");
        assert!(read("tomorrow").unwrap_err().to_string().contains("--in 15m"));
    }
}
