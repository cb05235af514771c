//! Wiring: the stops, put together.

pub(crate) mod ways;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, bail};
use nightdesk_api::{AmbientAgent, Street};
use nightdesk_bus::Ears;
use nightdesk_bus_redis::RedisBell;
use nightdesk_desk::line::Counter;
use nightdesk_desk::{
    Accounts, Adapters, Courier, Desk, Hearing, Limits, Overheard, Presses, Readiness, Record,
    Refusals, Ringer, Sessions, Shelf, Waking, Ways, listening, sweep, timekeeping,
};
use nightdesk_egress::Egress;
use nightdesk_gate::Gate;
use nightdesk_inbox::Inbox;
use nightdesk_lease::{Keeper, Lease, Owners};
use nightdesk_line::{Dials, Failures, Leaving, Metrics, Room};
use nightdesk_media::Media;
use nightdesk_outside::Outside;
use nightdesk_port::Platform;
use nightdesk_register::{Issuers, Register};
use nightdesk_schedule::{Callbacks, Clocks, Schedule};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::{
    CAPABILITY_PURGE_EVERY, DATABASE_START_PAUSE, DATABASE_START_WAIT, LEASE_LASTS,
    NODES_COUNTED_EVERY, UPKEEP_EVERY,
};
use nightdesk_types::pace::Rate;
use nightdesk_types::{Clock, Node, StoreError, SystemClock};
use nightdesk_vault::{Locksmith, Vault};
use nightdesk_wake::Wake;
use nightdesk_webchat::Webchat;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::anchor::Anchoring;
use crate::bell::Ringing;
use crate::command::names::Whose;
use crate::config::{Config, read_again};
use crate::failures;
use crate::issuers::issuers;
use crate::lifecycle::{self, Lifecycle};
use crate::telemetry;

/// Runs a node until it is told to stop.
pub(crate) async fn serve(config: &Config) -> anyhow::Result<()> {
    let vault = config.vault().await?;
    let running = Running::start(config, vault.clone()).await?;
    tokio::select! {
        signalled = lifecycle::signalled() => signalled?,
        told = rekeyed(config, &vault) => told?,
        // Others act for it already, and what it would write is refused: it is gone at once.
        () = running.lease.is_over() => bail!(
            "another node took node {0} for dead, or a second one of that name was started; \
             start it again, and give every node a node.name of its own",
            config.node.name
        ),
    }
    running.stop().await;
    Ok(())
}

/// Reads the vault's keys again whenever it is told to. What cannot be read changes nothing.
async fn rekeyed(config: &Config, vault: &Vault) -> anyhow::Result<()> {
    let mut hangups = lifecycle::hangups()?;
    while hangups.recv().await.is_some() {
        match read_again(config, vault).await {
            Ok(()) => tell_keys(vault),
            Err(error) => tell_bad_keys(&error),
        }
    }
    Ok(())
}

fn tell_keys(vault: &Vault) {
    tracing::info!("vault keys read again; {} seals", vault.sealing());
}

fn tell_bad_keys(error: &anyhow::Error) {
    tracing::error!("vault keys stay as they are: {error:#}");
}

/// A node that takes messages.
pub(crate) struct Running {
    pg: Arc<Pg>,
    desk: Arc<Desk>,
    life: Lifecycle,
    lease: Arc<Lease>,
    keeper: Keeper,
    ringing: Ringing,
}

