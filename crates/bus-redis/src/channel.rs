//! The Redis channels of addresses.

use nightdesk_bus::Address;

/// The channels of one cell. Two cells on one Redis do not disturb each other.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    prefix: String,
}

impl Channels {
    /// Returns the channels of a cell.
    pub(crate) fn of_cell(name: &str) -> Self {
        Self { prefix: format!("nightdesk:{name}") }
    }

    /// Returns the key of a rate limit.
    pub(crate) fn pace(&self, key: &str) -> String {
        format!("{}:pace:{key}", self.prefix)
    }

    /// Returns the channel of an address.
    pub(crate) fn at(&self, address: &Address) -> String {
        let prefix = &self.prefix;
        match address {
            Address::All => format!("{prefix}:all"),
            Address::Node(name) => format!("{prefix}:node:{name}"),
            Address::Agent(agent) => format!("{prefix}:agent:{agent}"),
            Address::Chat(bot, chat) => format!("{prefix}:chat:{bot}:{chat}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::{AgentId, BotId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn every_address_has_a_channel_of_its_own() {
        let channels = Channels::of_cell("x");
        let id = "00000000-0000-0000-0000-000000000000";
        let cases = [
            (Address::All, "all".to_owned()),
            (Address::Node("all".to_owned()), "node:all".to_owned()),
            (Address::Agent(AgentId::from_uuid(Uuid::nil())), format!("agent:{id}")),
            (
                Address::Chat(BotId::from_uuid(Uuid::nil()), "a:b".to_owned()),
                format!("chat:{id}:a:b"),
            ),
        ];
        for (address, want) in cases {
            assert_eq!(channels.at(&address), format!("nightdesk:x:{want}"));
        }
    }
}
