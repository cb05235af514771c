//! Posts signed events to the desk's webhook. A 200 acknowledges an event.
//!
//! Each connection waits for its response before it posts again. Like the gateways, it does only the necessary work. On
//! command it also posts letters of agents to each other.

mod connection;
mod letters;
mod paced;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use nightdesk_judge::monotonic_ns;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use crate::chance::pick;
use crate::history::{Ledger, Seen};
use crate::pace::Pace;
use crate::setup::{self, Cast, PLATFORM};
use crate::worker;
pub(crate) use connection::Connection;
use paced::Posting;

/// Text of a message, which makes an entry of about 500 bytes. It has no quotation mark, so that gateways need not
/// parse.
pub(crate) const TEXT: &str = "Could you look at the numbers of last night once more? The export from the \
    second warehouse came in late and I am not sure that it is in the report. If it is not, run \
    it again and tell me what has changed since Tuesday. Thanks a lot!";

/// Arguments of the process.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Addresses of the desk's nodes. Connections are spread over them.
    #[arg(long, required = true)]
    desk: Vec<SocketAddr>,
    /// File of the cast.
    #[arg(long)]
    cast: PathBuf,
    /// Number of concurrent connections.
    #[arg(long)]
    connections: u64,
    /// Number of the first event, if another platform has used the lower ones.
    #[arg(long, default_value_t = 0)]
    first_event: u64,
}

/// Commands to the platform.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Post one event for every nth agent, from the first one on.
    Each(usize),
    /// Post events for random agents, for this many milliseconds.
    Run(u64),
    /// Post letters between agents of the same tenant, for this many milliseconds.
    Letters(u64),
    /// Post one event for each of these agents, evenly.
    Paced {
        /// Index of the first agent.
        from: usize,
        /// Number of agents.
        agents: u64,
        /// Events per second.
        per_second: u32,
    },
    /// Begin to post events for random agents.
    Begin {
        /// The recipients.
        whom: Whom,
        /// Events per second.
        per_second: u32,
    },
    /// Stop posting them.
    Stop,
    /// Write the acknowledged events to a file.
    Save(PathBuf),
}

/// Recipients of events.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Whom {
    /// All agents.
    Everybody,
    /// Agents of the first agent's tenant.
    FirstTenant,
    /// Agents of all other tenants.
    Others,
}

impl Whom {
    /// Returns their indexes among the members.
    fn members(self, cast: &Cast) -> Arc<[usize]> {
        let first = cast.members.first().map(|member| member.tenant);
        let is_meant = |nth: &usize| match self {
            Self::Everybody => true,
            Self::FirstTenant => Some(cast.members[*nth].tenant) == first,
            Self::Others => Some(cast.members[*nth].tenant) != first,
        };
        (0..cast.members.len()).filter(is_meant).collect()
    }
}

/// Counts of acknowledged events.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    /// Number of events that got a 200.
    pub told: u64,
    /// Number of retries.
    pub again: u64,
}

/// State that all connections share.
#[derive(Debug)]
struct Desk {
    nodes: Vec<SocketAddr>,
    cast: Cast,
    told: Ledger,
    again: AtomicU64,
    next_event: AtomicU64,
}

impl Desk {
    fn told(&self) -> Told {
        Told { told: self.told.count(), again: self.again.load(Ordering::Relaxed) }
    }

    /// Returns the number of a new event that is posted to this node. The number encodes the node for the receiver.
    fn next_event(&self, node: usize) -> u64 {
        let nodes = self.nodes.len() as u64;
        self.next_event.fetch_add(1, Ordering::Relaxed) * nodes + node as u64
    }
}

/// Returns the node that an event was posted to.
pub(crate) const fn posted_to(event: u64, nodes: usize) -> u64 {
    event % nodes as u64
}

