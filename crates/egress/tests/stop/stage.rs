//! The test fixture: egress over the memory store, with a scripted platform.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_bus::LineRegistry;
use nightdesk_egress::{Account, Accounts, Egress, SendResult};
use nightdesk_gate::{AdmittedSend, BotTag, Gate, Sender};
use nightdesk_lease::{Lease, Owner, Owners, Resource, Store as _};
use nightdesk_memory::{Memory, Writers};
use nightdesk_port::{
    Bot, CallRate, Deliver, DeliverError, LengthUnit, PlatformCapabilities, Receipt,
};
use nightdesk_testkit::{FakeClock, builders};
use nightdesk_types::send::Op;
use nightdesk_types::{
    AgentId, BotId, Moment, Node, RequestId, Send, StoreError, SystemClock, TenantScope,
};
use tokio::time::{Instant, sleep};
use tokio_util::task::TaskTracker;

/// Duration of a node's lease in the store.
const LIFE: Duration = Duration::from_hours(1);

/// The time until when a node considers its lease valid.
const LONG: Moment = Moment::after_start(Duration::from_hours(1));

/// The platform's reaction to a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Does {
    /// Accepts it.
    Takes,
    /// Accepts it, after a delay.
    TakesAfter(Duration),
    /// Returns a rate limit.
    Limits(Duration),
    /// Refuses it.
    Refuses,
    /// Never answers.
    Hangs,
}

/// A call as the platform saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) text: String,
    /// Milliseconds since the fixture was created.
    pub(crate) at: u128,
}

/// A scripted platform that records its calls.
pub(crate) struct Played {
    began: Instant,
    script: Mutex<VecDeque<Does>>,
    calls: Mutex<Vec<Call>>,
}

#[async_trait]
impl Deliver for Played {
    async fn deliver(&self, _: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
        let at = self.began.elapsed().as_millis();
        let number = {
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            calls.push(Call { text: text(send), at });
            calls.len()
        };
        let next = self.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match next.unwrap_or(Does::Takes) {
            Does::Takes => {}
            Does::TakesAfter(span) => sleep(span).await,
            Does::Limits(retry_after) => return Err(DeliverError::RateLimited { retry_after }),
            Does::Refuses => return Err(DeliverError::Refused { platform_code: "no".to_owned() }),
            Does::Hangs => std::future::pending().await,
        }
        Ok(Receipt { message_id: Some(format!("m{number}")), ..Receipt::default() })
    }
}

fn text(send: &Send) -> String {
    if let Op::Send { content, .. } = &send.op {
        content.clone()
    } else {
        send.op.name().to_owned()
    }
}

/// One account for every bot.
struct Everybodys(Account);

#[async_trait]
impl Accounts for Everybodys {
    async fn find_account(&self, bot: BotId) -> Result<Option<Account>, StoreError> {
        let bot = Arc::new(Bot { id: bot, ..Bot::clone(&self.0.bot) });
        Ok(Some(Account { bot, ..self.0.clone() }))
    }
}

/// Ann, who may write to the chats `c1` and `c2` of a bot, and Bob.
pub(crate) struct Stage {
    pub(crate) store: Memory,
    pub(crate) platform: Arc<Played>,
    pub(crate) bot: BotId,
    scope: TenantScope,
    pub(crate) agents: [AgentId; 2],
    can: PlatformCapabilities,
    tasks: TaskTracker,
}

pub(crate) fn pace(calls: u32) -> CallRate {
    CallRate::per_second(NonZeroU32::new(calls).expect("a test's pace is some"))
}

impl Stage {
    pub(crate) async fn set(script: &[Does]) -> Self {
        let store = Memory::new(FakeClock::default());
        let Writers { scope, bot, agents } = Writers::of(&store, &["c1", "c2"]).await;
        let platform = Arc::new(Played {
            began: Instant::now(),
            script: Mutex::new(script.iter().copied().collect()),
            calls: Mutex::default(),
        });
        Self { store, platform, bot, scope, agents, can: can(), tasks: TaskTracker::new() }
    }

    /// Sets the rate limits of the platform.
    pub(crate) const fn paced(mut self, chat_pace: CallRate, bot_pace: CallRate) -> Self {
        self.can.chat_pace = chat_pace;
        self.can.bot_pace = bot_pace;
        self
    }

