//! Runs the whole desk in one process, on memory, behind a real socket: [`TestDesk`].
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot set up should stop"
)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use nightdesk_api::{ApiParts, NoPeerNodes, Relays, TrustedProxies};
use nightdesk_bus::LineRegistry;
use nightdesk_desk::{
    Accounts, Adapters, Desk, Limits, LineBackend, RateSettings, Readiness, Shelf, Stops,
    timekeeping,
};
use nightdesk_egress::Egress;
use nightdesk_gate::Gate;
use nightdesk_inbox::{Inbox, InboxAdmin};
use nightdesk_lease::{Lease, Owners, Store as _};
use nightdesk_letters::{LetterParts, Letters, Outlets};
use nightdesk_line::{DialLimits, DrainOrder, LineContext, Metrics, TokenFailures};
use nightdesk_port::Platform;
use nightdesk_register::{AgentOnBot, BotDraft, Issuer, Issuers, Register};
use nightdesk_schedule::{HmacProof, RelaySecrets, ScheduleClocks, Scheduler};
use nightdesk_types::limits::{WAKES_PER_HOUR, WEBHOOK_CALLS_MAX};
use nightdesk_types::{
    AgentId, BotId, GatewayId, GrantTarget, Moment, Node, NodeEpoch, Principal, Seq, SystemClock,
    TenantScope,
};
use nightdesk_vault::{Key, Vault};
use nightdesk_wake::{Waker, WebhookCall};
use nightdesk_webchat::Webchat;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use nightdesk_memory::Memory;
use nightdesk_memory::media;
use nightdesk_testkit::FakeClock;
use nightdesk_testkit::scripted::Scripted;

mod browser;
mod call;
mod calls;
mod chats;
mod fires;
mod gateway;
mod lines;
mod platform;
mod posts;

pub use browser::{Browser, Stream};
pub use call::{Answered, get, post};
pub use calls::TestCalls;
pub use fires::{CALLBACK, TestFires};
pub use gateway::{Heard, TestGateway, upgrade_token_at};
pub use platform::TestPlatform;
pub use posts::TestPosts;

/// The public URL of a test desk.
pub const ISSUER: &str = "https://desk.test";

use chats::Chats;
use lines::Lines;

/// The one node of a test desk.
const NODE: &str = "test";

/// Duration of its lease in the store, for any test time.
const LIFE: Duration = Duration::from_hours(24 * 365 * 10);

/// The moment until which the node assumes its lease.
const LONG: Moment = Moment::after_start(LIFE);

/// The signing secret of another scheduler for a test desk.
pub const RELAY_SECRET: &str = "what a scheduler signs with in tests";

/// The signing key of every bot of a test desk.
const BOT_KEY: &str = "the key of a test bot";

/// The whole desk, on memory.
pub struct TestDesk {
    /// The store.
    pub store: Memory,
    /// The register.
    pub register: Arc<Register>,
    /// The listeners of its lines.
    pub ears: Arc<LineRegistry>,
    /// The desk itself.
    pub desk: Arc<Desk>,
    /// The wake calls, and their answers.
    pub calls: Arc<TestCalls>,
    /// The fire calls, and their answers.
    pub fires: Arc<TestFires>,
    /// The posts to agents, and their answers.
    pub posts: Arc<TestPosts>,
    lines: Arc<Lines>,
    chats: Arc<Chats>,
    address: SocketAddr,
    work: TaskTracker,
    street: TaskTracker,
    drain: CancellationToken,
    room: Arc<LineContext>,
}

impl std::fmt::Debug for TestDesk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TestDesk({})", self.address)
    }
}

/// An agent in its own tenant, with a bot, an author bound to it, and a gateway.
#[derive(Clone, Debug)]
pub struct Household {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The bot.
    pub bot: BotId,
    /// The path of the bot's webhook.
    pub path: String,
    /// The gateway.
    pub gateway: GatewayId,
    /// Name of the gateway.
    pub name: String,
    /// Its secret.
    pub secret: Key,
}

/// Visitors that may write on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageAccess {
    /// Any visitor with its address.
    Anyone,
    /// Visitors bound to the agent.
    Linked,
}

impl TestDesk {
    /// Opens a desk on a free port.
    pub async fn open() -> Self {
        Self::open_with(Adapters::new()).await
    }

    /// Opens a desk with additional platforms.
    pub async fn open_with(platforms: Adapters) -> Self {
        Self::open_limited(platforms, RateSettings::default()).await
    }

