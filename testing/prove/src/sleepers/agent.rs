//! Runs one agent from its dial until it has its first entry.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nightdesk_sdk::{Agent, Event, SendError, Settings};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Dormitory;
use crate::pace::Pace;
use crate::setup::PLATFORM;

/// Timeout of the first entry.
const FIRST_WAIT: Duration = Duration::from_secs(10);

/// Gateway and secret for a server that does not authenticate.
const ANYBODY: (&str, &str) = ("gw-0", "nobody asks for this secret");

/// Dials the desk, records the time to the first entry, and goes to sleep again.
pub(super) async fn wake_up(all: &Dormitory, member: usize) {
    let Some(gateway) = all.cast.members.get(member) else { return };
    match first(all.desk, (&gateway.gateway, &gateway.secret)).await {
        Ok((took, agent)) => {
            all.note(|seen| seen.firsts.push((member, took)));
            agent.go_idle().await;
        }
        Err(error) => failed(all, &error),
    }
}

/// Dials the loopback in every turn.
pub(super) async fn dial_bare(all: &Arc<Dormitory>, pace: &Pace) {
    let mut dials = JoinSet::new();
    while pace.turn().await.is_some() {
        let all = Arc::clone(all);
        dials.spawn(async move {
            match first(all.loopback, ANYBODY).await {
                Ok((took, agent)) => {
                    all.note(|seen| seen.bare_firsts.push(took));
                    drop(agent);
                }
                Err(error) => failed(&all, &error),
            }
        });
    }
    dials.join_all().await;
}

/// Returns the time from the dial until the agent has its first entry.
async fn first(at: SocketAddr, (gateway, secret): (&str, &str)) -> Result<(Duration, Agent)> {
    let (tell, mut told) = mpsc::channel(1);
    let take = move |_: Event| {
        // Only the first entry counts.
        tell.try_send(Instant::now()).ok();
        std::future::ready(Ok::<(), SendError>(()))
    };
    let settings = Settings::new(format!("http://{at}"), gateway, secret);
    let agent = Agent::connect(settings.speaking_for(PLATFORM, ""), take)?;
    // The task that dials has not run yet: this thread is the only one.
    let began = Instant::now();
    let came = timeout(FIRST_WAIT, told.recv()).await.ok().flatten();
    let came = came.with_context(|| format!("{gateway} dialled and nothing came"))?;
    Ok((came.duration_since(began), agent))
}

fn failed(all: &Dormitory, error: &anyhow::Error) {
    all.note(|seen| {
        seen.problem.get_or_insert_with(|| format!("{error:#}"));
    });
}
