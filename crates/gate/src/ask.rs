//! Ask: what a person says to the desk itself.
//!
//! It is never handed over: a code is nobody's to read, and no agent need be reached by who links one.

use nightdesk_intake::Verified;
use nightdesk_types::Event;
use nightdesk_types::event::{ChatType, Content, Source};

/// Something a person asks of the desk, in a direct message.
#[derive(Debug)]
pub struct Ask<'e> {
    event: &'e Verified<Event>,
    author: &'e str,
    /// The code with which they show which agent is theirs.
    pub code: &'e str,
}

impl<'e> Ask<'e> {
    /// What an event asks of the desk, if it does.
    pub fn of(event: &'e Verified<Event>) -> Option<Self> {
        let source = event.get().source();
        let Content::Message(message) = event.get().content() else { return None };
        let is_said = source.chat_type == ChatType::Dm && !source.is_bot && !message.is_edit;
        let author = source.user_id.as_deref().filter(|_| is_said)?;
        Some(Self { event, author, code: code_in(&message.text)? })
    }

    /// Through which bot it came.
    pub const fn bot(&self) -> nightdesk_types::BotId {
        self.event.bot()
    }

    /// Who asks, by the id that the platform vouches for.
    pub const fn author(&self) -> &'e str {
        self.author
    }

    /// Where they asked, and are answered.
    pub fn source(&self) -> &'e Source {
        self.event.get().source()
    }
}

/// The code in `/link CODE`. Without one it is a command like any other.
fn code_in(text: &str) -> Option<&str> {
    let (command, code) = text.trim().split_once(char::is_whitespace)?;
    // Some platforms add whose command it is: `/link@desk_bot`.
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