impl Running {
    /// Starts a node. When it answers, the node can be reached.
    pub(crate) async fn start(config: &Config, vault: Vault) -> anyhow::Result<Self> {
        let pg = Arc::new(connect(config)?);
        let locksmith = locksmith(&pg, vault.clone());
        let Beginning { lease, secret } =
            while_unavailable(|| Beginning::new(config, &pg, &locksmith)).await?;
        let lease = Arc::new(lease);
        let keeper = keep(config, &lease)?;
        let (life, ringing) = (Lifecycle::default(), Ringing::start(config, &secret)?);
        let webchat = Arc::new(webchat(config, &pg, &ringing));
        let register = Arc::new(Register::over(Arc::<Pg>::clone(&pg), vault.clone()));
        let outside = outside(config)?;
        let issuers = issuers(config, (&pg, vault), outside.clone(), &life.work)?;
        let who = (register, Arc::new(issuers));
        let ways = ways::open(config, &who.0, &outside).await?;
        let schedule = Arc::new(schedule(&pg, outside.clone(), &who, &lease));
        let wake = Arc::new(wake(config, &pg, outside)?);
        let stores = (&pg, (wake, schedule, ways), limits(config, &ringing));
        let adapters = adapters(config, &pg, &webchat)?;
        let street = (&ringing, adapters, media(config, &pg)?);
        let desk = Arc::new(desk(stores, who, &lease, street, &life));
        life.street.spawn(count_nodes(Arc::clone(&desk), Arc::clone(&pg), life.drain.clone()));
        let room = Arc::new(room(
            (&pg, &desk),
            &ringing.ears,
            lease.node().clone(),
            config.limits.frames(),
            &life,
        ));
        life.street.spawn(sweep::run(
            Arc::clone(&desk),
            Arc::clone(&ringing.ears),
            Arc::<Pg>::clone(&pg),
            life.drain.clone(),
        ));
        let ears = life.ears.clone();
        life.ears.spawn(listening::run(Arc::clone(&desk), ears, life.hang_up.clone()));
        life.rooms.spawn(sweep::serve(
            Arc::clone(&desk),
            Arc::clone(&ringing.ears),
            life.leave.clone(),
        ));
        let failing = failures::tell(Arc::clone(&room), Arc::<Pg>::clone(&pg), life.drain.clone());
        life.street.spawn(failing);
        life.street.spawn(forget_chats(Arc::<Pg>::clone(&pg), life.drain.clone()));
        anchor(config, &pg, &lease, &life);
        life.street.spawn(forget_ended(Arc::<Pg>::clone(&pg), life.drain.clone()));
        let relays = config.schedule.relays(&config.public_url())?;
        let (lines, desk_of) = (life.street.clone(), Arc::clone(&desk));
        let street = Street { desk: desk_of, room, relays, webchat, lines };
        open(config, street, &ringing, &life).await?;
        Ok(Self { pg, desk, life, lease, keeper, ringing })
    }

    /// Who is who there.
    pub(crate) fn register(&self) -> &Register {
        &self.desk.register
    }

    /// Brings what was begun to its end.
    pub(crate) async fn stop(self) {
        self.desk.readiness.stop();
        self.life.stop().await;
        self.ringing.stop().await;
        self.keeper.stop().await;
        self.pg.close().await;
    }
}

/// The part of a start that needs the database. It may be repeated: each time it begins a new life of the node.
struct Beginning {
    lease: Lease,
    secret: Zeroizing<[u8; 32]>,
}

impl Beginning {
    async fn new(config: &Config, pg: &Pg, locksmith: &Locksmith) -> anyhow::Result<Self> {
        has_its_tables(pg).await?;
        locksmith.check().await?;
        pg.open_days().await.context("could not open the days ahead")?;
        Ok(Self { lease: begin(config, pg).await?, secret: bus_secret(locksmith).await? })
    }
}

/// Repeats a step of the start while the database cannot be reached or is too busy, as it is when the machine starts both
/// at once.
async fn while_unavailable<T, F: Future<Output = anyhow::Result<T>>>(
    step: impl Fn() -> F,
) -> anyhow::Result<T> {
    let give_up_at = Instant::now() + DATABASE_START_WAIT;
    loop {
        match step().await {
            Err(error) if is_unavailable(&error) && Instant::now() < give_up_at => {
                tracing::warn!("the database is not available yet; trying again: {error:#}");
                sleep(DATABASE_START_PAUSE).await;
            }
            done => return done,
        }
    }
}

fn is_unavailable(error: &anyhow::Error) -> bool {
    let mut stores = error.chain().filter_map(|cause| cause.downcast_ref::<StoreError>());
    stores.any(|store| store.retryable)
}

