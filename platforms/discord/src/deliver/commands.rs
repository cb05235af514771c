//! Registers commands in one guild. They are never registered globally, because the bot may be shared.

use nightdesk_kit::CallError;
use nightdesk_port::{Bot, Command, CommandChange, DeliverError, Receipt};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::Made;
use super::asked::id;
use crate::Discord;
use crate::api::Call;
use crate::me::Me;

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
        let application = Me::of(bot).application.ok_or(DeliverError::KeyRejected)?;
        let guild = id(guild).ok_or_else(|| DeliverError::refused("guild_not_found"))?;
        let path = format!("applications/{application}/guilds/{guild}/commands");
        match change {
            CommandChange::Told(command) => {
                let call = Call::new(Method::POST, path).with(written(command));
                Ok(self.api.call(bot, call).await.map(Made::receipt)?)
            }
            CommandChange::TakenBack(which) => {
                let which = id(which).ok_or_else(|| DeliverError::refused("command_not_found"))?;
                let call = Call::new(Method::DELETE, format!("{path}/{which}"));
                match self.api.send(bot, call).await {
                    // The command is already deleted, or the bot has left the guild.
                    Err(CallError::Refused(no))
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

fn written(command: &Command) -> Value {
    let Command { name, description, options } = command;
    let said: String = description.trim().chars().take(DESCRIPTION_CHARS_MAX).collect();
    let said = if said.is_empty() { name.clone() } else { said };
    json!({ "type": TYPED, "name": name, "description": said, "options": options })
}
