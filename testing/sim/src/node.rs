//! Assembles a node of real stops, as the binary does, on a simulated machine.

mod requests;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_api::{ApiParts, Listener, Relays, TrustedProxies};
use nightdesk_bus::{Bell, LineRegistry};
use nightdesk_desk::posting::WebhookKey;
use nightdesk_desk::{
    Accounts, Adapters, AlertSenders, Alerting, Desk, Limits, LineBackend, RateSettings, Readiness,
    Shelf, Stops, posting, timekeeping,
};
use nightdesk_egress::Egress;
use nightdesk_gate::Gate;
use nightdesk_inbox::Inbox;
use nightdesk_judge::Event;
use nightdesk_lease::{Lease, Owners, Store as _};
use nightdesk_letters::{LetterParts, Letters, Outlets};
use nightdesk_line::{DialLimits, DrainOrder, LineContext, Metrics, PostedLines, TokenFailures};
use nightdesk_memory::media;
use nightdesk_office::{DeskQuestionKey, Office, OfficeParts, PlatformSetups};
use nightdesk_outside::Rules;
use nightdesk_port::Platform;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_register::{Issuer, Issuers, Register};
use nightdesk_schedule::{FireCaller, FireClaim, ScheduleClocks, Scheduler};
use nightdesk_types::limits::{LEASE_LASTS, WAKES_PER_HOUR, WEBHOOK_CALLS_MAX};
use nightdesk_types::{Clock, Node, TenantId, Timestamp};
use nightdesk_wake::{CallOutcome, WakeUrlCaller, Waker, WebhookCall};
use nightdesk_webchat::Webchat;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use turmoil::net::{TcpListener, TcpStream};

use crate::bus::SimBell;
use crate::cast::ADAPTER;
use crate::feed;
use crate::platform::{SimPlatform, chat_of};
use crate::store::SimStore;
use crate::time::{self, SimClock};
use crate::world::{Machine, PORT, World};
use requests::{NoCustody, NoExaminer, SimPeers, SimPoster};

/// Time that a node takes to start.
const BOOT: Duration = Duration::from_millis(300);

/// Delay before the next attempt to register the node.
const BEGIN_AGAIN: Duration = Duration::from_millis(500);

/// Public URL of the desk.
const URL: &str = "https://desk.sim";

/// The parts of a node.
struct Parts {
    store: Arc<SimStore>,
    clock: Arc<SimClock>,
    lease: Arc<Lease>,
    ears: Arc<LineRegistry>,
    bell: Arc<SimBell>,
    life: Life,
}

/// All running tasks, in the order in which they stop.
#[derive(Default)]
struct Life {
    drain: CancellationToken,
    street: TaskTracker,
    leave: CancellationToken,
    rooms: TaskTracker,
    work: TaskTracker,
    writers: TaskTracker,
}

/// Runs one process of a node, until it is stopped or its lease is lost.
pub async fn live(world: Arc<World>, name: String) -> turmoil::Result {
    sleep(BOOT).await;
    let machine = &world.machines[&name];
    let told_to_stop = machine.begin();
    let parts = Parts::begun(&world, &name).await;
    let (webhooks, calls) = mpsc::channel(WEBHOOK_CALLS_MAX);
    let desk = Arc::new(parts.desk(&world, &name, webhooks));
    let api = parts.api(&desk, &world);
    parts.open_posted_lines(&api, calls);
    let keeper = parts.run(&desk, api).await?;
    let stops = stop_turns(Arc::clone(&world), name.clone(), Arc::clone(&desk));
    parts.life.street.spawn(parts.life.drain.clone().run_until_cancelled_owned(stops));
    let reads = feed::read(Arc::clone(&world), name.clone(), Arc::clone(&desk), parts.owners());
    parts.life.street.spawn(parts.life.drain.clone().run_until_cancelled_owned(reads));
    tokio::select! {
        () = told_to_stop.cancelled() => parts.stop(&desk, keeper).await,
        // Other nodes already act for it, so the process ends at once and is restarted.
        () = parts.lease.wait_until_over() => {}
    }
    world.bus.forget(&name);
    Ok(())
}

impl Parts {
    async fn begun(world: &World, name: &str) -> Self {
        let store = Arc::new(SimStore::reached_from(name, &world.memory, &world.weather));
        let clock = Arc::new(world.machines[name].clock.clone());
        let lease = Arc::new(begin(&store, name, &clock).await);
        let ears = Arc::new(LineRegistry::for_node(name));
        let bell = Arc::new(SimBell::of(&world.bus, name, &ears));
        Self { store, clock, lease, ears, bell, life: Life::default() }
    }