/// Opens the street side, and the numbers where they are asked for.
async fn open(
    config: &Config,
    street: Street,
    ringing: &Ringing,
    life: &Lifecycle,
) -> anyhow::Result<()> {
    if let Some(address) = config.metrics.address {
        let bell = ringing.between.as_ref().map(|bell| bell.metrics());
        let registry = Arc::new(telemetry::metrics(&street.desk, &street.room, bell));
        listen(address, nightdesk_api::metrics_routes(registry), life).await?;
    }
    open_ambient(config, &street, life).await?;
    let (address, url) = (config.listen.address, config.public_url());
    listen(address, nightdesk_api::routes(street), life).await?;
    let node = &config.node.name;
    tracing::info!(%address, url, node, "desk {node} listens on {address}");
    Ok(())
}

/// Opens the ambient token endpoints that the operator named.
async fn open_ambient(config: &Config, street: &Street, life: &Lifecycle) -> anyhow::Result<()> {
    for ambient in &config.issuer.ambient {
        let whose = Whose { tenant: ambient.tenant.clone(), agent: ambient.agent.clone() };
        let (scope, agent) = whose.found(&street.desk.register).await?;
        let (desk, clock) = (Arc::clone(&street.desk), Arc::clone(&street.room.clock));
        let routes = nightdesk_api::ambient_routes(AmbientAgent { desk, clock, scope, agent });
        listen(ambient.address, routes, life).await?;
        let address = ambient.address;
        tracing::info!(%address, agent = ambient.agent, "every program that reaches {address} gets a token of this agent");
    }
    Ok(())
}

async fn listen(
    address: SocketAddr,
    routes: nightdesk_api::Router,
    life: &Lifecycle,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("could not listen on {address}; is another desk running there?")
    })?;
    let (street, drain) = (life.street.clone(), life.drain.clone());
    life.street.spawn(nightdesk_api::serve(listener, routes, street, drain));
    Ok(())
}

fn room(
    (pg, desk): (&Arc<Pg>, &Arc<Desk>),
    ears: &Arc<Ears>,
    node: Node,
    frames: Rate,
    life: &Lifecycle,
) -> Room {
    Room {
        desk: Arc::new(Counter(Arc::clone(desk))),
        inbox: Arc::clone(&desk.inbox),
        store: Arc::<Pg>::clone(pg),
        ears: Arc::clone(ears),
        clock: Arc::new(SystemClock::started()),
        node,
        drain: life.drain.clone(),
        leaving: Leaving::default(),
        dials: Dials::default(),
        frames,
        failures: Failures::default(),
        metrics: Metrics::default(),
    }
}

/// What tells agents: calls, fires, and letters.
type Stops = (Arc<Wake>, Arc<Schedule>, Ways);

fn desk(
    (pg, (wake, schedule, ways), limits): (&Arc<Pg>, Stops, Limits),
    (register, issuers): (Arc<Register>, Arc<Issuers>),
    lease: &Arc<Lease>,
    (ringing, adapters, media): (&Ringing, Adapters, Arc<Media>),
    life: &Lifecycle,
) -> Desk {
    let accounts = Accounts::new(Arc::clone(&register), adapters, Arc::clone(&media));
    let accounts = Arc::new(accounts);
    let owners = Owners::new(Arc::clone(lease), Arc::<Pg>::clone(pg));
    Desk {
        register,
        issuers,
        gate: Gate::over(Arc::<Pg>::clone(pg)),
        refusals: Refusals::default(),
        limits,
        inbox: Arc::new(Inbox::start(Arc::<Pg>::clone(pg), &life.writers)),
        egress: Arc::new(Egress::new(
            Arc::<Pg>::clone(pg),
            Arc::<Accounts>::clone(&accounts),
            owners,
            (ringing.bell(), ringing.ears.settled().clone()),
            life.work.clone(),
        )),
        accounts,
        media,
        bell: Ringer(ringing.bell()),
        records: Record(Arc::<Pg>::clone(pg)),
        wake,
        waking: Waking::default(),
        schedule,
        shelf: Shelf::over(Arc::<Pg>::clone(pg), Arc::<Pg>::clone(pg)),
        courier: Courier::start(
            Arc::<Pg>::clone(pg),
            ringing.ears.chats().clone(),
            ways,
            &life.writers,
        ),
        hearing: Hearing::default(),
        presses: Presses::default(),
        overheard: Overheard::default(),
        tasks: life.work.clone(),
        readiness: Readiness::new(Arc::new(SystemClock::started())),
    }
}

