//! Finds bots, their keys and their platform adapters.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use moka::sync::Cache;
use nightdesk_egress::{CapabilityRequest, FileError, FileRequest};
use nightdesk_media::Media;
use nightdesk_port::{Bot, Entrance, File, Platform};
use nightdesk_register::{
    CapabilityPlace, CapabilitySession, Register, RegisterError, SessionDigest,
};
use nightdesk_types::event::Source;
use nightdesk_types::limits::{ACCOUNT_KEPT_FOR, ACCOUNTS_KEPT_MAX};
use nightdesk_types::{BotId, StoreError, Visibility};
use nightdesk_vault::Key;
use tokio::time::Instant;

/// The adapters of this build, by name.
pub type Adapters = HashMap<String, Arc<dyn Platform>>;

/// A bot with its key and its adapter.
#[derive(Clone)]
pub struct Account {
    /// The bot.
    pub bot: Arc<Bot>,
    /// The adapter that makes the bot's platform calls.
    pub platform: Arc<dyn Platform>,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Account({})", self.bot.id)
    }
}

impl Account {
    /// Reports whether a person can see a place, as far as the platform's cached data shows.
    pub(crate) fn visibility(&self, source: &Source, person: &str) -> Visibility {
        self.platform
            .visibility_source()
            .map_or(Visibility::Unknown, |eyes| eyes.visibility_of(&self.bot, source, person))
    }
}

/// An account as the register returned it.
#[derive(Clone)]
struct CachedAccount {
    /// The time of the lookup, by the clock that tests can move.
    asked_at: Instant,
    account: Account,
}

impl CachedAccount {
    /// Returns true if the cached account is still valid.
    fn is_fresh(&self) -> bool {
        self.asked_at.elapsed() < ACCOUNT_KEPT_FOR
    }
}

/// Finds accounts and caches what the register returns for a short time.
pub struct Accounts {
    register: Arc<Register>,
    adapters: Adapters,
    pub(crate) media: Arc<Media>,
    by_path: Cache<String, CachedAccount>,
    by_id: Cache<BotId, CachedAccount>,
}

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Accounts")
    }
}

impl Accounts {
    /// Creates accounts over a register and these adapters.
    pub fn new(register: Arc<Register>, adapters: Adapters, media: Arc<Media>) -> Self {
        Self {
            register,
            adapters,
            media,
            by_path: Cache::new(ACCOUNTS_KEPT_MAX),
            by_id: Cache::new(ACCOUNTS_KEPT_MAX),
        }
    }

    /// Returns the account whose webhook has this path.
    pub async fn find_by_path(&self, path: &str) -> Result<Option<Account>, RegisterError> {
        if let Some(cached) = self.by_path.get(path).filter(CachedAccount::is_fresh) {
            return Ok(Some(cached.account));
        }
        let asked_at = Instant::now();
        let found = self.register.bot_at(path).await?;
        let found = found.and_then(|(bot, adapter)| self.build_account(bot, &adapter));
        if let Some(account) = &found {
            let account = account.clone();
            self.by_path.insert(path.to_owned(), CachedAccount { asked_at, account });
        }
        Ok(found)
    }

    /// Returns the account with this path, if its bot has this entrance.
    pub async fn find_at(
        &self,
        entrance: Entrance,
        path: &str,
    ) -> Result<Option<Account>, RegisterError> {
        let found = self.find_by_path(path).await?;
        Ok(found.filter(|account| account.platform.entrance() == entrance))
    }

    /// Returns the account of a bot.
    pub async fn find_by_id(&self, id: BotId) -> Result<Option<Account>, RegisterError> {
        if let Some(cached) = self.by_id.get(&id).filter(CachedAccount::is_fresh) {
            return Ok(Some(cached.account));
        }
        let asked_at = Instant::now();
        let found = self.register.bot(id).await?;
        let found = found.and_then(|(bot, adapter)| self.build_account(bot, &adapter));
        if let Some(account) = &found {
            let account = account.clone();
            self.by_id.insert(id, CachedAccount { asked_at, account });
        }
        Ok(found)
    }

    /// Returns the entrance of the bots of an adapter. `None`: this build lacks the adapter.
    pub fn entrance(&self, adapter: &str) -> Option<Entrance> {
        self.adapters.get(adapter).map(|platform| platform.entrance())
    }

    /// Returns the names of the adapters that listen for at least some of their bots.
    pub(crate) fn listening_adapters(&self) -> Vec<String> {
        let listen = self.adapters.iter().filter(|(_, platform)| platform.listens());
        let mut names: Vec<String> = listen.map(|(name, _)| name.clone()).collect();
        names.sort();
        names
    }

    fn build_account(&self, bot: Bot, adapter: &str) -> Option<Account> {
        let Some(platform) = self.adapters.get(adapter) else {
            tracing::warn!(bot.id = %bot.id, adapter, "bot {} needs adapter {adapter}, which this build lacks", bot.id);
            return None;
        };
        Some(Account { bot: Arc::new(bot), platform: Arc::clone(platform) })
    }
}

#[async_trait]
impl nightdesk_egress::Accounts for Accounts {
    async fn find_account(
        &self,
        bot: BotId,
    ) -> Result<Option<nightdesk_egress::Account>, StoreError> {
        let found = self.find_by_id(bot).await.map_err(store_error)?;
        Ok(found.map(|Account { bot, platform }| {
            let capabilities = platform.capabilities(&bot);
            nightdesk_egress::Account { bot, platform, capabilities }
        }))
    }

    async fn find_capability(
        &self,
        asked: &CapabilityRequest<'_>,
    ) -> Result<Option<Key>, StoreError> {
        let CapabilityRequest { scope, agent, bot, chat, session_key, kind } = *asked;
        let lessee =
            CapabilitySession { scope, agent, session: SessionDigest::from_key(session_key), kind };
        self.register
            .find_capability(&lessee, CapabilityPlace { bot, chat })
            .await
            .map_err(store_error)
    }

    async fn find_file(&self, asked: &FileRequest<'_>) -> Result<Option<File>, FileError> {
        self.resolve_file(asked).await
    }
}

/// Converts a register's error into a store error. A sealed value that cannot be opened is a permanent error.
pub(crate) fn store_error(error: RegisterError) -> StoreError {
    match error {
        RegisterError::Store(error) => error,
        other @ RegisterError::NoIssuerKeys => StoreError::unavailable("verify a token", other),
        other @ (RegisterError::Sealed(_) | RegisterError::NoSigningKey) => {
            StoreError::broken("open a sealed value", other)
        }
    }
}
