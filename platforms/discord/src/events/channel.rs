//! A channel's data that its messages do not contain.

use serde::Deserialize;

use crate::id::Id;

/// Channel types of threads: announcement, public and private.
const THREADS: [u8; 3] = [10, 11, 12];

/// Channel types in which a post is a thread: forums and media channels.
const FORUMS: [u8; 2] = [15, 16];

/// A channel of a guild.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct DiscordChannel {
    pub(crate) id: Id,
    #[serde(rename = "type", default)]
    pub(crate) kind: u8,
    pub(crate) guild_id: Option<Id>,
    pub(crate) parent_id: Option<Id>,
    /// The person who created the thread.
    pub(crate) owner_id: Option<Id>,
    pub(crate) name: Option<String>,
    pub(crate) topic: Option<String>,
}

impl DiscordChannel {
    /// Returns true if it is a thread, which belongs to a channel.
    pub(crate) fn is_thread(&self) -> bool {
        THREADS.contains(&self.kind)
    }

    /// Returns true if it contains only threads.
    pub(crate) fn is_forum(&self) -> bool {
        FORUMS.contains(&self.kind)
    }
}

/// A source of channels.
pub(crate) trait ChannelLookup {
    /// Returns a known channel.
    fn find_channel(&self, id: Id) -> Option<DiscordChannel>;
}

/// Knows no channels.
pub(crate) struct NoChannels;

impl ChannelLookup for NoChannels {
    fn find_channel(&self, _id: Id) -> Option<DiscordChannel> {
        None
    }
}