    fn desk(&self, world: &World, name: &str, webhooks: mpsc::Sender<WebhookCall>) -> Desk {
        let store = &self.store;
        let register =
            Arc::new(Register::new(Arc::<SimStore>::clone(store), world.cast.vault.clone()));
        let issuer = Issuer::new(Arc::<SimStore>::clone(store), world.cast.vault.clone(), URL);
        let Machine { notes, .. } = &world.machines[name];
        let platform = SimPlatform::on(name, &world.scripted, &world.outside, notes);
        let adapters: Adapters =
            [(ADAPTER.to_owned(), Arc::new(platform) as Arc<dyn Platform>)].into();
        let media = media(Arc::<SimStore>::clone(store), URL);
        let accounts = Accounts::new(Arc::clone(&register), adapters, Arc::clone(&media));
        let accounts = Arc::new(accounts);
        let schedule = Arc::new(self.schedule(&register));
        Desk::new(Stops {
            register,
            issuers: Arc::new(Issuers::only_own(issuer)),
            gate: Arc::new(Gate::new(Arc::<SimStore>::clone(store))),
            limits: Arc::new(limits(world)),
            inbox: Arc::new(Inbox::start(Arc::<SimStore>::clone(store), &self.life.writers)),
            egress: Arc::new(Egress::new(
                Arc::<SimStore>::clone(store),
                Arc::<Accounts>::clone(&accounts),
                self.owners(),
                self.bell(),
                self.ears.settlements().clone(),
                self.life.work.clone(),
            )),
            accounts,
            media,
            bell: self.bell(),
            lines: Arc::clone(&self.ears),
            records: self.store(),
            wake: Arc::new(
                Waker::new(self.store(), Arc::new(Calls), None, WAKES_PER_HOUR)
                    .with_webhooks(webhooks),
            ),
            schedule,
            shelf: Shelf::new(Arc::<SimStore>::clone(store), Arc::<SimStore>::clone(store)),
            letters: Arc::new(Letters::start(
                LetterParts {
                    store: self.store(),
                    bell: self.bell(),
                    waits: self.ears.chat_watchers().clone(),
                    outlets: Outlets::default(),
                    clock: self.clock(),
                },
                &self.life.writers,
            )),
            tasks: self.life.work.clone(),
            public_url: URL.to_owned(),
            readiness: Readiness::new(self.clock()),
        })
    }

    fn schedule(&self, register: &Arc<Register>) -> Scheduler {
        let store = Arc::new(timekeeping::StoreClock(Arc::clone(register)));
        let clocks = ScheduleClocks { store, wall: self.clock() };
        let node = self.lease.node().clone();
        Scheduler::new(self.store(), Arc::new(Calls), clocks, node, &self.life.writers)
    }

    /// Starts all tasks. Returns the handle of the lease renewal.
    async fn run(&self, desk: &Arc<Desk>, api: ApiParts) -> io::Result<Keeping> {
        let Life { drain, street, leave, rooms, .. } = &self.life;
        let keeping = Keeping::default();
        keeping.task.spawn(keep(self.lease.clone(), self.store.clone(), keeping.stop.clone()));
        let bell = || SimBell::clone(&self.bell);
        rooms.spawn(bell().beat(leave.clone()));
        rooms.spawn(bell().follow(leave.clone()));
        let sweeps = || Arc::clone(&desk.sweeps);
        street.spawn(sweeps().run(self.store(), drain.clone()));
        rooms.spawn(sweeps().serve(leave.clone()));
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).await?;
        let routes = nightdesk_api::routes(api);
        let served = nightdesk_api::serve(Door(listener), routes, street.clone(), drain.clone());
        street.spawn(served);
        Ok(keeping)
    }

    /// Opens the lines of agents with a webhook whose wakes this node claims.
    fn open_posted_lines(&self, api: &ApiParts, calls: mpsc::Receiver<WebhookCall>) {
        let (line, posted) = (Arc::clone(&api.desk.line), Arc::clone(&api.posted));
        let drain = self.life.drain.clone();
        self.life.street.spawn(posting::open_lines(calls, line, posted, drain));
    }

    fn api(&self, desk: &Arc<Desk>, world: &Arc<World>) -> ApiParts {
        let store = || Arc::<SimStore>::clone(&self.store);
        let context = LineContext {
            desk: Arc::<LineBackend>::clone(&desk.line),
            inbox: Arc::clone(&desk.stops.inbox),
            store: store(),
            lines: Arc::clone(&self.ears),
            clock: self.clock(),
            node: self.lease.node().clone(),
            drain: self.life.drain.clone(),
            leaving: DrainOrder::default(),
            dials: DialLimits::default(),
            frames: RateSettings::default().frames(),
            failures: TokenFailures::default(),
            metrics: Metrics::default(),
        };
        let webchat = Webchat::new(store(), self.bell(), self.clock(), URL.to_owned());
        let context = Arc::new(context);
        let sender = Arc::new(SimPoster { world: Arc::clone(world) });
        let posted = PostedLines::new(Arc::clone(&context), sender, self.life.street.clone());
        ApiParts {
            desk: Arc::clone(desk),
            line_context: context,
            posted: Arc::new(posted),
            relays: Relays::default(),
            webchat: Arc::new(webchat),
            lines: self.life.street.clone(),
            proxies: TrustedProxies::default(),
            peers: Arc::new(SimPeers { store: self.store() }),
            // No simulated program is a user.
            office: Arc::new(Office::new(Arc::clone(desk), self.office_parts())),
            pages: nightdesk_api::Router::new(),
        }
    }

    fn office_parts(&self) -> OfficeParts {
        OfficeParts {
            store: Arc::new(self.store.memory()),
            custody: Arc::new(NoCustody),
            setups: PlatformSetups::default(),
            url_rules: Rules::default(),
            webhook_key: WebhookKey::new(&[0; 32]),
            examiner: Arc::new(NoExaminer),
            question_key: DeskQuestionKey::new(&[0; 32]),
            alerting: Arc::new(self.alerting()),
        }
    }

    /// Returns a flow of alerts that nothing runs.
    fn alerting(&self) -> Alerting {
        let (store, tasks) = (Arc::new(self.store.memory()), self.life.work.clone());
        Alerting::new(store, self.owners(), AlertSenders::new(), tasks)
    }

    fn owners(&self) -> Owners {
        Owners::new(Arc::clone(&self.lease), self.store())
    }

    fn store(&self) -> Arc<SimStore> {
        Arc::clone(&self.store)
    }

    fn bell(&self) -> Arc<dyn Bell> {
        Arc::<SimBell>::clone(&self.bell)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::<SimClock>::clone(&self.clock)
    }

    /// Stops as the binary does: the public side first, the lease last.
    async fn stop(&self, desk: &Desk, keeping: Keeping) {
        desk.stops.readiness.stop();
        let Life { drain, street, leave, rooms, work, .. } = &self.life;
        drain.cancel();
        street.close();
        street.wait().await;
        leave.cancel();
        rooms.close();
        rooms.wait().await;
        work.close();
        work.wait().await;
        keeping.stop.cancel();
        keeping.task.close();
        keeping.task.wait().await;
    }
}

