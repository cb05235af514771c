//! Connects a bot: it is created from its platform's data, and the platform is told where to deliver its updates.

use nightdesk_port::{Bot, DeliverError};
use nightdesk_register::BotDraft;
use nightdesk_types::send::Op;
use nightdesk_types::{Send, TenantScope};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::bot_keys::SecretText;
use crate::error::OfficeError;
use crate::office::Office;
use crate::ports::{PlatformSetup, UpdateDelivery};

/// A bot to connect.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BotConnectRequest {
    /// The platform: `discord` or `telegram`.
    pub platform: String,
    /// The platform's token.
    #[schema(value_type = String)]
    pub key: SecretText,
    /// True if the platform shall post to the desk's public URL. Otherwise the desk fetches the updates.
    #[serde(default)]
    pub webhook: bool,
    /// A chat to which a test message is written.
    #[serde(default)]
    pub test_chat: Option<String>,
}

/// The text of the test message.
const TEST: &str = "This bot is connected.";

impl Office {
    /// Connects a bot. Returns its state at the platform and the remaining steps.
    pub async fn connect_bot(
        &self,
        scope: TenantScope,
        request: BotConnectRequest,
    ) -> Result<Value, OfficeError> {
        let BotConnectRequest { platform, key, webhook, test_chat } = request;
        let setup = self.setup(&platform)?;
        let updates = if webhook { UpdateDelivery::Posted } else { UpdateDelivery::Fetched };
        let key = key.into_key()?;
        let account = setup.find_account(&key, updates).await?;
        self.check_new_bot(scope, &platform, &account.handle).await?;
        let draft = BotDraft {
            adapter: platform.clone(),
            platform,
            handle: account.handle,
            settings: account.settings,
            key: Some(key),
        };
        let (id, path) = self.desk.stops.register.create_bot(scope, draft).await?;
        let (bot, _) = self.stored_bot(id).await?;
        let connected = setup.connect(&bot, &self.hook_at(&path)).await;
        let mut answer = connected.map_err(|cause| undelivered(&bot, &cause))?;
        answer["bot_id"] = id.to_string().into();
        if let Some(chat) = test_chat {
            answer["test"] = self.send_test(&bot, chat).await?.into();
        }
        answer["handle"] = bot.handle.into();
        Ok(answer)
    }

    fn setup(&self, platform: &str) -> Result<&dyn PlatformSetup, OfficeError> {
        let unknown = || {
            let known: Vec<_> = self.setups.keys().map(|name| format!("`{name}`")).collect();
            let known = known.join(" or ");
            OfficeError::Invalid(format!("{platform} cannot be connected; use {known}"))
        };
        self.setups.get(platform).map(|setup| &**setup).ok_or_else(unknown)
    }

    /// Writes to a chat. The bot is connected in either case, so a refusal is a text of the result.
    async fn send_test(&self, bot: &Bot, chat: String) -> Result<String, OfficeError> {
        let op = Op::Send { content: TEST.to_owned(), reply_to: None };
        let send = Send { chat_id: chat, op, metadata: Map::new() };
        let chat = &send.chat_id;
        let Some(account) = self.desk.stops.accounts.find_by_id(bot.id).await? else {
            return Ok(format!("the test message to chat {chat} was not sent: the bot is gone"));
        };
        Ok(match account.platform.deliver(bot, &send).await {
            Ok(_) => format!("the test message to chat {chat} was sent"),
            Err(DeliverError::Refused { platform_code }) => format!(
                "the test message to chat {chat} was not sent ({platform_code}); add the bot to the \
                 chat, or write to the bot there first"
            ),
            Err(error) => format!("the test message to chat {chat} was not sent: {error}"),
        })
    }
}

fn undelivered(bot: &Bot, cause: &OfficeError) -> OfficeError {
    let Bot { id, platform, .. } = bot;
    OfficeError::Conflict(format!(
        "bot {id} was created, but {platform} does not deliver its updates; fix the cause, and set it again \
         with `nightdesk bot rotate-key`: {cause}"
    ))
}
