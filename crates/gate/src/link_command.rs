//! Commands of people to the desk itself.
//!
//! Such a message is never forwarded: a code must stay secret, and its author need not reach any agent.

use nightdesk_intake::VerifiedEvent;
use nightdesk_types::event::{ChatType, Content, Source};

/// A person's command to the desk, in a direct message.
#[derive(Debug)]
pub struct ChatLinkCommand<'e> {
    event: &'e VerifiedEvent,
    author: &'e str,
    /// The link code, which proves that the agent belongs to the person.
    pub code: &'e str,
}

impl<'e> ChatLinkCommand<'e> {
    /// Returns the command in an event, if it contains one.
    pub fn from_event(event: &'e VerifiedEvent) -> Option<Self> {
        let source = event.get().source();
        let Content::Message(message) = event.get().content() else { return None };
        let is_said = source.chat_type == ChatType::Dm && !source.is_bot && !message.is_edit;
        let author = source.user_id.as_deref().filter(|_| is_said)?;
        Some(Self { event, author, code: code_in(&message.text)? })
    }

    /// Returns the bot that received it.
    pub const fn bot(&self) -> nightdesk_types::BotId {
        self.event.bot()
    }

    /// Returns the author's id, which the platform vouches for.
    pub const fn author(&self) -> &'e str {
        self.author
    }

    /// Returns the source, to which the response goes.
    pub fn source(&self) -> &'e Source {
        self.event.get().source()
    }
}

/// Returns the code in `/link CODE`. Without a code it is an ordinary message.
fn code_in(text: &str) -> Option<&str> {
    let (command, code) = text.trim().split_once(char::is_whitespace)?;
    // Some platforms add the bot's name: `/link@desk_bot`.
    let (command, _) = command.split_once('@').unwrap_or((command, ""));
    command.eq_ignore_ascii_case("/link").then(|| code.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_what_follows_the_command() {
        let cases = [
            ("/link AB12C-DE34F", Some("AB12C-DE34F")),
            ("  /LINK   ab12c de34f ", Some("ab12c de34f")),
            ("/link@desk_bot AB", Some("AB")),
            ("/link", None),
            ("/link ", None),
            ("/linker AB", None),
            ("please /link AB", None),
            ("link AB", None),
            ("", None),
        ];
        for (text, code) in cases {
            assert_eq!(code_in(text), code, "{text:?}");
        }
    }
}
