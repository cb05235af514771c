//! Floods a desk with requests that prove nothing, and measures genuine ones from the same address.
//!
//! Quiet and flooded periods alternate in one run, so that a busy machine affects both. The flood has an even rate far
//! below what the machine can send, so that it does not slow the measured requests by itself.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_protocol::upgrade_token::{self, UPGRADE_TTL_SECS};
use nightdesk_types::{Clock, SystemClock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::gateway::socket::Socket;
use crate::gateway::wire;
use crate::pace::Pace;
use crate::platform::{Connection, write_body};
use crate::setup::Cast;
use crate::ui;

/// Genuine events per second.
const EVENTS_PER_SECOND: u32 = 40;

/// Connections of each kind of flood. A connection makes one request.
const FLOOD_CONNECTIONS: usize = 48;

/// Time limit of one request of the flood, and of a genuine dial.
const REQUEST_WAIT: Duration = Duration::from_secs(30);

/// Pause after a flood.
const REST: Duration = Duration::from_secs(1);

/// Index of the agent whose gateway dials. It gets no events.
const DIALLING: usize = 0;

/// The periods of a run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of quiet and of flooded periods.
    pub turns: u32,
    /// Seconds of each period.
    pub seconds: u32,
    /// Forged dials in the whole run, and as many requests to paths of no bot.
    pub forged: u32,
}

/// The measurements of a run.
#[derive(Debug, Default)]
pub struct Measured {
    /// Response times of genuine events without a flood.
    pub quiet: Vec<Duration>,
    /// Response times of genuine events in a flood.
    pub flooded: Vec<Duration>,
    /// Times of genuine dials in a flood, until the response to their hello.
    pub dials: Vec<Duration>,
    /// Forged dials that were refused.
    pub forged: u32,
    /// Requests to paths of no bot that were refused.
    pub unknown: u32,
    /// Requests of the flood that were asked to retry.
    pub put_off: u32,
}

/// Runs a plan against a desk.
pub fn measure(cast: &Cast, desk: SocketAddr, plan: Plan) -> Result<Measured> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("could not start a runtime")?.block_on(run(cast, desk, plan))
}

async fn run(cast: &Cast, desk: SocketAddr, plan: Plan) -> Result<Measured> {
    let (mut measured, mut first) = (Measured::default(), 0);
    // The first period is a warm-up.
    post_events(cast, desk, plan, &mut first).await?;
    for turn in 1..=plan.turns {
        ui::say(&format!("turn {turn} of {}", plan.turns));
        measured.quiet.extend(post_events(cast, desk, plan, &mut first).await?);
        let flood = Flood::begin(desk, plan, turn);
        let (events, dial) =
            tokio::join!(post_events(cast, desk, plan, &mut first), dial_amid(cast, desk, plan));
        measured.flooded.extend(events?);
        measured.dials.push(dial?);
        flood.end(&mut measured).await?;
        sleep(REST).await;
    }
    Ok(measured)
}

/// Posts events for one period, and returns their response times.
async fn post_events(
    cast: &Cast,
    desk: SocketAddr,
    plan: Plan,
    next_event: &mut u64,
) -> Result<Vec<Duration>> {
    let pace = Pace::of(u64::from(plan.seconds * EVENTS_PER_SECOND), EVENTS_PER_SECOND);
    let (mut connection, mut body) = (Connection::open(desk).await?, Vec::new());
    let mut times = Vec::new();
    while pace.turn().await.is_some() {
        let others = cast.members.len() as u64 - 1;
        let agent = DIALLING + 1 + usize::try_from(*next_event % others)?;
        write_body(&mut body, agent, *next_event)?;
        *next_event += 1;
        let began = Instant::now();
        let status = connection.post(&cast.bots[cast.members[agent].bot], &body).await?;
        ensure!(status == 200, "an event got {status}");
        times.push(began.elapsed());
    }
    Ok(times)
}