    /// Opens a desk with additional platforms and other rate limits than those of production.
    pub async fn open_limited(platforms: Adapters, rates: RateSettings) -> Self {
        let store = Memory::new(FakeClock::default());
        let key = Vault::new_key_file();
        let vault = || Vault::from_key_file(&key).expect("a new key file is good");
        store.begin(NODE, LIFE).await.expect("memory does not fail");
        let register = Arc::new(Register::new(Arc::new(store.clone()), vault()));
        let own = Issuer::new(Arc::new(store.clone()), vault(), ISSUER);
        let issuers = Arc::new(Issuers::only_own(own));
        let [writers, street, work] = [(); 3].map(|()| TaskTracker::new());
        let ears = Arc::new(LineRegistry::default());
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let chats = Arc::new(Chats { store: store.clone(), down: AtomicBool::default() });
        let (bell, clock) = (Arc::<LineRegistry>::clone(&ears), Arc::new(store.clock().clone()));
        let url = format!("http://{address}");
        let webchat = Arc::new(Webchat::new(Arc::<Chats>::clone(&chats), bell, clock, url));
        let (calls, fires) = (Arc::<TestCalls>::default(), Arc::<TestFires>::default());
        let (webhooks, webhook_calls) = mpsc::channel(WEBHOOK_CALLS_MAX);
        let rooms = Rooms {
            webhooks,
            store: &store,
            register: &register,
            ears: &ears,
            calls: &calls,
            fires: &fires,
            url: webchat.public_url(),
            rates,
        };
        let desk = Arc::new(rooms.desk(issuers, adapters(&webchat, platforms), &writers, &work));
        let lines = Arc::new(Lines { store: store.clone(), down: AtomicBool::new(false) });
        let drain = CancellationToken::new();
        let room = Arc::new(rooms.line_context(&desk, &lines, drain.clone()));
        let posts = Arc::<TestPosts>::default();
        let posted = posts.open_lines(&room, &desk, webhook_calls, &street);
        let routes = nightdesk_api::routes(ApiParts {
            desk: Arc::clone(&desk),
            line_context: Arc::clone(&room),
            relays: relays(),
            webchat,
            lines: street.clone(),
            proxies: TrustedProxies::default(),
            posted,
            peers: Arc::new(NoPeerNodes),
        });
        street.spawn(nightdesk_api::serve(listener, routes, street.clone(), drain.clone()));
        Self {
            store,
            register,
            ears,
            desk,
            calls,
            fires,
            posts,
            lines,
            chats,
            address,
            work,
            street,
            drain,
            room,
        }
    }

    /// Begins to poll platforms that do not post by themselves.
    pub fn listen(&self) {
        let listening = Arc::clone(&self.desk.listening);
        self.street.spawn(listening.run(self.street.clone(), self.drain.clone()));
    }

