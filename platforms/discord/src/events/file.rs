//! References to the files of messages.

use crate::id::Id;

const ATTACHED: &str = "discord-file:";
const STICKER: &str = "discord-sticker:";

/// A reference to a file, which only the bot's key can resolve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileRef {
    /// A file of a message.
    Attached { channel: Id, message: Id, file: Id },
    /// A sticker's picture, by its file name.
    Sticker(String),
}

impl FileRef {
    /// Parses the format of [`FileRef::to_reference`].
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(name) = text.strip_prefix(STICKER) {
            let (id, ending) = name.split_once('.')?;
            let is_plain = Id::parse(id).is_some() && ["png", "gif", "json"].contains(&ending);
            return is_plain.then(|| Self::Sticker(name.to_owned()));
        }
        let mut ids = text.strip_prefix(ATTACHED)?.split('/').map(Id::parse);
        let [channel, message, file] = [ids.next()??, ids.next()??, ids.next()??];
        ids.next().is_none().then_some(Self::Attached { channel, message, file })
    }

    pub(crate) fn to_reference(&self) -> String {
        match self {
            Self::Attached { channel, message, file } => {
                format!("{ATTACHED}{channel}/{message}/{file}")
            }
            Self::Sticker(name) => format!("{STICKER}{name}"),
        }
    }
}
