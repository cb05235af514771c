//! Registers commands in one guild. They are never registered globally, because the bot may be shared.

use nightdesk_kit::PlatformCallError;
use nightdesk_port::{Bot, CommandChange, DeliverError, PlatformCommand, Receipt};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::CreatedObject;
use super::message_body::parse_id;
use crate::Discord;
use crate::api::ApiCall;
use crate::own_ids::OwnIds;

/// Maximum characters of a command's description.
const DESCRIPTION_CHARS_MAX: usize = 100;

/// Type of a slash command.
const TYPED: u8 = 1;

impl Discord {
    pub(super) async fn change_command(
        &self,
        bot: &Bot,
        guild: &str,
        change: &CommandChange,
    ) -> Result<Receipt, DeliverError> {
        let application = OwnIds::from_bot(bot).application.ok_or(DeliverError::KeyRejected)?;
        let guild = parse_id(guild).ok_or_else(|| DeliverError::refused("guild_not_found"))?;
        let path = format!("applications/{application}/guilds/{guild}/commands");
        match change {
            CommandChange::Told(command) => {
                let call = ApiCall::new(Method::POST, path).with_body(command_body(command));
                Ok(self.api.call(bot, call).await.map(CreatedObject::into_receipt)?)
            }
            CommandChange::TakenBack(which) => {
                let which =
                    parse_id(which).ok_or_else(|| DeliverError::refused("command_not_found"))?;
                let call = ApiCall::new(Method::DELETE, format!("{path}/{which}"));
                match self.api.send(bot, call).await {
                    // The command is already deleted, or the bot has left the guild.
                    Err(PlatformCallError::Refused(no))
                        if matches!(no.status, StatusCode::NOT_FOUND | StatusCode::FORBIDDEN) =>
                    {
                        Ok(Receipt::default())
                    }
                    done => Ok(done.map(|_| Receipt::default())?),
                }
            }
        }
    }
}

fn command_body(command: &PlatformCommand) -> Value {
    let PlatformCommand { name, description, options } = command;
    let said: String = description.trim().chars().take(DESCRIPTION_CHARS_MAX).collect();
    let said = if said.is_empty() { name.clone() } else { said };
    json!({ "type": TYPED, "name": name, "description": said, "options": options })
}
