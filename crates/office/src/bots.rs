//! Bots: the desk's accounts on platforms.

use nightdesk_port::{Bot, Entrance};
use nightdesk_register::{BotDraft, OpenBot, new_secret};
use nightdesk_types::{BotId, TenantScope};
use nightdesk_users::is_user_name;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::bot_check::reception_text;
use crate::bot_keys::SecretText;
use crate::error::OfficeError;
use crate::office::Office;

/// A bot on which agents of the tenant may be linked.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BotView {
    /// Its id.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The platform's name.
    pub platform: String,
    /// Its handle on the platform.
    pub handle: String,
    /// True if the tenant runs it. Otherwise another tenant shares it.
    pub own: bool,
    /// The state of its reception. Null for a bot of another tenant, and before a node listened.
    pub hears: Option<String>,
}

/// A bot to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBotRequest {
    /// The platform's name, as agents see it.
    pub platform: String,
    /// The adapter that serves the bot, if not the one of that name.
    #[serde(default)]
    pub adapter: Option<String>,
    /// The bot's handle on the platform.
    pub handle: String,
    /// The key to the bot's account. A bot with a page gets a random one without it.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub key: Option<SecretText>,
    /// Further settings of the adapter.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub settings: Map<String, Value>,
}

/// A bot that was created.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CreatedBot {
    /// Its id.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The unguessable part of the addresses of its webhook and its page.
    pub path: String,
    /// The address of its page, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A bot that was removed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RemovedBot {
    /// The bot.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// True.
    pub removed: bool,
    /// The result at the platform, if the platform had to be told.
    pub platform: Option<String>,
}

/// The sharing of a bot.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BotShare {
    /// The bot.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// True if agents of other tenants may be linked on it.
    pub shared: bool,
}

/// A bot that a tenant runs.
#[derive(Debug)]
pub(crate) struct OwnBot {
    pub(crate) id: BotId,
    /// The address to which its platform may post.
    pub(crate) hook: String,
}

impl Office {
    /// Returns the names of the platforms whose bots can be connected with a token.
    pub fn connectable_platforms(&self) -> impl Iterator<Item = &str> {
        self.setups.keys().map(String::as_str)
    }

    /// Returns true if the desk serves pages as bots.
    pub fn has_pages(&self, adapter: &str) -> bool {
        self.desk.stops.accounts.entrance(adapter) == Some(Entrance::Page)
    }

    /// Returns the bots on which agents of a tenant may be linked.
    pub async fn bots(&self, scope: TenantScope) -> Result<Vec<BotView>, OfficeError> {
        let store = self.desk.stops.register.store();
        let (open, receptions) = (store.open_bots(scope).await?, store.receptions(scope).await?);
        let view = |OpenBot { id, platform, handle, is_own }| BotView {
            bot_id: id,
            platform,
            handle,
            own: is_own,
            hears: receptions.iter().find(|reception| reception.bot == id).map(reception_text),
        };
        Ok(open.into_iter().map(view).collect())
    }

    /// Creates a bot.
    pub async fn create_bot(
        &self,
        scope: TenantScope,
        new: NewBotRequest,
    ) -> Result<CreatedBot, OfficeError> {
        let NewBotRequest { platform, adapter, handle, key, settings } = new;
        let adapter = adapter.unwrap_or_else(|| platform.clone());
        if ![&platform, &handle].into_iter().all(|name| is_user_name(name)) {
            let expected = "platform and handle must have 1 to 200 bytes on one line";
            return Err(OfficeError::Invalid(expected.to_owned()));
        }
        let has_page = self.entrance(&adapter)? == Entrance::Page;
        let given = key.map(SecretText::into_key).transpose()?;
        self.check_new_bot(scope, &platform, &handle).await?;
        let draft = BotDraft {
            platform,
            adapter,
            handle,
            settings: settings.into(),
            // Only the desk needs the key of a page.
            key: given.or_else(|| has_page.then(new_secret)),
        };
        let (bot_id, path) = self.desk.stops.register.create_bot(scope, draft).await?;
        let url = has_page.then(|| format!("{}/chat/{path}", self.desk.stops.public_url));
        Ok(CreatedBot { bot_id, path, url })
    }

