//! Runs real nodes, and counts stale admissions in their tables afterwards.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_servers::Redis;
use serde_json::json;
use tokio::task::JoinSet;

use super::changes::HOT;
use crate::chance::Dice;
use crate::chaos::mutation::Mutation;
use crate::cluster::{APP_ROLE, Cluster};
use crate::desk::{Desk, Settings};
use crate::platform::Connection;
use crate::setup::{self, Cast, PLATFORM, SharedBot};
use crate::stage::DATABASE;

/// Number of nodes.
const NODES: usize = 2;

/// Number of concurrent posters.
const POSTERS: u64 = 16;

/// Maximum number of attempts for an event: while access changes, the desk may request a retry.
const ATTEMPTS_MAX: usize = 5;

/// Number of entries whose binding or grant was gone at their commit, and number of all entries. A change and an accept
/// of one agent lock each other out, so their commits are ordered.
const STALE: &str = "
    with made as (
        select agent_id, chat_id, held, pg_xact_commit_timestamp(xmin) as at from changes_made
    ), spans as (
        select agent_id, chat_id, held, at, lead(at, 1, 'infinity') over changes as until
        from made window changes as (partition by agent_id, chat_id order by at)
    ), taken as (
        select agent_id, chat_id, pg_xact_commit_timestamp(xmin) as at from inbox_entries
    )
    select count(*) filter (where s.agent_id is not null), count(*)
    from taken t left join spans s on s.agent_id = t.agent_id and s.chat_id = t.chat_id
        and not s.held and s.at < t.at and t.at < s.until";

/// Nodes with a bell between them.
#[derive(Debug)]
pub struct Nodes {
    all: Vec<Desk>,
    next_event: Arc<AtomicU64>,
    _redis: Redis,
}

/// Authors of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// Bound authors and strangers, where bindings and grants change.
    Hot,
    /// Strangers in chats without an agent.
    Strange,
}

impl Nodes {
    /// Starts the nodes, with a bug of the mutated build if one is named.
    pub fn start(settings: &Settings, folder: &Path, mutation: Mutation) -> Result<Self> {
        let redis = Redis::start()?;
        let bell = format!("[redis]\nurl = \"{}\"\n", redis.url());
        let environment = mutation.environment();
        let node = |number| {
            settings.node(&format!("node-{number}"), folder, &bell)?.start_with(&environment)
        };
        let all = (1..=NODES).map(node).collect::<Result<_>>()?;
        Ok(Self { all, next_event: Arc::default(), _redis: redis })
    }

    /// Posts for the given time. Returns the number of events that got a 200.
    pub fn post(&self, cast: &Cast, writing: Writing, lasts: Duration) -> Result<u64> {
        let runtime = tokio::runtime::Runtime::new().context("could not start the runtime")?;
        let until = Instant::now() + lasts;
        runtime.block_on(async {
            let mut posters = JoinSet::new();
            for (poster, node) in (0..POSTERS).zip(self.all.iter().cycle()) {
                let (bot, next_event) = (cast.bots[0].clone(), Arc::clone(&self.next_event));
                let poster = Poster {
                    node: node.address(),
                    bot,
                    writing,
                    dice: Dice::of(1, poster),
                    next_event,
                };
                posters.spawn(poster.post(until));
            }
            let told = posters.join_all().await;
            told.into_iter().sum()
        })
    }
}

struct Poster {
    node: SocketAddr,
    bot: SharedBot,
    writing: Writing,
    dice: Dice,
    next_event: Arc<AtomicU64>,
}

impl Poster {
    async fn post(mut self, until: Instant) -> Result<u64> {
        let mut connection = Connection::open(self.node).await?;
        let mut told = 0;
        while Instant::now() < until {
            let body = self.event();
            let mut attempts = 1;
            while connection.post(&self.bot, &body).await? != 200 {
                ensure!(attempts < ATTEMPTS_MAX, "an event was not taken {attempts} times");
                attempts += 1;
                connection = Connection::open(self.node).await?;
            }
            told += 1;
        }
        Ok(told)
    }

    fn event(&mut self) -> Vec<u8> {
        let number = self.next_event.fetch_add(1, Ordering::Relaxed);
        let hot = self.dice.below(HOT);
        let (author, chat) = match (self.writing, number.is_multiple_of(2)) {
            (Writing::Hot, true) => (setup::author(hot), setup::chat(hot)),
            (Writing::Hot, false) => (format!("s{number}"), setup::open_chat(hot)),
            (Writing::Strange, _) => (format!("s{number}"), setup::chat(hot)),
        };
        let source = json!({
            "platform": PLATFORM, "chat_id": chat, "chat_type": "channel", "scope_id": "guild",
            "user_id": author,
        });
        let event = json!({ "text": "What is new?", "source": source });
        json!({ "id": format!("e{number}"), "event": event }).to_string().into_bytes()
    }
}

/// Returns the number of stale admissions and the number of all entries.
pub fn stale_admits(cluster: &Cluster) -> Result<(u64, u64)> {
    let counted = cluster.ask(DATABASE, STALE)?;
    let (stale, all) = counted.trim().split_once('|').context("could not count the entries")?;
    Ok((stale.parse()?, all.parse()?))
}

/// Returns the number of the nodes' statements, each a round trip.
pub fn round_trips(cluster: &Cluster) -> Result<u64> {
    let sql = format!(
        "select coalesce(sum(s.calls), 0) from pg_stat_statements s
             join pg_roles r on r.oid = s.userid and r.rolname = '{APP_ROLE}'"
    );
    cluster.ask(DATABASE, &sql)?.trim().parse().context("could not count the statements")
}
