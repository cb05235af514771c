//! Platform: posts signed events to the desk's webhook, and believes a "200".
//!
//! Each connection waits for its answer before it posts again. Like the gateways it does no
//! more than it must. If it is told so, it speaks for agents, and posts their letters to each other.

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

/// What people write. With all that stands around it an entry has about 500 bytes. It holds
/// no quotation mark, so that gateways need not parse.
pub(crate) const TEXT: &str = "Could you look at the numbers of last night once more? The export from the \
    second warehouse came in late and I am not sure that it is in the report. If it is not, run \
    it again and tell me what has changed since Tuesday. Thanks a lot!";

/// What the process is told when it starts.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Where the desk's nodes are. Connections are spread over them.
    #[arg(long, required = true)]
    desk: Vec<SocketAddr>,
    /// The file with everybody in it.
    #[arg(long)]
    cast: PathBuf,
    /// How many connections post at a time.
    #[arg(long)]
    connections: u64,
    /// The first event's number, if another platform has used up those below.
    #[arg(long, default_value_t = 0)]
    first_event: u64,
}

/// What the platform can be told.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Post one event for every so-manieth agent, from the first one on.
    Each(usize),
    /// Post events for agents picked at random, for so many milliseconds.
    Run(u64),
    /// Post letters of agents to agents of their tenants, for so many milliseconds.
    Letters(u64),
    /// Post one event for each of so many agents, evenly.
    Paced {
        /// The first of them.
        from: usize,
        /// How many.
        agents: u64,
        /// How many in a second.
        per_second: u32,
    },
    /// Begin to post events, to agents picked at random.
    Begin {
        /// Whom they are for.
        whom: Whom,
        /// How many in a second.
        per_second: u32,
    },
    /// Post no more of them.
    Stop,
    /// Put what was answered "200" into a file.
    Save(PathBuf),
}

/// Whom events are for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Whom {
    /// All agents.
    Everybody,
    /// Those of the tenant whose agent is the first.
    FirstTenant,
    /// All but those.
    Others,
}

impl Whom {
    /// Their places among the members.
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

/// How many events were answered "200" so far.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    /// Their number.
    pub told: u64,
    /// How often one had to be posted again.
    pub again: u64,
}

/// What all connections share.
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

    /// The number of a new event that is posted to this node. It says which node that is, so that
    /// whoever receives it knows.
    fn next_event(&self, node: usize) -> u64 {
        let nodes = self.nodes.len() as u64;
        self.next_event.fetch_add(1, Ordering::Relaxed) * nodes + node as u64
    }
}

/// The node an event was posted to, of so many.
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

/// The node of each connection: they take turns.
fn nodes(desk: &Desk, connections: u64) -> impl Iterator<Item = usize> {
    let nodes = 0..desk.nodes.len();
    nodes.cycle().zip(0..connections).map(|(node, _)| node)
}

async fn all(posting: impl Iterator<Item = JoinHandle<Result<()>>>) -> Result<()> {
    let posted = try_join_all(posting).await.context("a connection's task ended badly")?;
    posted.into_iter().collect()
}

/// Posts to one node, for the agent that `member` names, until `member` names none.
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

/// An event by an agent's author.
fn write_body(body: &mut Vec<u8>, agent: usize, event: u64) -> Result<()> {
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
