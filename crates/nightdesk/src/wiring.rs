//! Connects the stops to a node.

mod alerts;
pub(crate) mod checkup;
pub(crate) mod desk;
pub(crate) mod doctor;
pub(crate) mod durability;
mod office;
mod tasks;
pub(crate) mod ways;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, bail};
use nightdesk_api::{AmbientAgent, ApiParts, ServedCertificate, TlsListener};
use nightdesk_dashboard::DashboardParts;
use nightdesk_desk::posting::{self, WebhookKey, WebhookPoster};
use nightdesk_desk::{Desk, LineBackend};
use nightdesk_lease::{Lease, LeaseKeeper, PeerDirectory};
use nightdesk_line::{DialLimits, DrainOrder, LineContext, Metrics, PostedLines, TokenFailures};
use nightdesk_office::{DeskQuestionKey, Office};
use nightdesk_outside::Outside;
use nightdesk_register::Register;
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::{
    DATABASE_START_PAUSE, DATABASE_START_WAIT, DAYS_NEEDED_AHEAD, LEASE_LASTS, WEBHOOK_CALLS_MAX,
};
use nightdesk_types::{Clock, Node, StoreError, SystemClock};
use nightdesk_vault::{Locksmith, Vault};
use nightdesk_wake::{Waker, WebhookCall};
use nightdesk_webchat::Webchat;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};
use zeroize::Zeroizing;

use crate::bell::BellTasks;
use crate::certificate::{self, CertificateReload};
use crate::command::names::AgentArgs;
use crate::config::{Config, TlsFiles, read_again};
use crate::erasures::Erasures;
use crate::findings::FindingsReport;
use crate::lifecycle::{self, Lifecycle, StopSignals};
use crate::logins::open_logins;
use crate::peers::HttpPeers;
use crate::telemetry::OtherMetrics;
use crate::wiring::durability::{DurabilityReport, FaultList};
use crate::wiring::office::OfficeKeys;
use crate::{failpoints, telemetry};

/// Runs a node until it is stopped.
pub(crate) async fn serve(config: &Arc<Config>) -> anyhow::Result<()> {
    let mut stop_signals = StopSignals::listen()?;
    let vault = config.vault().await?;
    let running = tokio::select! {
        running = RunningNode::start(config, vault.clone()) => running?,
        // Nothing was accepted yet. A lease that was just begun expires.
        () = stop_signals.wait() => return Ok(()),
    };
    tokio::select! {
        () = stop_signals.wait() => {}
        told = reload_keys(config, &vault) => told?,
        // Every commit from now on may be lost, so it exits at once.
        refused = durability::watch(config, &running.base.pg) => return Err(refused),
        // Other nodes already act for this node, and its writes are refused, so it exits at once.
        () = running.base.lease.wait_until_over() => bail!(
            "node {0} lost its lease: it stalled, or a second node of that name was started; \
             restart it, and give every node its own node.name",
            config.node.name
        ),
    }
    running.stop().await;
    Ok(())
}

/// Reads the vault's keys again on each signal. If the read fails, the current keys stay.
async fn reload_keys(config: &Config, vault: &Vault) -> anyhow::Result<()> {
    let mut hangups = lifecycle::hangup_signal()?;
    while hangups.recv().await.is_some() {
        match read_again(config, vault).await {
            Ok(()) => log_keys(vault),
            Err(error) => log_bad_keys(&error),
        }
    }
    Ok(())
}

fn log_durability(found: &DurabilityReport) {
    match found {
        DurabilityReport::Kept(replication) => tracing::info!("commits are durable; {replication}"),
        DurabilityReport::Unchecked(faults) => log_unsafe_commits(faults),
    }
}

fn log_unsafe_commits(faults: &FaultList) {
    tracing::error!(
        "PostgreSQL may lose messages that the desk accepted: {faults}; this node serves because \
         database.durability is \"unchecked\""
    );
}

