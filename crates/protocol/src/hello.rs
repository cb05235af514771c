//! Hello: for which bot a gateway speaks, said once per bot when a line opens.

use nightdesk_types::ClientRules;
use nightdesk_types::limits::SHORT_TEXT_BYTES_MAX;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{text, tolerant};

/// Commands one hello may announce: what Discord lets a bot register.
pub const COMMANDS_MAX: usize = 100;

/// Options one command may have: what Discord lets it.
pub const OPTIONS_MAX: usize = 25;

/// How long the options of a command may be as JSON.
const OPTIONS_BYTES_MAX: usize = 4 * 1024;

/// How much of a client's name and version is kept.
const CLIENT_BYTES_MAX: usize = 64;

/// The platform of a gateway that names none.
pub const RELAY_PLATFORM: &str = "relay";

/// The one platform for which stock clients list their commands.
const COMMANDS_PLATFORM: &str = "discord";

/// A gateway says for which bot it speaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hello {
    /// The platform's name.
    pub platform: String,
    /// What the platform calls the bot; empty if the gateway does not know.
    #[serde(rename = "botId")]
    pub bot_handle: String,
    /// The commands the agent offers. Only clients newer than 0.19.0 send them.
    #[serde(rename = "command_manifest", skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<Command>>,
    /// What the client is. Only our SDK says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
}

/// A command the agent offers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Command {
    /// Its name, without a slash: `[a-z0-9_-]{1,32}`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its options, as the platform writes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Value>,
}

/// What a client is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// Its name.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub name: String,
    /// Its version.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub version: String,
}

impl Hello {
    /// The rules that its client must be served by, if the hello shows what the client is.
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

/// A hello as it comes.
pub(crate) struct Raw {
    pub(crate) platform: Option<String>,
    pub(crate) bot_handle: Option<String>,
    pub(crate) commands: Option<Vec<RawCommand>>,
    pub(crate) client: Option<Client>,
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

impl From<Raw> for Hello {
    fn from(raw: Raw) -> Self {
        let platform = raw.platform.unwrap_or_default().trim().to_ascii_lowercase();
        let platform = if platform.is_empty() { RELAY_PLATFORM.to_owned() } else { platform };
        let usable = |commands: Vec<RawCommand>| {
            commands.into_iter().filter_map(RawCommand::usable).take(COMMANDS_MAX).collect()
        };
        let short = |text| text::cut(text, CLIENT_BYTES_MAX);
        let shorter =
            |client: Client| Client { name: short(client.name), version: short(client.version) };
        Self {
            platform,
            bot_handle: raw.bot_handle.unwrap_or_default(),
            commands: raw.commands.map(usable),
            client: raw.client.map(shorter),
        }
    }
}

impl RawCommand {
    /// The command, if a platform would take it.
    fn usable(self) -> Option<Command> {
        const NAME_BYTES_MAX: usize = 32;
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        let fits = (1..=NAME_BYTES_MAX).contains(&self.name.len());
        let mut options = self.options.unwrap_or_default();
        options.truncate(OPTIONS_MAX);
        let description = text::cut(self.description, SHORT_TEXT_BYTES_MAX);
        let command = Command { name: self.name, description, options };
        (fits && command.name.bytes().all(plain)).then_some(command)
    }
}