    /// Returns the address on which it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until no background work is left.
    pub async fn settled(&self) {
        while !self.work.is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Returns the last number of a household's inbox.
    pub async fn head_of(&self, household: &Household) -> Seq {
        let heads =
            self.desk.stops.inbox.store().read_heads(&[(household.scope, household.agent)]).await;
        heads.expect("read the heads")[0]
    }

    /// Returns the entries of a household's inbox, oldest first, in the wire format.
    pub async fn entries_of(&self, household: &Household) -> Vec<Value> {
        let Household { scope, agent, .. } = *household;
        let mut entries = Vec::new();
        for seq in 1..=self.head_of(household).await.get() {
            let shown = self.store.show_entry(scope, agent, Seq::new(seq)).await;
            let shown = shown.expect("look into an inbox").expect("an entry");
            entries.push(serde_json::from_slice(&shown.body).expect("an entry is JSON"));
        }
        entries
    }

    /// Returns the number up to which a household's agent has acked.
    pub async fn acked(&self, household: &Household) -> i64 {
        let Household { scope, agent, .. } = household;
        let overview = self.store.overview(*scope, *agent, Seq::default()).await;
        overview.expect("look into an inbox").expect("an inbox").acked.get()
    }

    /// Stops the node, and waits until its lines, pages and connections are gone. Returns the duration.
    pub async fn stop(&self) -> Duration {
        let began = Instant::now();
        self.drain.cancel();
        self.street.close();
        self.street.wait().await;
        began.elapsed()
    }

    /// Creates a household whose author and bot have its name. Its bot reaches no platform.
    pub async fn household(&self, name: &str, gateway: &str) -> Household {
        let settings = json!({ "deliver_url": "http://127.0.0.1:9/nobody" });
        self.household_with(name, gateway, settings).await
    }

    /// Creates a household whose bot has these settings.
    pub async fn household_with(&self, name: &str, gateway: &str, settings: Value) -> Household {
        let tenant = self.register.create_tenant(name).await.expect("enter a tenant");
        let scope = TenantScope::for_tenant(tenant);
        let agent = self.register.store().create_agent(scope, name).await.expect("enter an agent");
        let draft = BotDraft {
            platform: "discord".to_owned(),
            adapter: "scripted".to_owned(),
            handle: format!("bot-{name}"),
            settings,
            key: Some(Key::new(BOT_KEY.to_owned())),
        };
        let (bot, path) = self.register.create_bot(scope, draft).await.expect("enter a bot");
        self.register
            .store()
            .bind(AgentOnBot { scope, agent, bot }, name)
            .await
            .expect("bind the author");
        let (id, secret) =
            self.register.create_gateway(scope, agent, gateway).await.expect("enter a gateway");
        let name = gateway.to_owned();
        Household { scope, agent, bot, path, gateway: id, name, secret }
    }

    /// Creates another bot of a household, with a bound author. Returns the path of its webhook.
    pub async fn bot(&self, household: &Household, bot: BotDraft, author: &str) -> (BotId, String) {
        let Household { scope, agent, .. } = *household;
        let (bot, path) = self.register.create_bot(scope, bot).await.expect("enter a bot");
        let bound = self.register.store().bind(AgentOnBot { scope, agent, bot }, author).await;
        bound.expect("bind the author");
        (bot, path)
    }

    /// Grants a chat of a bot to an agent, for any author.
    pub async fn grant(&self, scope: TenantScope, agent: AgentId, bot: BotId, chat: &str) {
        let (on, granted) = (AgentOnBot { scope, agent, bot }, GrantTarget::for_chat(None, chat));
        let granted = self.register.store().grant(on, &granted, Some(Principal::Any)).await;
        granted.expect("grant a chat");
    }

    /// Posts a message of that author to a household's bot. Returns the status.
    pub async fn says(&self, household: &Household, author: &str, key: &str) -> u16 {
        self.says_in("c1", household, author, key).await
    }

    /// Posts a message in a chat.
    pub async fn says_in(&self, chat: &str, household: &Household, author: &str, key: &str) -> u16 {
        self.said(household, key, &json!({ "chat_id": chat, "user_id": author })).await
    }

    /// Posts a message in a chat with other readers.
    pub async fn says_in_room(&self, chat: &str, to: &Household, author: &str, key: &str) -> u16 {
        let source = json!({
            "chat_id": chat, "user_id": author, "scope_id": "guild", "chat_type": "channel"
        });
        self.said(to, key, &source).await
    }

    async fn said(&self, household: &Household, key: &str, source: &Value) -> u16 {
        let event = json!({ "id": key, "event": { "text": key, "source": source } });
        self.hook(household, &event).await
    }

    /// Posts an event as the platform of a household's bot. Returns the HTTP status.
    pub async fn hook(&self, household: &Household, event: &Value) -> u16 {
        let body = event.to_string();
        let signature = nightdesk_testkit::scripted::sign(BOT_KEY, body.as_bytes());
        let headers = [(nightdesk_testkit::scripted::SIGNATURE_HEADER, signature.as_str())];
        let path = format!("/hooks/{}", household.path);
        post(self.address, &path, &headers, body.as_bytes()).await.status
    }

    /// Creates a bot with a page, which leads to a household's agent. Returns the page's path.
    pub async fn page(&self, household: &Household, access: PageAccess) -> (BotId, String) {
        let draft = BotDraft {
            platform: nightdesk_webchat::NAME.to_owned(),
            adapter: nightdesk_webchat::NAME.to_owned(),
            handle: format!("page-{}", household.name),
            settings: json!({ "title": "Owl", "greeting": "Hello there" }),
            key: Some(Key::new(BOT_KEY.to_owned())),
        };
        let (bot, path) =
            self.register.create_bot(household.scope, draft).await.expect("enter a bot");
        if access == PageAccess::Anyone {
            self.grant(household.scope, household.agent, bot, "*").await;
        }
        (bot, path)
    }

    /// Dials in with a household's secret, and greets as a client that needs no time to boot.
    pub async fn dial(&self, household: &Household) -> TestGateway {
        TestGateway::dial(self.address, &household.name, &household.secret)
            .await
            .expect("a valid token is let in")
    }
}

impl Drop for TestDesk {
    fn drop(&mut self) {
        self.drain.cancel();
    }
}

/// Parts of a desk.
struct Rooms<'a> {
    store: &'a Memory,
    register: &'a Arc<Register>,
    ears: &'a Arc<LineRegistry>,
    calls: &'a Arc<TestCalls>,
    fires: &'a Arc<TestFires>,
    webhooks: mpsc::Sender<WebhookCall>,
    url: &'a str,
    rates: RateSettings,
}