fn log_keys(vault: &Vault) {
    tracing::info!("vault keys reloaded; key {} seals", vault.sealing_key());
}

fn log_bad_keys(error: &anyhow::Error) {
    tracing::error!("vault keys could not be reloaded and stay unchanged: {error:#}");
}

/// The base of a node, on which its stops are built.
struct NodeBase {
    /// The store of every stop.
    pg: Arc<Pg>,
    /// The lease of this life of the node.
    lease: Arc<Lease>,
    /// The bell and the lines that wait for it.
    bell_tasks: BellTasks,
    /// The node's tasks.
    life: Lifecycle,
    /// The list of erased tenants, if one is configured.
    erasures: Option<Arc<Erasures>>,
}

/// A running node.
pub(crate) struct RunningNode {
    base: NodeBase,
    desk: Arc<Desk>,
    office: Arc<Office>,
    keeper: LeaseKeeper,
}

impl RunningNode {
    /// Starts a node. When the function returns, the node can be reached.
    pub(crate) async fn start(config: &Arc<Config>, vault: Vault) -> anyhow::Result<Self> {
        let pg = Arc::new(connect(config, vault.clone())?);
        let locksmith = locksmith(&pg, vault.clone());
        let erasures = Erasures::open(config, &pg, &vault).map(Arc::new);
        let give_up_at = Some(Instant::now() + DATABASE_START_WAIT);
        let NodeStart { lease, secret, webhook_key, question_key, login_secret } =
            retry_while_unavailable(give_up_at, || {
                NodeStart::new(config, &pg, &locksmith, erasures.as_deref())
            })
            .await?;
        let keys = OfficeKeys {
            vault: vault.clone(),
            locksmith,
            webhook_key: webhook_key.clone(),
            question_key,
        };
        let lease = Arc::new(lease);
        let keeper = start_keeper(&pg, &lease)?;
        let ringing = BellTasks::start(config, &secret)?;
        let life = Lifecycle::default();
        let base = NodeBase { pg, lease, bell_tasks: ringing, life, erasures };
        let webchat = Arc::new(webchat(config, &base));
        let outside = outside(config)?;
        let login_client = outside.clone();
        let (webhooks, webhook_calls) = mpsc::channel(WEBHOOK_CALLS_MAX);
        let ways_out = WaysOut { outside: outside.clone(), webhooks };
        let desk = Arc::new(desk::build(config, &base, vault, &webchat, ways_out).await?);
        let room = Arc::new(line_context(config, &base, &desk));
        let posted = posted_lines(&base, &room, outside, webhook_key);
        let opening = posting::open_lines(
            webhook_calls,
            Arc::clone(&desk.line),
            Arc::clone(&posted),
            base.life.drain.clone(),
        );
        base.life.serving.spawn(opening);
        tasks::spawn(config, &base, &desk, &room);
        let relays = config.schedule.relays(&config.public_url())?;
        let lines = base.life.serving.clone();
        let (line_context, proxies) = (room, config.listen.proxies()?);
        retry_while_unavailable(give_up_at, || announce(config, &base)).await?;
        let peers = Arc::new(HttpPeers::open(Arc::<Pg>::clone(&base.pg))?);
        let office = Arc::new(office::open(config, &base, &desk, &login_client, keys)?);
        let sampled = tasks::sample_usage(Arc::clone(&office), base.life.drain.clone());
        base.life.serving.spawn(sampled);
        let logins = open_logins(config, &login_secret, &login_client, &base.life.serving)?;
        let pages = nightdesk_dashboard::routes(DashboardParts {
            office: Arc::clone(&office),
            logins: Arc::new(logins),
            line_context: Arc::clone(&line_context),
            public_url: config.public_url(),
        });
        let street = ApiParts {
            desk: Arc::clone(&desk),
            line_context,
            relays,
            webchat,
            lines,
            proxies,
            posted,
            peers,
            office: Arc::clone(&office),
            pages,
        };
        open(config, &base, street).await?;
        Ok(Self { base, desk, office, keeper })
    }

