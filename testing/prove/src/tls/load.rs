//! Dials over TLS while certificates are replaced, and holds lines. Each failure is counted.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nightdesk_gateway::{Line, Received, hello};
use nightdesk_sdk::{Agent, Event, Settings, Status};
use nightdesk_types::SystemClock;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

use super::authority::TestAuthority;
use super::world::connect;
use crate::setup::{Cast, Member, PLATFORM};

/// Pause between two dials of one gateway.
const REST: Duration = Duration::from_millis(20);

/// Timeout of a dial.
const DIAL_WAIT: Duration = Duration::from_secs(20);

/// Numbers of gateways by their behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Gateways {
    /// Gateways that dial and hang up in a loop.
    pub diallers: usize,
    /// Agents of the SDK that connect and disconnect in a loop.
    pub returning: usize,
    /// Agents of the SDK that hold their line.
    pub holding: usize,
}

impl Gateways {
    /// Returns the number of agents.
    pub const fn count(&self) -> usize {
        self.diallers + self.returning + self.holding
    }
}

/// The dials so far.
#[derive(Debug, Default)]
pub struct DialCounts {
    done: AtomicU64,
    failed: AtomicU64,
    first_failure: Mutex<Option<String>>,
    stop: AtomicBool,
}

impl DialCounts {
    /// Returns the number of dials.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Returns the number of failed dials.
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Returns the first failure.
    pub fn first_failure(&self) -> Option<String> {
        self.first_failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self, dial: Result<()>) {
        self.done.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = dial {
            self.failed.fetch_add(1, Ordering::Relaxed);
            let mut first = self.first_failure.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| format!("{error:#}"));
        }
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

/// The running gateways. Dropping them ends them.
#[derive(Debug)]
pub struct TlsLoad {
    counts: Arc<DialCounts>,
    tasks: JoinSet<()>,
    held: Vec<Agent>,
}

impl TlsLoad {
    /// Starts the gateways. Returns when every held line is open.
    pub async fn begin(
        desk: SocketAddr,
        cast: &Cast,
        authority: &TestAuthority,
        gateways: Gateways,
    ) -> Result<Self> {
        let (counts, mut tasks) = (Arc::<DialCounts>::default(), JoinSet::new());
        let mut members = cast.members.iter().take(gateways.count()).cloned();
        for member in members.by_ref().take(gateways.diallers) {
            let (counts, connector) = (Arc::clone(&counts), authority.connector()?);
            tasks.spawn(dial_in_a_loop(desk, member, connector, counts));
        }
        let settings = |member: &Member| {
            Settings::new(format!("https://{desk}"), &member.gateway, &member.secret)
                .trusting(&authority.root_pem)
        };
        for member in members.by_ref().take(gateways.returning) {
            tasks.spawn(return_in_a_loop(settings(&member), Arc::clone(&counts)));
        }
        let mut held = Vec::new();
        for member in members {
            let agent = Agent::connect(settings(&member), ignore).context("bad settings")?;
            agent.handshake().await.context("a held line did not open")?;
            held.push(agent);
        }
        Ok(Self { counts, tasks, held })
    }

    /// Checks that every held line is still the one that was opened.
    pub async fn check_held(&self) -> Result<()> {
        for agent in &self.held {
            // A line that was lost leaves the status for at least the rest before the next dial.
            let left = timeout(REST, agent.wait_until(|status| *status != Status::Live)).await;
            if let Ok(status) = left {
                bail!("a held line ended: {status:?}");
            }
        }
        Ok(())
    }

    /// Ends the gateways, and returns their dials.
    pub async fn end(self) -> Result<Arc<DialCounts>> {
        self.check_held().await?;
        let Self { counts, mut tasks, held } = self;
        counts.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = tasks.join_next().await {
            ended.context("a gateway panicked")?;
        }
        for agent in held {
            agent.disconnect().await;
        }
        Ok(counts)
    }
}

async fn ignore(_: Event) -> Result<(), std::convert::Infallible> {
    Ok(())
}

async fn dial_in_a_loop(
    desk: SocketAddr,
    member: Member,
    connector: TlsConnector,
    counts: Arc<DialCounts>,
) {
    while counts.goes_on() {
        let dial = timeout(DIAL_WAIT, dial(desk, &member, &connector)).await;
        counts.count(dial.unwrap_or_else(|_| late()));
        sleep(REST).await;
    }
}

fn late() -> Result<()> {
    bail!("a dial took more than {DIAL_WAIT:?}")
}

/// Dials once: a handshake, the upgrade, a hello and its answer.
async fn dial(desk: SocketAddr, member: &Member, connector: &TlsConnector) -> Result<()> {
    let stream = connect(desk, connector).await?;
    let token = member.token(&SystemClock::start());
    let mut line = Line::open(stream, &desk.to_string(), token.expose()).await?;
    line.send_frame(&hello(PLATFORM, "")).await?;
    loop {
        match line.receive().await {
            Received::Text(text) => {
                let frame: Value = serde_json::from_str(&text).context("a frame is no JSON")?;
                ensure!(frame["type"] == "descriptor", "a hello was answered {frame}");
                // The next dial replaces a line that the desk has not seen end.
                return Ok(line.close().await?);
            }
            Received::Other => {}
            Received::Closed(closed) => return Err(closed.into()),
        }
    }
}

async fn return_in_a_loop(settings: Settings, counts: Arc<DialCounts>) {
    while counts.goes_on() {
        counts.count(come_and_go(settings.clone()).await);
        sleep(REST).await;
    }
}

async fn come_and_go(settings: Settings) -> Result<()> {
    let agent = Agent::connect(settings, ignore).context("bad settings")?;
    agent.handshake().await.context("an agent got no line")?;
    agent.disconnect().await;
    Ok(())
}
