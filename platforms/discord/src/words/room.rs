//! Room: a channel, as far as its messages do not tell of it themselves.

use serde::Deserialize;

use super::Id;

/// The kinds of channel that are threads: of announcements, public and private.
const THREADS: [u8; 3] = [10, 11, 12];

/// The kinds in which a post is a thread: forums and galleries.
const FORUMS: [u8; 2] = [15, 16];

/// A channel of a guild.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) id: Id,
    #[serde(rename = "type", default)]
    pub(crate) kind: u8,
    pub(crate) guild_id: Option<Id>,
    pub(crate) parent_id: Option<Id>,
    /// Who opened it, if it is a thread.
    pub(crate) owner_id: Option<Id>,
    pub(crate) name: Option<String>,
    pub(crate) topic: Option<String>,
}

impl Room {
    /// Whether it is a thread, and so belongs to a channel.
    pub(crate) fn is_thread(&self) -> bool {
        THREADS.contains(&self.kind)
    }

    /// Whether it has nothing but threads.
    pub(crate) fn is_forum(&self) -> bool {
        FORUMS.contains(&self.kind)
    }
}

/// Knows channels.
pub(crate) trait Rooms {
    /// What is known of a channel.
    fn room(&self, id: Id) -> Option<Room>;
}

/// Knows none.
pub(crate) struct NoRooms;

impl Rooms for NoRooms {
    fn room(&self, _id: Id) -> Option<Room> {
        None
    }
}
