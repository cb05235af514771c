//! Settings: how a bot's page presents itself.

use nightdesk_port::Bot;
use serde::Deserialize;

const TITLE_CHARS_MAX: usize = 60;
const GREETING_CHARS_MAX: usize = 400;

/// What stands in a bot's settings.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Settings {
    title: Option<String>,
    greeting: Option<String>,
}

/// What people see of a bot before it says anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Face {
    /// What it is called.
    pub title: String,
    /// What it says to who comes for the first time.
    pub greeting: String,
}

impl Face {
    /// The face of a bot. Settings that do not fit are none.
    pub fn of(bot: &Bot) -> Self {
        let Settings { title, greeting } = Settings::deserialize(&bot.settings).unwrap_or_default();
        let title = title.unwrap_or_else(|| bot.handle.clone());
        let greeting = greeting.unwrap_or_else(|| "How can I help?".to_owned());
        Self { title: cut(&title, TITLE_CHARS_MAX), greeting: cut(&greeting, GREETING_CHARS_MAX) }
    }

    /// The letter that stands for it.
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
            let face = Face::of(&Bot { settings, ..bot() });
            assert_eq!((face.title.as_str(), face.initial().as_str()), (title, initial), "{name}");
        }
    }
}
