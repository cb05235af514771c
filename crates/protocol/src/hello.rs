//! The hello, which a gateway sends once per bot when a line opens.

use nightdesk_types::ClientRules;
use nightdesk_types::limits::SHORT_TEXT_BYTES_MAX;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{text, tolerant};

/// Commands in one hello: Discord's limit for a bot.
pub const COMMANDS_MAX: usize = 100;

/// Options of one command: Discord's limit.
pub const OPTIONS_MAX: usize = 25;

/// Longest options of a command as JSON.
const OPTIONS_BYTES_MAX: usize = 4 * 1024;

/// Longest stored name or version of a client.
const CLIENT_BYTES_MAX: usize = 64;

/// The platform of a gateway that names none.
pub const RELAY_PLATFORM: &str = "relay";

/// The only platform for which stock clients list their commands.
const COMMANDS_PLATFORM: &str = "discord";

/// A gateway's announcement of the bot that it connects for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "hello")]
pub struct Hello {
    /// The platform's name.
    #[cfg_attr(feature = "openapi", schemars(default))]
    pub platform: String,
    /// The platform's name of the bot; empty if the gateway does not know it.
    #[serde(rename = "botId")]
    #[cfg_attr(feature = "openapi", schemars(default))]
    pub bot_handle: String,
    /// The agent's commands. Only clients newer than 0.19.0 send them.
    #[serde(rename = "command_manifest", skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<HelloCommand>>,
    /// The client. Only the Nightdesk SDK sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientVersion>,
}

/// A command of the agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct HelloCommand {
    /// Its name, without a slash: `[a-z0-9_-]{1,32}`.
    pub name: String,
    /// The description.
    #[cfg_attr(feature = "openapi", schemars(default))]
    pub description: String,
    /// The options in the platform's format.
    #[cfg_attr(feature = "openapi", schemars(default))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Value>,
}

/// The name and version of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ClientVersion {
    /// Its name.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub name: String,
    /// Its version.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub version: String,
}

impl Hello {
    /// Returns the rules for serving its client, if the hello identifies the client.
    pub fn client_rules(&self) -> Option<ClientRules> {
        if self.client.is_some() {
            return Some(ClientRules::Sdk);
        }
        if self.commands.is_some() {
            return Some(ClientRules::Hermes020);
        }
        // Every later client lists its commands there.
        (self.platform == COMMANDS_PLATFORM).then_some(ClientRules::Hermes019)
    }
}

/// A hello as received.
pub(crate) struct RawHello {
    pub(crate) platform: Option<String>,
    pub(crate) bot_handle: Option<String>,
    pub(crate) commands: Option<Vec<RawCommand>>,
    pub(crate) client: Option<ClientVersion>,
}

#[derive(Deserialize)]
pub(crate) struct RawCommand {
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    name: String,
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    description: String,
    #[serde(default, deserialize_with = "tolerant::values::<_, OPTIONS_BYTES_MAX>")]
    options: Option<Vec<Value>>,
}

impl From<RawHello> for Hello {
    fn from(raw: RawHello) -> Self {
        let platform = raw.platform.unwrap_or_default().trim().to_ascii_lowercase();
        let platform = if platform.is_empty() { RELAY_PLATFORM.to_owned() } else { platform };
        let usable = |commands: Vec<RawCommand>| {
            commands.into_iter().filter_map(RawCommand::into_command).take(COMMANDS_MAX).collect()
        };
        let short = |text| text::cut(text, CLIENT_BYTES_MAX);
        let shorter = |client: ClientVersion| ClientVersion {
            name: short(client.name),
            version: short(client.version),
        };
        Self {
            platform,
            bot_handle: raw.bot_handle.unwrap_or_default(),
            commands: raw.commands.map(usable),
            client: raw.client.map(shorter),
        }
    }
}

impl RawCommand {
    /// Returns the command, if a platform would accept it.
    fn into_command(self) -> Option<HelloCommand> {
        const NAME_BYTES_MAX: usize = 32;
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        let fits = (1..=NAME_BYTES_MAX).contains(&self.name.len());
        let mut options = self.options.unwrap_or_default();
        options.truncate(OPTIONS_MAX);
        let description = text::cut(self.description, SHORT_TEXT_BYTES_MAX);
        let command = HelloCommand { name: self.name, description, options };
        (fits && command.name.bytes().all(plain)).then_some(command)
    }
}