/// Begins this node's life.
async fn begin(config: &Config, pg: &Pg) -> anyhow::Result<Lease> {
    let clock = SystemClock::started();
    let (asked_at, name) = (clock.moment(), config.node.name.clone());
    let epoch = nightdesk_lease::Store::begin(pg, &name, LEASE_LASTS).await;
    let epoch = epoch.context("could not begin this node's life")?;
    Ok(Lease::begun(Node { name, epoch }, Box::new(clock), asked_at))
}

/// Keeps it, over a connection of its own.
fn keep(config: &Config, lease: &Arc<Lease>) -> anyhow::Result<Keeper> {
    let (url, password) = (config.database.url.clone(), database_password(config)?);
    let open = move || {
        Pg::connect(&url, password.as_deref())
            .map_err(|error| StoreError::broken("open the store of leases", error))
    };
    Keeper::start(Arc::clone(lease), open).context("could not start the thread of the lease")
}

/// The one client for URLs that others name.
pub(crate) fn outside(config: &Config) -> anyhow::Result<Outside> {
    Ok(Outside::new(config.outside.clone())?)
}

/// Whoever calls agents that sleep.
pub(crate) fn wake(config: &Config, pg: &Arc<Pg>, outside: Outside) -> anyhow::Result<Wake> {
    let (by_command, per_hour) = (config.wake.by_command()?, config.wake.per_hour.get());
    Ok(Wake::new(Arc::<Pg>::clone(pg), Arc::new(outside), by_command, per_hour))
}

/// Whoever tells agents that their jobs are due.
fn schedule(
    pg: &Arc<Pg>,
    outside: Outside,
    (register, issuers): &(Arc<Register>, Arc<Issuers>),
    lease: &Lease,
) -> Schedule {
    let minting = Arc::new(timekeeping::Mint(Arc::clone(issuers)));
    let clocks = Clocks {
        store: Arc::new(timekeeping::StoreClock(Arc::clone(register))),
        wall: Arc::new(SystemClock::started()),
    };
    let callbacks = Arc::new(Callbacks::new(outside, minting));
    Schedule::new(Arc::<Pg>::clone(pg), callbacks, clocks, lease.node().clone())
}

/// What our own pages keep is not kept for ever.
async fn forget_chats(chats: Arc<dyn nightdesk_webchat::store::Store>, drain: CancellationToken) {
    let round = || async { chats.forget().await.map(drop) };
    sweep::every(UPKEEP_EVERY, "forget old chats", &drain, round).await;
}

/// What was lent ends soon, and what was replaced does too.
async fn forget_ended(keys: Arc<dyn nightdesk_vault::Store>, drain: CancellationToken) {
    let round = || async { keys.forget_ended().await.map(drop) };
    sweep::every(CAPABILITY_PURGE_EVERY, "forget what ended", &drain, round).await;
}

/// Who replaces keys.
pub(crate) fn locksmith(pg: &Arc<Pg>, vault: Vault) -> Locksmith {
    Locksmith::over(Arc::<Pg>::clone(pg), vault)
}

/// What the nodes sign their hints with. It stays the same when the vault's keys are replaced.
pub(crate) async fn bus_secret(locksmith: &Locksmith) -> anyhow::Result<Zeroizing<[u8; 32]>> {
    let secret = locksmith.shared_secret("bus").await.context("could not share a secret")?;
    let mut bytes = Zeroizing::new([0; 32]);
    secret.with(|hex| hex::decode_to_slice(hex, bytes.as_mut_slice()))?;
    Ok(bytes)
}