/// Runs the process.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let desk = Arc::new(Desk {
        nodes: arguments.desk.clone(),
        cast: Cast::load(&arguments.cast)?,
        told: Ledger::default(),
        again: AtomicU64::new(0),
        next_event: AtomicU64::new(arguments.first_event),
    });
    let mut posting: Option<Posting> = None;
    worker::answer(async |order| {
        match order {
            Order::Each(step) => post_each(&desk, arguments.connections, step).await?,
            Order::Run(millis) => {
                let until = Instant::now() + Duration::from_millis(millis);
                post_until(&desk, arguments.connections, until).await?;
            }
            Order::Letters(millis) => {
                let until = Instant::now() + Duration::from_millis(millis);
                letters::post_until(&desk, arguments.connections, until).await?;
            }
            Order::Paced { from, agents, per_second } => {
                let member = move |nth| from + usize::try_from(nth).unwrap_or(usize::MAX);
                let pace = Pace::of(agents, per_second);
                Posting::begin(&desk, arguments.connections, pace, member).done().await?;
            }
            Order::Begin { whom, per_second } => {
                let (pace, members) = (Pace::of(u64::MAX, per_second), whom.members(&desk.cast));
                let member = move |nth| members[pick(nth, members.len())];
                posting = Some(Posting::begin(&desk, arguments.connections, pace, member));
            }
            Order::Stop => {
                if let Some(posting) = posting.take() {
                    posting.stop().await?;
                }
            }
            Order::Save(file) => desk.told.save(&file)?,
        }
        Ok(desk.told())
    })
    .await
}

async fn post_each(desk: &Arc<Desk>, connections: u64, step: usize) -> Result<()> {
    let next = Arc::new(AtomicU64::new(0));
    let members = desk.cast.members.len();
    let member = move |_: u64| {
        let nth = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).ok()?;
        nth.checked_mul(step).filter(|member| *member < members)
    };
    all(nodes(desk, connections)
        .map(|node| tokio::spawn(post(Arc::clone(desk), node, member.clone()))))
    .await
}

async fn post_until(desk: &Arc<Desk>, connections: u64, until: Instant) -> Result<()> {
    let members = desk.cast.members.len();
    let member = move |event| (Instant::now() < until).then(|| pick(event, members));
    all(nodes(desk, connections).map(|node| tokio::spawn(post(Arc::clone(desk), node, member))))
        .await
}

/// Returns the node of each connection, round-robin.
fn nodes(desk: &Desk, connections: u64) -> impl Iterator<Item = usize> {
    let nodes = 0..desk.nodes.len();
    nodes.cycle().zip(0..connections).map(|(node, _)| node)
}

async fn all(posting: impl Iterator<Item = JoinHandle<Result<()>>>) -> Result<()> {
    let posted = try_join_all(posting).await.context("a connection's task ended badly")?;
    posted.into_iter().collect()
}

/// Posts to one node, for the agent that `member` returns, until it returns `None`.
async fn post(desk: Arc<Desk>, node: usize, member: impl Fn(u64) -> Option<usize>) -> Result<()> {
    let mut connection = Some(Connection::open(desk.nodes[node]).await?);
    let mut body = Vec::new();
    loop {
        let event = desk.next_event(node);
        let Some(agent) = member(event) else { return Ok(()) };
        write_body(&mut body, agent, event)?;
        let began_ns = monotonic_ns();
        paced::post_until_taken((&desk, node), &mut connection, &body).await?;
        desk.told.note_at(began_ns, &[Seen { agent, event }]);
    }
}

/// Writes an event of an agent's author.
pub(crate) fn write_body(body: &mut Vec<u8>, agent: usize, event: u64) -> Result<()> {
    body.clear();
    write!(
        body,
        "{{\"id\":\"e{event}\",\"event\":{{\"text\":\"{TEXT}\",\"message_type\":\"text\",\
         \"message_id\":\"e{event}\",\"source\":{{\"platform\":\"{PLATFORM}\",\
         \"chat_id\":\"{}\",\"chat_type\":\"dm\",\"user_id\":\"{}\",\
         \"user_name\":\"Ada\"}}}}}}",
        setup::chat(agent),
        setup::author(agent)
    )
    .context("could not write into memory")
}
