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
use nightdesk_dashboard::DashboardParts;
use nightdesk_desk::{
    Accounts, Adapters, Alerting, Desk, Limits, LineBackend, RateSettings, Readiness, Shelf, Stops,
    timekeeping,
};
use nightdesk_egress::Egress;
use nightdesk_gate::Gate;
use nightdesk_inbox::{Inbox, InboxAdmin};
use nightdesk_lease::{Lease, Owners, Store as _};
use nightdesk_letters::{LetterParts, Letters, Outlets};
use nightdesk_line::{DialLimits, DrainOrder, LineContext, Metrics, TokenFailures};
use nightdesk_office::Office;
use nightdesk_port::Platform;
use nightdesk_register::{Issuer, Issuers, Register};
use nightdesk_schedule::{HmacProof, RelaySecrets, ScheduleClocks, Scheduler};
use nightdesk_types::limits::{WAKES_PER_HOUR, WEBHOOK_CALLS_MAX};
use nightdesk_types::{Moment, Node, NodeEpoch, Seq, SystemClock};
use nightdesk_users::oidc::{LoginKey, Logins};
use nightdesk_vault::Vault;
use nightdesk_wake::{Waker, WebhookCall};
use nightdesk_webchat::Webchat;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use nightdesk_memory::Memory;
use nightdesk_memory::media;
use nightdesk_testkit::FakeClock;
use nightdesk_testkit::scripted::Scripted;

mod alerts;
mod browser;
mod call;
mod calls;
mod chats;
mod fires;
mod gateway;
mod household;
mod lines;
mod office;
mod platform;
mod posts;

pub use alerts::TestAlerts;
pub use browser::{Browser, Stream};
pub use call::{Answered, get, post, request};
pub use calls::TestCalls;
pub use fires::{CALLBACK, TestFires};
pub use gateway::{Heard, TestGateway, upgrade_token_at};
pub use household::{Household, PageAccess};
pub use office::{ACCOUNT_TOKEN, TestCustody, question_key};
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
    /// The operations on keys and on the database.
    pub custody: Arc<TestCustody>,
    /// Looks for the causes of alerts when a test has it sweep.
    pub alerting: Arc<Alerting>,
    /// The posts and mails about alerts.
    pub alerts: Arc<TestAlerts>,
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
        let custody = Arc::<TestCustody>::default();
        let (alerts, alerting) = alerts::open(&store, &desk);
        let office = office::open(&desk, &store, &custody, &alerting);
        let routes = nightdesk_api::routes(ApiParts {
            desk: Arc::clone(&desk),
            line_context: Arc::clone(&room),
            relays: relays(),
            lines: street.clone(),
            proxies: TrustedProxies::default(),
            posted,
            peers: Arc::new(NoPeerNodes),
            pages: pages(&office, &room, webchat.public_url()),
            webchat,
            office,
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
            custody,
            alerting,
            alerts,
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

/// Returns the pages of operators and tenants.
fn pages(office: &Arc<Office>, room: &Arc<LineContext>, url: &str) -> nightdesk_api::Router {
    nightdesk_dashboard::routes(DashboardParts {
        office: Arc::clone(office),
        logins: Arc::new(Logins::new(LoginKey::new(&[0; 32]), Vec::new())),
        line_context: Arc::clone(room),
        public_url: url.to_owned(),
    })
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