/// The task that renews the lease, which is a thread in the binary.
#[derive(Default)]
struct Keeping {
    stop: CancellationToken,
    task: TaskTracker,
}

async fn keep(lease: Arc<Lease>, store: Arc<SimStore>, stop: CancellationToken) {
    nightdesk_lease::keep_lease(&lease, &*store, &stop).await;
}

/// Registers the node as soon as the store can be reached.
async fn begin(store: &SimStore, name: &str, clock: &SimClock) -> Lease {
    loop {
        let asked_at = clock.moment();
        if let Ok(epoch) = store.begin(name, LEASE_LASTS).await {
            let node = Node { name: name.to_owned(), epoch };
            return Lease::new(node, Box::new(clock.clone()), asked_at);
        }
        sleep(BEGIN_AGAIN).await;
    }
}

/// Executes the planned stops of turns on this node.
async fn stop_turns(world: Arc<World>, name: String, desk: Arc<Desk>) {
    let mut stops: Vec<_> = world.plan.stops.iter().filter(|stop| stop.node == name).collect();
    stops.sort_by_key(|stop| stop.at);
    for (number, planned) in stops.into_iter().enumerate() {
        let Some(wait) = planned.at.checked_sub(time::elapsed()) else { continue };
        sleep(wait).await;
        let agent = &world.cast.agents[planned.agent];
        let Some(session) = SessionKey::new(format!("session-of-{}", agent.name)) else { continue };
        let chat = chat_of(&agent.author);
        world.machines[&name].notes.note(Event::StopReq {
            id: format!("{name}-{number}"),
            chat: chat.clone(),
            agent: Some(agent.name.clone()),
        });
        desk.line.stop_turn(agent.id, &session, &chat).await;
    }
}

/// Returns the limits of production, shared by the planned nodes.
fn limits(world: &World) -> Limits {
    let limits = Limits::new(RateSettings::default());
    limits.set_node_count(u32::try_from(world.plan.nodes.len()).unwrap_or(u32::MAX));
    limits
}

/// A wake client that calls no agent: each gateway comes back by itself.
struct Calls;

#[async_trait]
impl WakeUrlCaller for Calls {
    async fn call(&self, _tenant: TenantId, _url: &str) -> CallOutcome {
        CallOutcome::Failed("nobody is called in a simulation".to_owned())
    }

    fn may_call(&self, url: &str) -> Result<String, String> {
        Ok(url.to_owned())
    }
}

#[async_trait]
impl FireCaller for Calls {
    async fn call(
        &self,
        _fire: &FireClaim,
        _callback: &str,
        _now: Timestamp,
    ) -> nightdesk_schedule::FireOutcome {
        nightdesk_schedule::FireOutcome::Again("nobody is called in a simulation".to_owned(), None)
    }

    fn may_call(&self, callback: &str) -> Result<String, String> {
        Ok(callback.to_owned())
    }
}

/// The listener of the public side on the simulated network.
struct Door(TcpListener);

impl Listener for Door {
    type Stream = TcpStream;

    async fn next(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.0.accept().await
    }
}