/// Writes down elsewhere how far the audit log goes, if it is said where.
fn anchor(config: &Config, pg: &Arc<Pg>, lease: &Arc<Lease>, life: &Lifecycle) {
    let Some(file) = config.audit.anchor_file.clone() else { return };
    let owners = Owners::new(Arc::clone(lease), Arc::<Pg>::clone(pg));
    let anchoring = Anchoring { store: Arc::<Pg>::clone(pg), owners, file };
    life.street.spawn(anchoring.keep(life.drain.clone()));
}

fn limits(config: &Config, ringing: &Ringing) -> Limits {
    let limits = Limits::new(config.limits);
    match &ringing.between {
        Some(bell) => limits.under(Arc::<RedisBell>::clone(bell)),
        None => limits,
    }
}

/// Rates are shared by all nodes that live.
async fn count_nodes(desk: Arc<Desk>, pg: Arc<Pg>, drain: CancellationToken) {
    let round = || async {
        desk.limits.shared_by(nightdesk_lease::Store::living(&*pg).await?);
        Ok(())
    };
    sweep::every(NODES_COUNTED_EVERY, "count nodes", &drain, round).await;
}

/// Our own pages.
fn webchat(config: &Config, pg: &Arc<Pg>, ringing: &Ringing) -> Webchat {
    let clock = Arc::new(SystemClock::started());
    Webchat::new(Arc::<Pg>::clone(pg), ringing.bell(), clock, config.public_url())
}

/// The platforms this build can speak to.
fn media(config: &Config, pg: &Arc<Pg>) -> anyhow::Result<Arc<Media>> {
    let place = &config.media.place;
    let objects = nightdesk_media::open(place).with_context(|| {
        format!("media.place is {place}; name a folder the desk may write to, or a bucket as s3://files/desk")
    })?;
    let clock = Arc::new(SystemClock::started());
    Ok(Arc::new(Media::over(Arc::<Pg>::clone(pg), objects, config.public_url(), clock)))
}

fn adapters(config: &Config, pg: &Arc<Pg>, webchat: &Arc<Webchat>) -> anyhow::Result<Adapters> {
    let mut adapters: HashMap<String, Arc<dyn Platform>> = HashMap::new();
    adapters.insert(nightdesk_webchat::NAME.to_owned(), Arc::<Webchat>::clone(webchat));
    let budget = Arc::new(Sessions(Arc::<Pg>::clone(pg)));
    let discord = Arc::new(config.discord.adapter(budget)?);
    adapters.insert(nightdesk_discord::NAME.to_owned(), discord);
    let telegram = Arc::new(config.telegram.adapter()?);
    adapters.insert(nightdesk_telegram::NAME.to_owned(), telegram);
    #[cfg(feature = "scripted")]
    adapters.insert("scripted".to_owned(), Arc::new(nightdesk_testkit::scripted::Scripted::new()?));
    Ok(adapters)
}

/// Gets ready to reach the database.
pub(crate) fn connect(config: &Config) -> anyhow::Result<Pg> {
    Pg::connect(&config.database.url, database_password(config)?.as_deref())
        .context("database.url is not a PostgreSQL URL")
}

/// A node does not serve over a database that lacks something it needs. One that has more than
/// it knows is fine: nodes of a newer release may be here already.
pub(crate) async fn has_its_tables(pg: &Pg) -> anyhow::Result<()> {
    let lacking = pg
        .lacks()
        .await
        .context("could not reach the database; is it there, and did `nightdesk migrate` run?")?;
    let Some(lacking) = lacking else { return Ok(()) };
    bail!(
        "the database is older than this binary: it lacks {lacking}; run `nightdesk migrate` with \
         this binary, which may be done while nodes of the release before serve"
    )
}

fn database_password(config: &Config) -> anyhow::Result<Option<String>> {
    crate::config::password(config.database.password_file.as_deref())
}
