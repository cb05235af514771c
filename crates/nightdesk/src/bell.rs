//! The bell of this node: in-process, or over Redis between several nodes.

use std::sync::Arc;

use anyhow::Context;
use nightdesk_bus::{Bell, LineRegistry};
use nightdesk_bus_redis::{BellSettings, RedisBell};
use nightdesk_types::SystemClock;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::secret_file::password;
use crate::config::{Config, RedisSection};

/// The bell and the tasks that serve it.
#[derive(Clone)]
pub(crate) struct BellTasks {
    /// The waiting lines of this node.
    pub(crate) lines: Arc<LineRegistry>,
    /// The bell between nodes, if there are several.
    pub(crate) redis_bell: Option<Arc<RedisBell>>,
    runs: TaskTracker,
    stop: CancellationToken,
}

impl BellTasks {
    /// Starts the bell. No caller waits for Redis: without it the desk is slower but complete.
    pub(crate) fn start(config: &Config, secret: &[u8; 32]) -> anyhow::Result<Self> {
        let ears = Arc::new(LineRegistry::for_node(&config.node.name));
        let (runs, stop) = (TaskTracker::new(), CancellationToken::new());
        let Some(redis) = &config.redis else {
            return Ok(Self { lines: ears, redis_bell: None, runs, stop });
        };
        let bell = Arc::new(open_redis_bell(config, redis, secret, &ears)?);
        let (running, until) = (Arc::clone(&bell), stop.clone());
        runs.spawn(async move { running.run(&until).await });
        Ok(Self { lines: ears, redis_bell: Some(bell), runs, stop })
    }

    /// Returns the bell to ring.
    pub(crate) fn bell(&self) -> Arc<dyn Bell> {
        match &self.redis_bell {
            Some(bell) => Arc::<RedisBell>::clone(bell),
            None => Arc::<LineRegistry>::clone(&self.lines),
        }
    }

    /// Stops the bell. The other nodes are notified, so that they do not take the silence for a break.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.runs.close();
        self.runs.wait().await;
    }
}

/// Returns the bell between nodes, not yet running.
pub(crate) fn open_redis_bell(
    config: &Config,
    redis: &RedisSection,
    secret: &[u8; 32],
    ears: &Arc<LineRegistry>,
) -> anyhow::Result<RedisBell> {
    let password = password(redis.password_file.as_deref())?;
    let settings = BellSettings {
        url: &redis.url,
        password: password.as_deref(),
        node: &config.node.name,
        secret,
    };
    RedisBell::new(&settings, Arc::clone(ears), Arc::new(SystemClock::start()))
        .context("redis.url is not a Redis URL")
}
