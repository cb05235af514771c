//! Plan: what every process of a run must know, in a file.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nightdesk_judge::Recorder;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::letters::who::Writer;
use super::manner::{self, Manner, Manners};
use super::rooms::Mover;
use super::street::Street;
use crate::chance::Dice;
use crate::setup::{self, Cast, PLATFORM, Size};

/// Processes the gateways are spread over, so that one can be frozen.
pub const GATEWAY_PROCESSES: usize = 3;

/// Chats an author has with their own agent.
const OWN_CHATS: usize = 2;

/// Where all chats are but those of rooms.
const GUILD: &str = "guild";

/// How big a world is and how much happens in it.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Agents.
    pub agents: usize,
    /// Events the platform sends in a second, if the desk takes them.
    pub rate_per_s: u64,
    /// Of how many acks in a hundred the platform looks the event up.
    pub looks_percent: u64,
    /// Rooms that people of several tenants share.
    pub rooms: usize,
    /// Of the agents, how many have jobs.
    pub jobs: usize,
    /// Of the agents, how many write to others and share a shelf.
    pub letters: usize,
    /// How often a bot may speak, if that is slow: then sends wait for their turn.
    pub calls_per_second: Option<u32>,
}

impl Scale {
    /// How many of everything are entered.
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

/// What every process of a run must know.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    /// Everything else follows from it.
    pub seed: u64,
    /// Where histories are written.
    pub folder: PathBuf,
    /// Where the nodes listen.
    pub nodes: Vec<SocketAddr>,
    /// Where the platform is called.
    pub deliver: SocketAddr,
    /// Where wake calls go, for each process of gateways.
    pub targets: Vec<SocketAddr>,
    /// Where nobody may be led.
    pub honeypot: SocketAddr,
    /// Everybody there is.
    pub cast: Cast,
    /// How each member's gateway behaves.
    pub manners: Vec<Manner>,
    /// Who writes where.
    pub conversations: Vec<Conversation>,
    /// Who is let in and out again.
    pub movers: Vec<Mover>,
    /// Who writes on Discord and Telegram, if anybody does.
    pub street: Option<Street>,
    /// Who has jobs.
    pub jobs: Jobs,
    /// Who writes to whom.
    pub letters: Vec<Writer>,
    /// Events the platform sends in a second.
    pub rate_per_s: u64,
    /// Of how many acks in a hundred it looks the event up.
    pub looks_percent: u64,
    /// Where `psql` is.
    pub psql: PathBuf,
    /// The database, as its superuser sees it.
    pub database_url: String,
}

/// Agents that have jobs: the first so many.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Jobs {
    /// How many.
    pub agents: usize,
    /// Where they are told that it is time.
    pub target: SocketAddr,
    /// Whether some do not take every fire at once.
    pub is_odd: bool,
}

/// An author in a chat. What they write there is sent one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// The bot that hears it, by its place among the bots.
    pub bot: usize,
    /// Who writes.
    pub author: String,
    /// Whether that is a program.
    pub is_program: bool,
    /// Where.
    pub place: Place,
    /// The members whose agents see it.
    pub seen_by: Vec<usize>,
    /// Whether people of several tenants write there.
    pub is_shared: bool,
}

/// A chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Which.
    pub chat: String,
    /// Its guild. Without one, nobody is there but the author and the bot.
    pub scope: Option<String>,
    /// The chat it is a thread of.
    pub parent: Option<String>,
}

impl Place {
    /// A chat of one person with the bot.
    pub fn direct(chat: &str) -> Self {
        Self { chat: chat.to_owned(), scope: None, parent: None }
    }

    /// A chat of a guild that everybody is in.
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
    /// Where it comes from, in the platform's words.
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
    /// How the agent of this number is called in histories.
    pub fn agent(number: usize) -> String {
        format!("agent-{number}")
    }

    /// The process that the gateway of this member is in.
    pub const fn process_of(member: usize) -> usize {
        member % GATEWAY_PROCESSES
    }

    /// The agent whose target is the honeypot: the last, of so many.
    pub const fn lured(members: usize) -> usize {
        members.saturating_sub(1)
    }

    /// Begins the history of one process.
    pub fn record(&self, process: &str) -> Result<Recorder> {
        let file = self.folder.join(format!("{process}.jsonl"));
        Recorder::create(&file, process)
            .with_context(|| format!("could not begin {}", file.display()))
    }

    /// Puts it into a file, for the workers.
    pub fn save(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string(self).context("could not write the plan")?;
        fs::write(file, text).with_context(|| format!("could not write {}", file.display()))
    }

    /// Reads what [`Plan::save`] wrote.
    pub fn load(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file)
            .with_context(|| format!("could not read {}", file.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is not a plan", file.display()))
    }
}

/// What a process is told when it starts that needs nothing but the plan.
#[derive(Debug, clap::Args)]
pub struct PlanFile {
    /// The file with the plan in it.
    #[arg(long)]
    plan: PathBuf,
}

impl PlanFile {
    /// The plan in it.
    pub(super) fn load(&self) -> Result<Plan> {
        Plan::load(&self.plan)
    }
}

/// How each member's gateway behaves. The one that is lured must be away for the desk to call it.
pub fn manners(seed: u64, manners: Manners, cast: &Cast) -> Vec<Manner> {
    let members = cast.members.len();
    let mut all = manner::assigned(seed, manners, members);
    if manners == Manners::All {
        all[Plan::lured(members)] = Manner::Leaves;
    }
    all
}

/// Who writes where: everybody to their own agent, and in each open chat somebody who shares
/// its bot.
pub fn conversations(seed: u64, cast: &Cast, guests: usize) -> Vec<Conversation> {
    let mut dice = Dice::of(seed, 2);
    let members = 0..cast.members.len();
    let own = members.clone().flat_map(|member| {
        (0..OWN_CHATS)
            .map(move |nth| written(cast, member, format!("{}-{nth}", setup::chat(member))))
    });
    let open = (0..guests).map(|guest| {
        let bot = cast.members[guest].bot;
        let here: Vec<usize> =
            members.clone().filter(|other| cast.members[*other].bot == bot).collect();
        let member = here[dice.below(here.len())];
        let seen_by = if member == guest { vec![guest] } else { vec![guest, member] };
        Conversation { seen_by, ..written(cast, member, setup::open_chat(guest)) }
    });
    own.chain(open).collect()
}

/// What a member's author writes, for their own agent.
fn written(cast: &Cast, member: usize, chat: String) -> Conversation {
    Conversation {
        bot: cast.members[member].bot,
        author: setup::author(member),
        is_program: false,
        place: Place::common(chat),
        seen_by: vec![member],
        is_shared: false,
    }
}
