//! A test node: its ears and its bell.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nightdesk_bus::{HintSeal, LineHints, LineRegistry, NewLine, RegisteredLine};
use nightdesk_bus_redis::{BellSettings, RedisBell};
use nightdesk_types::{
    AgentId, GatewayId, Generation, Incarnation, Seq, SystemClock, TenantId, TenantScope,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Timeout for anything that happens at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const SECRET: [u8; 32] = [7; 32];

pub(crate) struct Node {
    pub(crate) ears: Arc<LineRegistry>,
    pub(crate) bell: Arc<RedisBell>,
    stop: CancellationToken,
    runs: JoinHandle<()>,
}

impl Node {
    /// Starts a node and waits until its bell works.
    pub(crate) async fn whole(url: &str, name: &str) -> Self {
        let (ears, bell) = made(url, name);
        let node = Self::run(ears, bell);
        node.is_whole().await;
        node
    }

    pub(crate) fn run(ears: Arc<LineRegistry>, bell: Arc<RedisBell>) -> Self {
        let stop = CancellationToken::new();
        let (running, until) = (Arc::clone(&bell), stop.clone());
        let runs = tokio::spawn(async move { running.run(&until).await });
        Self { ears, bell, stop, runs }
    }

    /// Waits until the bell is not broken, and clears the lines in doubt.
    pub(crate) async fn is_whole(&self) {
        until("the bell is whole", || !self.ears.lines_in_doubt().is_broken()).await;
        drop(tokio::time::timeout(Duration::ZERO, self.ears.lines_in_doubt().next_doubts()).await);
    }

    /// Waits until the bell is broken, and returns the time that it took.
    pub(crate) async fn breaks(&self) -> Duration {
        let began = Instant::now();
        until("the break is told", || self.ears.lines_in_doubt().is_broken()).await;
        began.elapsed()
    }

    /// Opens an agent's line, and waits until its channel is subscribed.
    pub(crate) async fn line(&self, agent: AgentId, generation: i64) -> Arc<RegisteredLine> {
        let ear = self.ears.register_line(NewLine {
            scope: scope(),
            agent,
            gateway: gateway(),
            incarnation: Incarnation::new(1),
            generation: Generation::new(generation),
        });
        let doubted =
            tokio::time::timeout(PATIENCE, self.ears.lines_in_doubt().next_doubts()).await;
        drop(doubted.expect("a line that is listened for is looked at once"));
        ear
    }

    /// Ends the node like a kill.
    pub(crate) async fn kill(self) {
        self.runs.abort();
        drop(self.runs.await);
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.runs.await.expect("it ends");
    }
}

/// Creates a node's bell without running it.
pub(crate) fn made(url: &str, name: &str) -> (Arc<LineRegistry>, Arc<RedisBell>) {
    let ears = Arc::new(LineRegistry::for_node(name));
    let settings = BellSettings { url, password: None, node: name, secret: &SECRET };
    let bell = RedisBell::new(&settings, Arc::clone(&ears), Arc::new(SystemClock::start()));
    (ears, Arc::new(bell.expect("a bell")))
}

/// Returns the Redis channel of a place.
pub(crate) fn channel(place: &str) -> String {
    format!("nightdesk:{}:{place}", HintSeal::new(&SECRET).cell())
}

/// Waits until a line receives a hint, and returns it.
pub(crate) async fn heard(ear: &RegisteredLine) -> LineHints {
    let waited = async {
        loop {
            let heard = ear.take_hints();
            if heard != LineHints::default() {
                return heard;
            }
            ear.wait_for_hint().await;
        }
    };
    tokio::time::timeout(PATIENCE, waited).await.expect("the line hears it")
}

/// Returns the received form of an entry's ring.
pub(crate) fn entry(seq: i64) -> LineHints {
    LineHints { seq: Some(Seq::new(seq)), orders: vec![] }
}

pub(crate) async fn until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) const fn agent(number: u128) -> AgentId {
    AgentId::from_uuid(Uuid::from_u128(number))
}

pub(crate) const fn gateway() -> GatewayId {
    GatewayId::from_uuid(Uuid::nil())
}

fn scope() -> TenantScope {
    TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil()))
}
