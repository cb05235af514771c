//! The cache of each active bot's reach, and its freshness.

use std::sync::{Arc, PoisonError, RwLock};

use moka::sync::Cache;
use nightdesk_types::limits::{BOTS_KNOWN_MAX, STALE_REFUSAL_MAX};
use nightdesk_types::{BotId, StoreError};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::Recipient;
use crate::bot_reach::{BotReach, VisibilityLookup};
use crate::decide::Decision;
use crate::facts::EventFacts;
use crate::store::Store;

/// The cache of all active bots.
pub(crate) struct ReachCache {
    store: Arc<dyn Store>,
    bots: Cache<BotId, Arc<CachedReach>>,
}

/// The cached reach of a bot.
#[derive(Default)]
struct CachedReach {
    reach: RwLock<BotReach>,
    /// The start of the last read that confirmed it, by the clock that tests can move.
    looked_at: RwLock<Option<Instant>>,
    /// Permits one read at a time.
    read_lock: Mutex<()>,
}

impl ReachCache {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, bots: Cache::new(BOTS_KNOWN_MAX) }
    }

    /// Decides on data that is not older than [`STALE_REFUSAL_MAX`].
    pub(crate) async fn decide(
        &self,
        bot: BotId,
        facts: &EventFacts<'_>,
        floor: VisibilityLookup<'_>,
    ) -> Result<Decision, StoreError> {
        let of_bot = self.cached_reach(bot);
        if of_bot.confirmed_at().is_none_or(|at| at.elapsed() > STALE_REFUSAL_MAX) {
            self.reload_since(bot, &of_bot, Instant::now()).await?;
        }
        let known = of_bot.reach.read().unwrap_or_else(PoisonError::into_inner);
        Ok(known.decide(facts, floor))
    }

    /// Reloads a bot, if it is cached.
    pub(crate) async fn reload_cached(&self, bot: BotId) -> Result<(), StoreError> {
        match self.bots.get(&bot) {
            Some(of_bot) => self.reload_since(bot, &of_bot, Instant::now()).await,
            None => Ok(()),
        }
    }

    /// Reloads a bot because an admission for these recipients was outdated. The bot's change log may not contain the
    /// cause: an agent's terms have one version, and they may have changed on another bot.
    pub(crate) async fn reload_outdated(
        &self,
        bot: BotId,
        old: &[Recipient],
    ) -> Result<(), StoreError> {
        self.reload_cached(bot).await?;
        let Some(of_bot) = self.bots.get(&bot) else { return Ok(()) };
        let _looking = of_bot.read_lock.lock().await;
        if of_bot.has_newer_terms(old) {
            Ok(())
        } else {
            self.read_changes(bot, &of_bot, None).await
        }
    }

    /// Reloads every cached bot that changed.
    pub(crate) async fn reload_changed(&self) -> Result<(), StoreError> {
        let began = Instant::now();
        let all: Vec<_> = self.bots.iter().map(|(bot, of_bot)| (*bot, of_bot)).collect();
        let asked: Vec<_> = all.iter().map(|(bot, of_bot)| (*bot, of_bot.version())).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let changed = self.store.changed_bots(&asked).await?;
        for (bot, of_bot) in &all {
            if changed.contains(bot) {
                self.reload_since(*bot, of_bot, began).await?;
            } else if of_bot.confirmed_at().is_some() {
                of_bot.confirm(began);
            }
        }
        Ok(())
    }

    /// Removes every bot: the versions of the cached data are of a history that is over.
    pub(crate) fn forget_all(&self) {
        self.bots.invalidate_all();
    }

    fn cached_reach(&self, bot: BotId) -> Arc<CachedReach> {
        self.bots.get_with(bot, Arc::default)
    }

    /// Reads, unless another read began after `wanted`.
    async fn reload_since(
        &self,
        bot: BotId,
        of_bot: &CachedReach,
        wanted: Instant,
    ) -> Result<(), StoreError> {
        let _looking = of_bot.read_lock.lock().await;
        if of_bot.confirmed_at().is_some_and(|at| at > wanted) {
            return Ok(());
        }
        let since = of_bot.confirmed_at().map(|_| of_bot.version());
        self.read_changes(bot, of_bot, since).await
    }

    /// Reads the changes since a version, or everything. The caller holds the lock for reads.
    async fn read_changes(
        &self,
        bot: BotId,
        of_bot: &CachedReach,
        since: Option<i64>,
    ) -> Result<(), StoreError> {
        let began = Instant::now();
        let change = self.store.read_changes(bot, since).await?;
        of_bot.reach.write().unwrap_or_else(PoisonError::into_inner).apply(change);
        of_bot.confirm(began);
        Ok(())
    }
}

impl CachedReach {
    fn version(&self) -> i64 {
        self.reach.read().unwrap_or_else(PoisonError::into_inner).version()
    }

    fn has_newer_terms(&self, old: &[Recipient]) -> bool {
        self.reach.read().unwrap_or_else(PoisonError::into_inner).has_newer_terms(old)
    }

    fn confirmed_at(&self) -> Option<Instant> {
        *self.looked_at.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn confirm(&self, began: Instant) {
        let mut looked_at = self.looked_at.write().unwrap_or_else(PoisonError::into_inner);
        *looked_at = (*looked_at).max(Some(began));
    }
}
