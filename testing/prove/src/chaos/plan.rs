//! Defines the plan of a run, a file that every process reads.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nightdesk_judge::Recorder;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::gateways::answers;
use super::letters::who::Writer;
use super::manner::{self, Manner, Manners};
use super::rooms::Mover;
use super::street::Street;
use crate::chance::Dice;
use crate::cluster::Cluster;
use crate::setup::{self, Cast, Member, PLATFORM, Size};
use crate::stage::DATABASE;

/// Number of gateway processes, so that one can be frozen.
pub const GATEWAY_PROCESSES: usize = 3;

/// Number of bindings in one statement, which has to fit into an argument.
const BINDINGS_AT_ONCE: usize = 500;

/// Guild of all chats except rooms.
const GUILD: &str = "guild";

/// Size and load of a world.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Number of agents.
    pub agents: usize,
    /// Number of authors that write to each agent alone. The nodes have the rate limits of production, so a high rate
    /// needs many of them.
    pub authors: usize,
    /// Number of authors that write far more than the limit.
    pub floods: usize,
    /// Events per second that the platform sends, if the desk accepts them.
    pub rate_per_s: u64,
    /// Percentage of acks after which the platform looks up the event.
    pub looks_percent: u64,
    /// Number of rooms that people of several tenants share.
    pub rooms: usize,
    /// Number of agents that have jobs.
    pub jobs: usize,
    /// Number of agents that write letters and share a shelf.
    pub letters: usize,
    /// Rate limit of a slow bot, whose sends wait for their turn.
    pub calls_per_second: Option<u32>,
}

impl Scale {
    /// Returns the number of rows of each kind to create.
    pub fn size(self, deliver: SocketAddr) -> Size {
        Size {
            tenants: (self.agents / 4).max(2),
            bots: 3,
            agents: self.agents,
            guests: self.agents / 3,
            deliver_url: Some(format!("http://{deliver}/deliver")),
            calls_per_second: self.calls_per_second,
        }
    }
}

/// The plan of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Seed from which the whole run follows.
    pub seed: u64,
    /// Folder of the histories.
    pub folder: PathBuf,
    /// Addresses on which the nodes listen.
    pub nodes: Vec<SocketAddr>,
    /// Address at which the desk calls the platform.
    pub deliver: SocketAddr,
    /// Address of the wake targets of each gateway process.
    pub targets: Vec<SocketAddr>,
    /// Address that the desk must never call.
    pub honeypot: SocketAddr,
    /// All tenants, agents, gateways and bots.
    pub cast: Cast,
    /// Behaviour of each member's gateway.
    pub manners: Vec<Manner>,
    /// Conversations of the run.
    pub conversations: Vec<Conversation>,
    /// Conversations of authors that write far more than the limit.
    pub floods: Vec<Conversation>,
    /// Authors that lose and regain access.
    pub movers: Vec<Mover>,
    /// Load on Discord and Telegram, if there is any.
    pub street: Option<Street>,
    /// Agents with jobs.
    pub jobs: Jobs,
    /// Agents that write letters.
    pub letters: Vec<Writer>,
    /// Events per second that the platform sends.
    pub rate_per_s: u64,
    /// Percentage of acks after which it looks up the event.
    pub looks_percent: u64,
    /// Path of `psql`.
    pub psql: PathBuf,
    /// URL of the database, as the superuser.
    pub database_url: String,
    /// File with the vault's keys, which open the messages in the database.
    pub vault_key_file: PathBuf,
}

/// Agents that have jobs: the first members.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Jobs {
    /// Number of agents.
    pub agents: usize,
    /// Address at which they receive fires.
    pub target: SocketAddr,
    /// True if some do not take every fire at once.
    pub is_odd: bool,
}

/// An author in a chat. The author's messages are sent one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Index of the bot that receives it.
    pub bot: usize,
    /// The author.
    pub author: String,
    /// True if the author is a program.
    pub is_program: bool,
    /// The chat.
    pub place: Place,
    /// The members whose agents see it.
    pub seen_by: Vec<usize>,
    /// True if people of several tenants write there.
    pub is_shared: bool,
    /// True if the author writes far more than the limit. A part of it wakes no agent, and a part is parked.
    pub is_flood: bool,
}

/// A chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Id of the chat.
    pub chat: String,
    /// Its guild. A chat without a guild has only the author and the bot.
    pub scope: Option<String>,
    /// The chat it is a thread of.
    pub parent: Option<String>,
}

impl Place {
    /// Returns a chat of one person with the bot.
    pub fn direct(chat: &str) -> Self {
        Self { chat: chat.to_owned(), scope: None, parent: None }
    }

    /// Returns a chat of the guild that all authors are in.
    fn common(chat: String) -> Self {
        Self { chat, scope: Some(GUILD.to_owned()), parent: None }
    }

    const fn kind(&self) -> &'static str {
        match (&self.scope, &self.parent) {
            (None, _) => "dm",
            (Some(_), None) => "channel",
            (Some(_), Some(_)) => "thread",
        }
    }
}