/// Dials in the middle of a period, and returns the time until the response to the hello.
async fn dial_amid(cast: &Cast, desk: SocketAddr, plan: Plan) -> Result<Duration> {
    sleep(Duration::from_secs(plan.seconds.into()) / 2).await;
    let token = cast.members[DIALLING].token(&SystemClock::start());
    let began = Instant::now();
    let dialled = timeout(REQUEST_WAIT, Socket::dial(desk, token.expose())).await;
    let socket = dialled.context("a genuine dial got no response")??;
    let took = began.elapsed();
    socket.reset();
    Ok(took)
}

/// The kinds of requests that prove nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unproven {
    /// A dial with a well-formed token that no gateway signed.
    Dial,
    /// A webhook of no bot.
    Hook,
}

impl Unproven {
    /// Returns a request that names what no other request named.
    fn request(self, desk: SocketAddr, turn: u32, nth: u64) -> String {
        match self {
            Self::Dial => {
                let (name, now) = (format!("forged-{turn}-{nth}"), SystemClock::start().now());
                let token = upgrade_token::make(&name, b"a guess", UPGRADE_TTL_SECS, now);
                wire::upgrade(desk, token.expose())
            }
            Self::Hook => format!(
                "POST /hooks/{turn:08x}{nth:024x} HTTP/1.1\r\nhost: {desk}\r\ncontent-length: 2\r\n\r\n{{}}"
            ),
        }
    }
}

/// A flood in progress.
struct Flood {
    senders: JoinSet<Result<SenderCounts>>,
}

/// Responses to one sender of a flood.
#[derive(Clone, Copy, Debug, Default)]
struct SenderCounts {
    forged: u32,
    unknown: u32,
    put_off: u32,
}

impl Flood {
    fn begin(desk: SocketAddr, plan: Plan, turn: u32) -> Self {
        let requests = u64::from(plan.forged / plan.turns);
        let per_second = (plan.forged / plan.turns).div_ceil(plan.seconds);
        let mut senders = JoinSet::new();
        for kind in [Unproven::Dial, Unproven::Hook] {
            let pace = Arc::new(Pace::of(requests, per_second));
            for _ in 0..FLOOD_CONNECTIONS {
                senders.spawn(send_all(kind, desk, turn, Arc::clone(&pace)));
            }
        }
        Self { senders }
    }

    async fn end(mut self, measured: &mut Measured) -> Result<()> {
        while let Some(counts) = self.senders.join_next().await {
            let counts = counts.context("a sender's task ended badly")??;
            measured.forged += counts.forged;
            measured.unknown += counts.unknown;
            measured.put_off += counts.put_off;
        }
        Ok(())
    }
}

async fn send_all(
    kind: Unproven,
    desk: SocketAddr,
    turn: u32,
    pace: Arc<Pace>,
) -> Result<SenderCounts> {
    let mut counts = SenderCounts::default();
    while let Some(nth) = pace.turn().await {
        let request = kind.request(desk, turn, nth);
        let status = timeout(REQUEST_WAIT, send(desk, &request)).await;
        match (kind, status.context("a request of the flood got no response")??) {
            (Unproven::Dial, 401 | 429) => counts.forged += 1,
            (Unproven::Hook, 404) => counts.unknown += 1,
            (_, 503) => counts.put_off += 1,
            (_, status) => anyhow::bail!("a request that proves nothing got {status}"),
        }
    }
    Ok(counts)
}

/// Sends a request over a connection of its own, and returns the status.
async fn send(desk: SocketAddr, request: &str) -> Result<u16> {
    let mut stream = TcpStream::connect(desk).await.context("could not connect")?;
    // A reset leaves no address in use; otherwise a long flood would use up the machine's.
    stream.set_zero_linger().context("could not set up a connection")?;
    stream.write_all(request.as_bytes()).await.context("could not send")?;
    let mut response = Vec::with_capacity(512);
    while wire::head_end(&response).is_none() {
        let read = stream.read_buf(&mut response).await.context("could not read")?;
        ensure!(read > 0, "the desk hung up");
    }
    wire::status(&response).context("the response has no status")
}