    /// Returns the functions of operators and tenants.
    pub(crate) fn office(&self) -> &Office {
        &self.office
    }

    /// Returns the node's register.
    pub(crate) fn register(&self) -> &Register {
        &self.desk.stops.register
    }

    /// Completes the work in progress and stops.
    pub(crate) async fn stop(self) {
        self.desk.stops.readiness.stop();
        self.base.life.stop().await;
        self.base.bell_tasks.stop().await;
        self.keeper.stop().await;
        self.base.pg.close().await;
    }
}

/// The ways from this node to URLs that tenants set.
struct WaysOut {
    /// The client for them.
    outside: Outside,
    /// Opens the lines of agents with a webhook.
    webhooks: mpsc::Sender<WebhookCall>,
}

/// The part of a start that needs the database. It may be repeated: each time it begins a new life of the node.
struct NodeStart {
    lease: Lease,
    secret: Zeroizing<[u8; 32]>,
    webhook_key: WebhookKey,
    question_key: DeskQuestionKey,
    login_secret: Zeroizing<[u8; 32]>,
}

impl NodeStart {
    async fn new(
        config: &Config,
        pg: &Pg,
        locksmith: &Locksmith,
        erasures: Option<&Erasures>,
    ) -> anyhow::Result<Self> {
        has_its_tables(pg).await?;
        log_durability(&durability::check(config, pg).await?);
        locksmith.check().await?;
        if let Some(erasures) = erasures {
            // Before anything of a tenant is opened: the database may be a restored one.
            erasures.apply().await?;
        }
        // Only what an accept needs today and tomorrow. Everything else is left to the upkeep.
        let opened = pg.open_days(DAYS_NEEDED_AHEAD).await;
        opened.context("could not create the partitions of today and tomorrow")?;
        Ok(Self {
            secret: bus_secret(locksmith).await?,
            webhook_key: webhook_key(locksmith).await?,
            question_key: DeskQuestionKey::new(&*shared_secret(locksmith, "doctor").await?),
            login_secret: shared_secret(locksmith, "logins").await?,
            lease: begin(config, pg).await?,
        })
    }
}

