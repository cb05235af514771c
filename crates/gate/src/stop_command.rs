//! Commands of people that stop a running turn of their agent.
//!
//! Such a message is not forwarded: the desk sends the stop to the agent's line in the form that its client understands.

use nightdesk_types::Event;
use nightdesk_types::event::{Content, Message};
use nightdesk_types::limits::STOP_WORD_CHARS_MAX;
use nightdesk_types::send::{STOP_OPTION, STOP_PROMPT};

/// A person's command to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatStopCommand {
    /// The form of the command.
    pub form: StopForm,
    /// True if the entries of the chat that wait for a sleeping agent are set aside, too.
    pub drops_waiting: bool,
}

/// The form of a person's command to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopForm {
    /// `/stop`.
    Command,
    /// The word that the bot's operator configured.
    Word,
    /// The button under a running answer.
    Button,
}

impl ChatStopCommand {
    /// Returns the command in an event, if it is one. `word` is the bot's own word.
    pub fn from_event(event: &Event, word: Option<&StopWord>) -> Option<Self> {
        let source = event.source();
        let Content::Message(message) = event.content() else { return None };
        let is_said = !source.is_bot && !message.is_edit && source.user_id.is_some();
        if !is_said {
            return None;
        }
        if is_button(message) {
            return Some(Self { form: StopForm::Button, drops_waiting: false });
        }
        // The answer to another prompt is for its agent, whatever its text is.
        if message.prompt_response.is_some() {
            return None;
        }
        Self::from_text(&message.text, word)
    }

    fn from_text(text: &str, word: Option<&StopWord>) -> Option<Self> {
        let (said, drops_waiting) = match text.trim().rsplit_once(char::is_whitespace) {
            Some((before, last)) if last.eq_ignore_ascii_case(ALL) => (before.trim_end(), true),
            Some(_) | None => (text.trim(), false),
        };
        // Some platforms add the bot's name: `/stop@desk_bot`.
        let (command, _) = said.split_once('@').unwrap_or((said, ""));
        if command.eq_ignore_ascii_case(COMMAND) {
            return Some(Self { form: StopForm::Command, drops_waiting });
        }
        let is_word = word.is_some_and(|word| word.0 == said.to_lowercase());
        is_word.then_some(Self { form: StopForm::Word, drops_waiting })
    }
}

/// The command.
const COMMAND: &str = "/stop";

/// The word after the command that also sets waiting entries aside.
const ALL: &str = "all";

fn is_button(message: &Message) -> bool {
    let press = message.prompt_response.as_ref();
    press.is_some_and(|press| {
        press.prompt_id.starts_with(STOP_PROMPT) && press.option_id == STOP_OPTION
    })
}

/// A word of a bot that stops a turn as `/stop` does, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopWord(String);

impl StopWord {
    /// Accepts a short text.
    pub fn new(word: &str) -> Option<Self> {
        let word = word.trim().to_lowercase();
        let fits = (1..=STOP_WORD_CHARS_MAX).contains(&word.chars().count());
        fits.then_some(Self(word))
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::event::{Draft, PromptResponse, Source};

    use super::*;

    fn event(source: Source, message: Message) -> Event {
        let content = Content::Message(Box::new(message));
        Event::normalise(Draft { key: "k".to_owned(), source, content }).unwrap()
    }

    fn source() -> Source {
        Source {
            platform: "discord".to_owned(),
            chat_id: "c1".to_owned(),
            user_id: Some("u1".to_owned()),
            ..Source::default()
        }
    }

    fn said(text: &str) -> Message {
        Message { text: text.to_owned(), ..Message::default() }
    }

    #[test]
    fn a_stop_is_the_whole_message() {
        let word = StopWord::new(" Halt ");
        let stop = |form, drops_waiting| Some(ChatStopCommand { form, drops_waiting });
        let cases = [
            ("/stop", stop(StopForm::Command, false)),
            ("  /STOP ", stop(StopForm::Command, false)),
            ("/stop@desk_bot", stop(StopForm::Command, false)),
            ("/stop all", stop(StopForm::Command, true)),
            ("/stop@desk_bot  All", stop(StopForm::Command, true)),
            ("halt", stop(StopForm::Word, false)),
            ("HALT all", stop(StopForm::Word, true)),
            ("halt!", None),
            ("halt now", None),
            ("/stop it", None),
            ("please /stop", None),
            ("/stopped", None),
            ("all", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let event = event(source(), said(text));
            assert_eq!(ChatStopCommand::from_event(&event, word.as_ref()), expected, "{text:?}");
        }
        let halt = event(source(), said("halt"));
        assert_eq!(ChatStopCommand::from_event(&halt, None), None, "the bot has no word");
    }

    #[test]
    fn only_a_persons_own_message_stops() {
        let cases = [
            ("a bot", Source { is_bot: true, ..source() }, said("/stop")),
            ("nobody", Source { user_id: None, ..source() }, said("/stop")),
            ("an edit", source(), Message { is_edit: true, ..said("/stop") }),
        ];
        for (name, source, message) in cases {
            assert_eq!(ChatStopCommand::from_event(&event(source, message), None), None, "{name}");
        }
    }

    #[test]
    fn only_the_desks_own_button_stops() {
        let press = |prompt: &str, option: &str| {
            let press = PromptResponse {
                prompt_id: prompt.to_owned(),
                option_id: option.to_owned(),
                ..PromptResponse::default()
            };
            let message = Message { prompt_response: Some(press), ..said("/stop") };
            ChatStopCommand::from_event(&event(source(), message), None).map(|stop| stop.form)
        };

        assert_eq!(press("stop.0a1b", "stop"), Some(StopForm::Button));
        assert_eq!(press("stop.0a1b", "yes"), None);
        assert_eq!(press("p1", "stop"), None);
    }

    #[test]
    fn a_word_is_short_and_not_empty() {
        let longest = "ä".repeat(STOP_WORD_CHARS_MAX);

        assert!(StopWord::new(&longest).is_some());
        assert!(StopWord::new(&format!("{longest}a")).is_none());
        assert!(StopWord::new("  ").is_none());
    }
}
