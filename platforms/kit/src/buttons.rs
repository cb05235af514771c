//! Builds the buttons of a prompt, and reads the pressed one.

use nightdesk_port::{Bot, DeliverError};
use nightdesk_types::Send;
use nightdesk_types::event::{Message, PromptResponse};
use nightdesk_types::send::{PromptOption, STOP_BUTTON, STOP_LABEL, STOP_OPTION};
use serde_json::Value;

/// Prefix of a button's word.
const MARK: &str = "hp1";

/// Limits of a platform's buttons.
#[derive(Clone, Copy, Debug)]
pub struct ButtonLimits {
    /// Maximum buttons of one prompt.
    pub buttons_max: usize,
    /// Maximum characters of a button's label.
    pub label_chars_max: usize,
    /// Maximum bytes of a button's word.
    pub word_bytes_max: usize,
}

/// A button of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button<'o> {
    /// The data that the platform returns when the button is pressed.
    pub word: String,
    /// The visible text.
    pub label: String,
    /// The style that the agent asked for.
    pub style: Option<&'o str>,
}

impl ButtonLimits {
    /// Builds the buttons of a prompt.
    pub fn buttons<'o>(
        &self,
        prompt_id: &str,
        options: &'o [PromptOption],
    ) -> Result<Vec<Button<'o>>, DeliverError> {
        if options.len() > self.buttons_max {
            return Err(DeliverError::refused("too_many_options"));
        }
        options.iter().map(|option| self.button(prompt_id, option)).collect()
    }

    fn button<'o>(
        &self,
        prompt_id: &str,
        option: &'o PromptOption,
    ) -> Result<Button<'o>, DeliverError> {
        let word = self.word(prompt_id, &option.id);
        let word = word.ok_or_else(|| DeliverError::refused("option_not_taken"))?;
        let label: String = option.label.chars().take(self.label_chars_max).collect();
        let label = if label.trim().is_empty() { option.id.clone() } else { label };
        Ok(Button { word, label, style: option.style.as_deref() })
    }

    /// Returns the data that the platform returns when the button is pressed. `None` if the ids do not fit.
    pub fn word(&self, prompt_id: &str, option_id: &str) -> Option<String> {
        let word = format!("{MARK}:{prompt_id}:{option_id}");
        let fits = is_plain(prompt_id) && is_plain(option_id) && word.len() <= self.word_bytes_max;
        fits.then_some(word)
    }
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}

/// The stop button of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopButton<'s> {
    /// The message stays as it is.
    Unchanged,
    /// The message shows the button with this prompt.
    Shown(&'s str),
    /// The message loses its button.
    Removed,
}

impl<'s> StopButton<'s> {
    /// Returns the button that a send asks for. The operator of the bot may turn buttons off.
    pub fn of_send(bot: &Bot, send: &'s Send) -> Self {
        match send.metadata.get(STOP_BUTTON) {
            Some(Value::String(_)) if bot.settings[STOP_BUTTON] == false => Self::Unchanged,
            Some(Value::String(prompt)) => Self::Shown(prompt),
            Some(Value::Null) => Self::Removed,
            Some(_) | None => Self::Unchanged,
        }
    }

    /// Returns the options of the button's prompt.
    pub fn options() -> [PromptOption; 1] {
        [PromptOption {
            id: STOP_OPTION.to_owned(),
            label: STOP_LABEL.to_owned(),
            style: Some("danger".to_owned()),
        }]
    }
}

/// A pressed button. A client can send any data, so the adapter looks for the button in a message of the bot.
#[derive(Clone, Debug)]
pub struct PressedButton<'b> {
    /// The button's word.
    pub word: &'b str,
    /// The button's label.
    pub label: Option<String>,
    /// The id of the message with the button.
    pub message_id: String,
}

impl PressedButton<'_> {
    /// Converts the press to a message. `None` if the word is not one of a prompt.
    pub fn into_message(self) -> Option<Message> {
        let ids = self.word.strip_prefix(MARK)?.strip_prefix(':')?;
        let (prompt_id, option_id) = ids.split_once(':')?;
        Some(Message {
            text: self.label.clone().unwrap_or_default(),
            prompt_response: Some(PromptResponse {
                prompt_id: prompt_id.to_owned(),
                option_id: option_id.to_owned(),
                label: self.label,
                prompt_message_id: Some(self.message_id),
            }),
            ..Message::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ButtonLimits =
        ButtonLimits { buttons_max: 2, label_chars_max: 3, word_bytes_max: 24 };

    fn option(id: &str, label: &str) -> PromptOption {
        PromptOption { id: id.to_owned(), label: label.to_owned(), style: None }
    }

    #[test]
    fn the_word_of_a_button_comes_back() {
        let cases = [
            ("a1b2c3.d4e5f607", "yes", Some("hp1:a1b2c3.d4e5f607:yes")),
            ("a1b2c3.d4e5f607", "maybe", None),
            ("", "yes", None),
            ("a:b", "yes", None),
            ("a", "ä", None),
        ];
        for (prompt, option, want) in cases {
            let word = LIMITS.word(prompt, option);
            assert_eq!(word.as_deref(), want, "{prompt}:{option}");
            let Some(word) = word else { continue };
            let pressed = PressedButton { word: &word, label: None, message_id: "7".to_owned() };
            let response = pressed.into_message().unwrap().prompt_response.unwrap();
            assert_eq!(
                (response.prompt_id.as_str(), response.option_id.as_str()),
                (prompt, option)
            );
        }
    }

    #[test]
    fn a_foreign_word_is_no_press() {
        for word in ["", "hp1", "hp1:a", "hp2:a:b", "a:b"] {
            let pressed = PressedButton { word, label: None, message_id: "7".to_owned() };
            assert!(pressed.into_message().is_none(), "{word}");
        }
    }

    #[test]
    fn a_label_is_cut_and_never_empty() {
        let options = [option("yes", "Yesterday"), option("no", "  ")];
        let buttons = LIMITS.buttons("p", &options).unwrap();
        assert_eq!(buttons[0].label, "Yes");
        assert_eq!(buttons[1].label, "no");
        let many = [option("a", "a"), option("b", "b"), option("c", "c")];
        assert!(LIMITS.buttons("p", &many).is_err());
    }
}
