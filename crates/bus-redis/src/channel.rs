//! The Redis channels of addresses.

use nightdesk_bus::BellAddress;

/// The channels of one cell. Two cells on one Redis do not disturb each other.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    prefix: String,
}

impl Channels {
    /// Returns the channels of a cell.
    pub(crate) fn for_cell(name: &str) -> Self {
        Self { prefix: format!("nightdesk:{name}") }
    }

    /// Returns the key of a rate limit.
    pub(crate) fn rate_limit_key(&self, key: &str) -> String {
        format!("{}:pace:{key}", self.prefix)
    }

    /// Returns the channel of an address.
    pub(crate) fn channel_of(&self, address: &BellAddress) -> String {
        let prefix = &self.prefix;
        match address {
            BellAddress::All => format!("{prefix}:all"),
            BellAddress::Node(name) => format!("{prefix}:node:{name}"),
            BellAddress::Agent(agent) => format!("{prefix}:agent:{agent}"),
            BellAddress::Chat(bot, chat) => format!("{prefix}:chat:{bot}:{chat}"),
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
        let channels = Channels::for_cell("x");
        let id = "00000000-0000-0000-0000-000000000000";
        let cases = [
            (BellAddress::All, "all".to_owned()),
            (BellAddress::Node("all".to_owned()), "node:all".to_owned()),
            (BellAddress::Agent(AgentId::from_uuid(Uuid::nil())), format!("agent:{id}")),
            (
                BellAddress::Chat(BotId::from_uuid(Uuid::nil()), "a:b".to_owned()),
                format!("chat:{id}:a:b"),
            ),
        ];
        for (address, want) in cases {
            assert_eq!(channels.channel_of(&address), format!("nightdesk:x:{want}"));
        }
    }
}