/// Repeats a step while the database cannot be reached or is too busy, as it is when the machine starts both at once, or
/// while a standby takes over.
pub(crate) async fn retry_while_unavailable<T, F: Future<Output = anyhow::Result<T>>>(
    give_up_at: Option<Instant>,
    step: impl Fn() -> F,
) -> anyhow::Result<T> {
    let is_over = || give_up_at.is_some_and(|end| Instant::now() >= end);
    loop {
        match step().await {
            Err(error) if is_unavailable(&error) && !is_over() => {
                tracing::warn!("the database is not available yet; retrying: {error:#}");
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

/// Opens the public listener, and the metrics listener if it is configured.
async fn open(config: &Arc<Config>, base: &NodeBase, street: ApiParts) -> anyhow::Result<()> {
    let life = &base.life;
    let served = config.listen.tls_files().map(certificate::open).transpose()?;
    let findings = FindingsReport {
        config: Arc::clone(config),
        store: Arc::<Pg>::clone(&base.pg),
        served: served.clone(),
    };
    life.serving.spawn(findings.run(life.drain.clone()));
    if let Some(address) = config.metrics.address {
        let bell = base.bell_tasks.redis_bell.as_ref().map(|bell| bell.metrics());
        let tls = served.as_deref().map(ServedCertificate::metrics);
        let more = OtherMetrics { bell, tls, alerts: street.office.alerting().metrics() };
        let registry = Arc::new(telemetry::metrics(&street.desk, &street.line_context, &more));
        listen(address, nightdesk_api::metrics_routes(registry), life).await?;
    }
    open_ambient(config, &street, life).await?;
    let (address, url) = (config.listen.address, config.public_url());
    let routes = nightdesk_api::routes(street);
    match config.listen.tls_files().zip(served) {
        Some((files, served)) => listen_with_tls(address, routes, life, files, &served).await?,
        None => listen(address, routes, life).await?,
    }
    let node = &config.node.name;
    tracing::info!(%address, url, node, "desk {node} listens on {address}");
    Ok(())
}

/// Opens the configured ambient token endpoints.
async fn open_ambient(config: &Config, street: &ApiParts, life: &Lifecycle) -> anyhow::Result<()> {
    for ambient in &config.issuer.ambient {
        let whose = AgentArgs { tenant: ambient.tenant.clone(), agent: ambient.agent.clone() };
        let (scope, agent) = whose.resolve(&street.desk.stops.register).await?;
        let issuers = Arc::clone(&street.desk.stops.issuers);
        let clock = Arc::clone(&street.line_context.clock);
        let routes = nightdesk_api::ambient_routes(AmbientAgent { issuers, clock, scope, agent });
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
    let listener = bind(address).await?;
    let (street, drain) = (life.serving.clone(), life.drain.clone());
    life.serving.spawn(nightdesk_api::serve(listener, routes, street, drain));
    Ok(())
}

/// Opens a listener with TLS, and rereads its certificate while the node runs.
async fn listen_with_tls(
    address: SocketAddr,
    routes: nightdesk_api::Router,
    life: &Lifecycle,
    files: &TlsFiles,
    served: &Arc<ServedCertificate>,
) -> anyhow::Result<()> {
    let (street, drain) = (life.serving.clone(), life.drain.clone());
    let hangups = lifecycle::hangup_signal()?;
    let listener = TlsListener::start(bind(address).await?, served, &street, &drain);
    let reload = CertificateReload::new(files, served);
    life.serving.spawn(reload.run(hangups, drain.clone()));
    life.serving.spawn(nightdesk_api::serve(listener, routes, street, drain));
    Ok(())
}

async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("could not listen on {address}; is another desk running there?"))
}

/// Returns the context of this node's lines.
fn line_context(config: &Config, base: &NodeBase, desk: &Desk) -> LineContext {
    LineContext {
        desk: Arc::<LineBackend>::clone(&desk.line),
        inbox: Arc::clone(&desk.stops.inbox),
        store: Arc::<Pg>::clone(&base.pg),
        lines: Arc::clone(&base.bell_tasks.lines),
        clock: Arc::new(SystemClock::start()),
        node: base.lease.node().clone(),
        drain: base.life.drain.clone(),
        leaving: DrainOrder::default(),
        dials: DialLimits::default(),
        frames: config.limits.frames(),
        failures: TokenFailures::default(),
        metrics: Metrics::default(),
    }
}

/// Begins this node's life.
async fn begin(config: &Config, pg: &Pg) -> anyhow::Result<Lease> {
    let clock = SystemClock::start();
    let (asked_at, name) = (clock.moment(), config.node.name.clone());
    let epoch = nightdesk_lease::Store::begin(pg, &name, LEASE_LASTS).await;
    let epoch = epoch.context("could not start the lease of this node")?;
    Ok(Lease::new(Node { name, epoch }, Box::new(clock), asked_at))
}

/// Returns the lines of this node whose agents are called.
fn posted_lines(
    base: &NodeBase,
    room: &Arc<LineContext>,
    outside: Outside,
    key: WebhookKey,
) -> Arc<PostedLines> {
    let clock = Arc::new(SystemClock::start());
    let poster = WebhookPoster::new(outside, Arc::<Pg>::clone(&base.pg), key, clock);
    Arc::new(PostedLines::new(Arc::clone(room), Arc::new(poster), base.life.serving.clone()))
}

/// Tells the other nodes where they reach this one.
async fn announce(config: &Config, base: &NodeBase) -> anyhow::Result<()> {
    let Some(url) = config.peer_url() else { return Ok(()) };
    let announced = PeerDirectory::announce(&*base.pg, base.lease.node(), &url).await;
    announced.context("could not announce this node to the others")
}

/// Renews the lease over a separate connection.
fn start_keeper(pg: &Arc<Pg>, lease: &Arc<Lease>) -> anyhow::Result<LeaseKeeper> {
    let pg = Arc::clone(pg);
    let open = move || Ok(pg.connect_apart());
    LeaseKeeper::start(Arc::clone(lease), open).context("could not start the lease thread")
}

/// Returns the single client for URLs that tenants set.
pub(crate) fn outside(config: &Config) -> anyhow::Result<Outside> {
    Ok(Outside::new(config.outside.clone())?)
}

/// Returns the stop that calls sleeping agents.
pub(crate) fn wake(config: &Config, pg: &Arc<Pg>, outside: Outside) -> anyhow::Result<Waker> {
    let (by_command, per_hour) = (config.wake.by_command()?, config.wake.per_hour.get());
    let waker = Waker::new(Arc::<Pg>::clone(pg), Arc::new(outside), by_command, per_hour);
    Ok(waker.with_still_waking_after(config.wake.still_waking_after()?))
}

/// Returns the locksmith, which replaces keys.
pub(crate) fn locksmith(pg: &Arc<Pg>, vault: Vault) -> Locksmith {
    Locksmith::new(Arc::<Pg>::clone(pg), vault)
}

/// Returns the secret that signs hints between nodes.
pub(crate) async fn bus_secret(locksmith: &Locksmith) -> anyhow::Result<Zeroizing<[u8; 32]>> {
    shared_secret(locksmith, "bus").await
}

/// Returns the key of the secrets that sign posts to agents.
pub(crate) async fn webhook_key(locksmith: &Locksmith) -> anyhow::Result<WebhookKey> {
    Ok(WebhookKey::new(&*shared_secret(locksmith, "webhooks").await?))
}

/// Returns a secret that all nodes share. It stays the same when the vault's keys are replaced.
async fn shared_secret(
    locksmith: &Locksmith,
    name: &'static str,
) -> anyhow::Result<Zeroizing<[u8; 32]>> {
    let secret = locksmith
        .shared_secret(name)
        .await
        .context("could not read the secret that nodes share")?;
    let mut bytes = Zeroizing::new([0; 32]);
    secret.with(|hex| hex::decode_to_slice(hex, bytes.as_mut_slice()))?;
    Ok(bytes)
}

/// Returns the web chat platform.
fn webchat(config: &Config, base: &NodeBase) -> Webchat {
    let clock = Arc::new(SystemClock::start());
    let store = Arc::<Pg>::clone(&base.pg);
    Webchat::new(store, base.bell_tasks.bell(), clock, config.public_url())
}

/// Prepares the database connections of a desk with this vault.
pub(crate) fn connect(config: &Config, vault: Vault) -> anyhow::Result<Pg> {
    Pg::connect(&config.database.url, database_password(config)?.as_deref(), vault)
        .context("database.url is not a PostgreSQL URL")
}

/// Refuses to serve over a database that lacks something the node needs. Additional objects are accepted: nodes of a
/// newer release may have migrated it.
pub(crate) async fn has_its_tables(pg: &Pg) -> anyhow::Result<()> {
    let lacking = pg
        .find_missing_migration(failpoints::next_release().as_deref())
        .await
        .context("could not query the database; check that it runs, and run `nightdesk migrate`")?;
    let Some(lacking) = lacking else { return Ok(()) };
    bail!(
        "the database is older than this binary: it lacks {lacking}; run `nightdesk migrate` with \
         this binary, which is safe while nodes of the previous release serve"
    )
}

fn database_password(config: &Config) -> anyhow::Result<Option<String>> {
    crate::config::secret_file::password(config.database.password_file.as_deref())
}