    fn entrance(&self, adapter: &str) -> Result<Entrance, OfficeError> {
        self.desk.stops.accounts.entrance(adapter).ok_or_else(|| {
            OfficeError::Invalid(format!(
                "this desk has no adapter called {adapter}; set adapter to the one that serves the platform"
            ))
        })
    }

    /// Refuses a bot that the tenant has: it needs another function then.
    pub(crate) async fn check_new_bot(
        &self,
        scope: TenantScope,
        platform: &str,
        handle: &str,
    ) -> Result<(), OfficeError> {
        let open = self.desk.stops.register.store().open_bots(scope).await?;
        let same = |bot: &&OpenBot| bot.is_own && bot.platform == platform && bot.handle == handle;
        let Some(OpenBot { id, handle, .. }) = open.iter().find(same) else { return Ok(()) };
        Err(OfficeError::Conflict(format!(
            "@{handle} exists already, as bot {id}; `nightdesk bot check` shows its state, and \
             `nightdesk bot rotate-key` gives it another token"
        )))
    }

    /// Removes a bot, with its key and all data of people and agents on it.
    pub async fn remove_bot(
        &self,
        scope: TenantScope,
        called: &str,
    ) -> Result<RemovedBot, OfficeError> {
        let OwnBot { id, .. } = self.own_bot(scope, called).await?;
        let platform = match self.desk.stops.register.bot(id).await {
            Ok(Some((bot, adapter))) => self.end_updates(&bot, &adapter).await,
            // A key that does not open does not prevent the removal.
            Ok(None) | Err(_) => None,
        };
        if !self.desk.stops.register.store().remove_bot(scope, id).await? {
            return Err(unknown_bot());
        }
        Ok(RemovedBot { bot_id: id, removed: true, platform })
    }

    async fn end_updates(&self, bot: &Bot, adapter: &str) -> Option<String> {
        self.setups.get(adapter)?.end_updates(bot).await
    }

    /// Lets agents of other tenants be linked on a bot, or forbids it. Existing links stay.
    pub async fn share_bot(
        &self,
        scope: TenantScope,
        called: &str,
        audience: BotAudience,
    ) -> Result<BotShare, OfficeError> {
        let OwnBot { id, .. } = self.own_bot(scope, called).await?;
        let shared = audience == BotAudience::AllTenants;
        if !self.desk.stops.register.store().share(scope, id, shared).await? {
            return Err(unknown_bot());
        }
        Ok(BotShare { bot_id: id, shared })
    }

    /// Returns the tenant's own bot of that id.
    pub(crate) async fn own_bot(
        &self,
        scope: TenantScope,
        called: &str,
    ) -> Result<OwnBot, OfficeError> {
        let id: BotId = called.parse().map_err(|_| unknown_bot())?;
        let path = self.desk.stops.register.store().hook_path(scope, id).await?;
        let path = path.ok_or_else(unknown_bot)?;
        Ok(OwnBot { id, hook: self.hook_at(&path) })
    }

    pub(crate) fn hook_at(&self, path: &str) -> String {
        format!("{}/hooks/{path}", self.desk.stops.public_url)
    }

    /// Returns a bot with its key, and the name of its adapter. No node has to have used the key before.
    pub(crate) async fn stored_bot(&self, id: BotId) -> Result<(Bot, String), OfficeError> {
        let found = self.desk.stops.register.bot(id).await?;
        found.ok_or_else(unknown_bot)
    }
}

/// The tenants whose agents may be linked on a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BotAudience {
    /// Only the tenant that runs it.
    OwnTenant,
    /// All tenants.
    AllTenants,
}

pub(crate) fn unknown_bot() -> OfficeError {
    let missing = "the tenant runs no such bot; `nightdesk bot list` shows its bots";
    OfficeError::NotFound(missing.to_owned())
}