impl Conversation {
    /// Returns the event's source in the platform's format.
    pub fn source(&self) -> Value {
        let Place { chat, scope, parent } = &self.place;
        json!({
            "platform": PLATFORM, "chat_id": chat, "chat_type": self.place.kind(),
            "scope_id": scope, "parent_chat_id": parent,
            "user_id": self.author, "is_bot": self.is_program,
        })
    }
}

impl Plan {
    /// Returns the name of an agent in histories.
    pub fn agent(number: usize) -> String {
        format!("agent-{number}")
    }

    /// Returns the process of this member's gateway.
    pub const fn process_of(member: usize) -> usize {
        member % GATEWAY_PROCESSES
    }

    /// Returns the agent whose target is the honeypot: the last member.
    pub const fn lured(members: usize) -> usize {
        members.saturating_sub(1)
    }

    /// Begins the history of one process.
    pub fn record(&self, process: &str) -> Result<Recorder> {
        let file = self.folder.join(format!("{process}.jsonl"));
        Recorder::create(&file, process)
            .with_context(|| format!("could not begin {}", file.display()))
    }

    /// Writes the plan to a file, for the workers.
    pub fn save(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string(self).context("could not write the plan")?;
        fs::write(file, text).with_context(|| format!("could not write {}", file.display()))
    }

    /// Reads a plan that [`Plan::save`] wrote.
    pub fn load(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file)
            .with_context(|| format!("could not read {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a plan", file.display()))
    }
}

/// Arguments of a process that needs only the plan.
#[derive(Debug, clap::Args)]
pub struct PlanFile {
    /// File of the plan.
    #[arg(long)]
    plan: PathBuf,
}

impl PlanFile {
    /// Loads the plan.
    pub(super) fn load(&self) -> Result<Plan> {
        Plan::load(&self.plan)
    }
}

/// Assigns a manner to each member's gateway. The lured agent must be offline, so that the desk calls it.
pub fn manners(seed: u64, manners: Manners, cast: &Cast) -> Vec<Manner> {
    let members = cast.members.len();
    let mut all = manner::assigned(seed, manners, members);
    if manners == Manners::All {
        all[Plan::lured(members)] = Manner::Leaves;
    }
    all
}

/// Returns the conversations of authors that write to one agent alone, each in a chat of their own.
pub fn own_conversations(cast: &Cast, authors: usize) -> Vec<Conversation> {
    let members = 0..cast.members.len();
    members
        .flat_map(|member| (0..authors).map(move |nth| own(cast, member, &nth.to_string())))
        .collect()
}

/// Returns the conversations of authors that flood agents with normal gateways.
pub fn floods(cast: &Cast, manners: &[Manner], count: usize) -> Vec<Conversation> {
    let is_calm = |member: &usize| manners[*member] == Manner::Normal && !answers(*member);
    let members = (0..cast.members.len()).filter(is_calm).take(count);
    members.map(|member| Conversation { is_flood: true, ..own(cast, member, "flood") }).collect()
}

/// Binds the authors of conversations to the agents that see them.
pub fn bind(cluster: &Cluster, cast: &Cast, conversations: &[Conversation]) -> Result<()> {
    for some in conversations.chunks(BINDINGS_AT_ONCE) {
        let row = |conversation: &Conversation| {
            let Member { tenant, agent, bot, .. } = &cast.members[conversation.seen_by[0]];
            format!("('{tenant}', '{}', '{}', '{agent}')", cast.bots[*bot].bot, conversation.author)
        };
        let rows: Vec<String> = some.iter().map(row).collect();
        let rows = rows.join(", ");
        let insert =
            format!("insert into bindings (tenant_id, bot_id, author_id, agent_id) values {rows}");
        cluster.ask(DATABASE, &insert)?;
    }
    Ok(())
}

/// Returns a conversation in each open chat: an author of the same bot writes there.
pub fn open_conversations(seed: u64, cast: &Cast, guests: usize) -> Vec<Conversation> {
    let mut dice = Dice::of(seed, 2);
    let members = 0..cast.members.len();
    let open = (0..guests).map(|guest| {
        let bot = cast.members[guest].bot;
        let here: Vec<usize> =
            members.clone().filter(|other| cast.members[*other].bot == bot).collect();
        let member = here[dice.below(here.len())];
        let seen_by = if member == guest { vec![guest] } else { vec![guest, member] };
        Conversation { seen_by, ..written(cast, member, setup::open_chat(guest)) }
    });
    open.collect()
}

/// Returns the conversation of an author of this name with a member's agent.
fn own(cast: &Cast, member: usize, name: &str) -> Conversation {
    let author = format!("{}-{name}", setup::author(member));
    Conversation { author, ..written(cast, member, format!("{}-{name}", setup::chat(member))) }
}

/// Returns the conversation of a member's author with their own agent.
fn written(cast: &Cast, member: usize, chat: String) -> Conversation {
    Conversation {
        bot: cast.members[member].bot,
        author: setup::author(member),
        is_program: false,
        place: Place::common(chat),
        seen_by: vec![member],
        is_shared: false,
        is_flood: false,
    }
}