fn relays() -> Relays {
    let secrets = RelaySecrets::parse(RELAY_SECRET).expect("a good secret");
    Relays::new(vec![Arc::new(HmacProof(secrets))])
}

fn node() -> Node {
    Node { name: NODE.to_owned(), epoch: NodeEpoch::new(1) }
}

/// Returns the platforms of every test desk and the additional ones.
fn adapters(webchat: &Arc<Webchat>, platforms: Adapters) -> Adapters {
    let scripted = Scripted::new().expect("the scripted platform opens its client");
    let ours = [
        ("scripted".to_owned(), Arc::new(scripted) as Arc<dyn Platform>),
        (nightdesk_webchat::NAME.to_owned(), Arc::<Webchat>::clone(webchat)),
    ];
    ours.into_iter().chain(platforms).collect()
}

impl Rooms<'_> {
    /// Returns the scheduler. Its own clock is an hour ahead, because nothing may depend on it.
    fn schedule(&self, writers: &TaskTracker) -> Scheduler {
        let wall = FakeClock::default();
        wall.let_pass(Duration::from_hours(1));
        let clocks = ScheduleClocks {
            store: Arc::new(timekeeping::StoreClock(Arc::clone(self.register))),
            wall: Arc::new(wall),
        };
        let fires = Arc::<TestFires>::clone(self.fires);
        Scheduler::new(Arc::new(self.store.clone()), fires, clocks, node(), writers)
    }

    fn line_context(
        &self,
        desk: &Desk,
        lines: &Arc<Lines>,
        drain: CancellationToken,
    ) -> LineContext {
        LineContext {
            desk: Arc::<LineBackend>::clone(&desk.line),
            inbox: Arc::clone(&desk.stops.inbox),
            store: Arc::<Lines>::clone(lines),
            lines: Arc::clone(self.ears),
            clock: Arc::new(SystemClock::start()),
            node: node(),
            drain,
            dials: DialLimits::default(),
            frames: self.rates.frames(),
            failures: TokenFailures::default(),
            leaving: DrainOrder::default(),
            metrics: Metrics::default(),
        }
    }

    fn desk(
        &self,
        issuers: Arc<Issuers>,
        adapters: Adapters,
        writers: &TaskTracker,
        work: &TaskTracker,
    ) -> Desk {
        let schedule = Arc::new(self.schedule(writers));
        let Rooms { store, register, ears, calls, .. } = self;
        let store = || Arc::new((*store).clone());
        let media = media(store(), self.url);
        let accounts = Arc::new(Accounts::new(Arc::clone(register), adapters, Arc::clone(&media)));
        let lease = Lease::new(node(), Box::new(SystemClock::start()), LONG);
        let owners = Owners::new(Arc::new(lease), store());
        let wake = Waker::new(store(), Arc::<TestCalls>::clone(calls), None, WAKES_PER_HOUR)
            .with_webhooks(self.webhooks.clone());
        let letters = LetterParts {
            store: store(),
            bell: Arc::<LineRegistry>::clone(ears),
            waits: ears.chat_watchers().clone(),
            outlets: Outlets::default(),
            clock: Arc::new(self.store.clock().clone()),
        };
        Desk::new(Stops {
            register: Arc::clone(register),
            issuers,
            gate: Arc::new(Gate::new(store())),
            limits: Arc::new(Limits::new(self.rates)),
            inbox: Arc::new(Inbox::start(store(), writers)),
            egress: Arc::new(Egress::new(
                store(),
                Arc::<Accounts>::clone(&accounts),
                owners,
                Arc::<LineRegistry>::clone(ears),
                ears.settlements().clone(),
                work.clone(),
            )),
            accounts,
            media,
            bell: Arc::<LineRegistry>::clone(ears),
            lines: Arc::clone(ears),
            records: store(),
            wake: Arc::new(wake),
            schedule,
            shelf: Shelf::new(store(), store()),
            letters: Arc::new(Letters::start(letters, writers)),
            tasks: work.clone(),
            public_url: self.url.to_owned(),
            readiness: Readiness::new(Arc::new(SystemClock::start())),
        })
    }
}
