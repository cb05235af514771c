//! Title and greeting of a bot's page.

use nightdesk_port::Bot;
use serde::Deserialize;

const TITLE_CHARS_MAX: usize = 60;
const GREETING_CHARS_MAX: usize = 400;

/// The page's part of a bot's settings.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PageSettings {
    title: Option<String>,
    greeting: Option<String>,
}

/// A bot's presentation on an empty page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotFace {
    /// The bot's title.
    pub title: String,
    /// The greeting for a new visitor.
    pub greeting: String,
}

impl BotFace {
    /// Returns the presentation of a bot. Invalid settings are ignored.
    pub fn from_bot(bot: &Bot) -> Self {
        let PageSettings { title, greeting } =
            PageSettings::deserialize(&bot.settings).unwrap_or_default();
        let title = title.unwrap_or_else(|| bot.handle.clone());
        let greeting = greeting.unwrap_or_else(|| "How can I help?".to_owned());
        Self { title: cut(&title, TITLE_CHARS_MAX), greeting: cut(&greeting, GREETING_CHARS_MAX) }
    }

    /// Returns the letter of the bot's picture.
    pub fn initial(&self) -> String {
        let letter = self.title.chars().find(|c| c.is_alphanumeric());
        letter.map_or_else(|| "·".to_owned(), |letter| letter.to_uppercase().collect())
    }
}

fn cut(text: &str, chars_max: usize) -> String {
    text.trim().chars().take(chars_max).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::bot;

    #[test]
    fn a_bot_has_a_face_whatever_its_settings_are() {
        let cases = [
            ("none", json!({}), "owl", "O"),
            ("a title", json!({ "title": " élan " }), "élan", "É"),
            ("an odd title", json!({ "title": 7 }), "owl", "O"),
            ("not an object", json!("owl"), "owl", "O"),
            ("nothing to write", json!({ "title": "🦉" }), "🦉", "·"),
        ];
        for (name, settings, title, initial) in cases {
            let face = BotFace::from_bot(&Bot { settings, ..bot() });
            assert_eq!((face.title.as_str(), face.initial().as_str()), (title, initial), "{name}");
        }
    }
}