    /// Sets the operations that the platform supports.
    pub(crate) fn that_can(mut self, ops: &[&'static str]) -> Self {
        self.can.ops = ops.to_vec();
        self
    }

    /// Starts the next life of a node; the previous one is over.
    pub(crate) async fn life(&self, name: &str) -> Arc<Egress> {
        let account = Account {
            bot: Arc::new(builders::bot(self.bot, self.scope)),
            platform: Arc::<Played>::clone(&self.platform),
            capabilities: self.can.clone(),
        };
        let lease = Lease::new(self.node(name).await, Box::new(SystemClock::start()), LONG);
        let owners = Owners::new(Arc::new(lease), Arc::new(self.store.clone()));
        let (store, accounts) = (Arc::new(self.store.clone()), Arc::new(Everybodys(account)));
        // The bell is not connected: every test here shows that it is not needed.
        let ears = Arc::new(LineRegistry::default());
        let (settled, tasks) = (ears.settlements().clone(), self.tasks.clone());
        Arc::new(Egress::new(store, accounts, owners, ears, settled, tasks))
    }

    /// Begins a node's next life.
    pub(crate) async fn node(&self, name: &str) -> Node {
        let epoch = self.store.begin(name, LIFE).await.expect("memory does not fail");
        Node { name: name.to_owned(), epoch }
    }

    /// Makes a node the owner of the bot.
    pub(crate) async fn owner(&self, node: &Node) -> Owner {
        let owner = self.store.find_or_claim(Resource::Bot(self.bot), node).await;
        owner.expect("memory does not fail").expect("it lives")
    }

    /// Runs a sweep and waits until its sends are done.
    pub(crate) async fn sweep(&self, egress: &Arc<Egress>) -> usize {
        let found = egress.sweep().await.expect("memory does not fail");
        while !self.tasks.is_empty() {
            sleep(Duration::from_millis(1)).await;
        }
        found
    }

    /// Returns an admitted send of an agent.
    pub(crate) async fn send(&self, agent: AgentId, name: &str, send: Send) -> AdmittedSend {
        let (any, through) = ([BotTag::default()], Some(self.bot));
        let sender = Sender { scope: self.scope, agent, hellos: &any, tag: &any[0], through };
        let request = RequestId::new(name).expect("it is short");
        let gate = Gate::new(Arc::new(self.store.clone()));
        gate.admit_send(sender, request, send).await.expect("it may write there")
    }

    /// Sends a text to a chat as Ann, when its turn has come.
    pub(crate) async fn says(&self, egress: &Egress, chat: &str, text: &str) -> SendResult {
        let ann = self.agents[0];
        let turn = egress.lanes().enter((ann, chat.to_owned()));
        let mut turn = turn.expect("the lanes are not full");
        let name = format!("{chat} {} {}", text.len(), &text[..text.len().min(9)]);
        let send = self.send(ann, &name, message(chat, text)).await;
        assert!(turn.wait_for_turn().await, "its turn comes");
        egress.deliver(&send, &turn).await.expect("memory does not fail")
    }

    /// Returns the calls to the platform.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.platform.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the times of the calls, in seconds.
    pub(crate) fn seconds(&self) -> Vec<u128> {
        self.calls().iter().map(|call| call.at / 1_000).collect()
    }
}

pub(crate) fn message(chat: &str, text: &str) -> Send {
    let op = Op::Send { content: text.to_owned(), reply_to: None };
    Send { chat_id: chat.to_owned(), op, metadata: serde_json::Map::new() }
}

/// Returns a text of so many parts.
pub(crate) fn long(parts: usize) -> String {
    (0..parts).map(|part| part.to_string().repeat(64)).collect::<Vec<_>>().join("\n")
}

fn can() -> PlatformCapabilities {
    PlatformCapabilities {
        label: "Played".to_owned(),
        emoji: "🔌",
        is_pii_safe: false,
        message_length_max: 64,
        length_unit: LengthUnit::Chars,
        markdown_dialect: "plain".to_owned(),
        hint: String::new(),
        ops: vec!["send", "typing"],
        threads: false,
        chat_pace: pace(1_000),
        bot_pace: pace(1_000),
    }
}
