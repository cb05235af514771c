//! A signed button of a prompt, so that a visitor can press only the buttons of their own page.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nightdesk_port::Bot;
use serde::{Deserialize, Serialize};

use crate::session::{signing_key, verify_signature};

/// Prefix of the signed text, so that no other signature of the key is accepted.
const SIGNED_AS: &str = "nightdesk webchat button";

/// The content of a press.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Press {
    /// The client's id of the prompt.
    pub prompt_id: String,
    /// The client's id of the option.
    pub option_id: String,
    /// The button's label.
    pub label: String,
}

impl Press {
    /// Returns the button's value on this visitor's page.
    pub fn sign(&self, bot: &Bot, visitor: &str) -> Option<String> {
        let said = URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).ok()?);
        let signature = hmac::sign(&signing_key(bot)?, &signed_text(bot, visitor, &said));
        Some(format!("{said}.{}", hex::encode(signature)))
    }

    /// Parses a value, if it was signed for this visitor.
    pub fn verify(bot: &Bot, visitor: &str, value: &str) -> Option<Self> {
        let (said, signature) = value.split_once('.')?;
        let signature = hex::decode(signature).ok()?;
        verify_signature(bot, &signed_text(bot, visitor, said), &signature)?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(said).ok()?).ok()
    }
}

fn signed_text(bot: &Bot, visitor: &str, said: &str) -> Vec<u8> {
    format!("{SIGNED_AS}\n{}\n{visitor}\n{said}", bot.id).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{bot, keyed, other_bot};

    #[test]
    fn a_button_is_pressed_only_by_who_was_shown_it() {
        let press = Press {
            prompt_id: "p".to_owned(),
            option_id: "yes".to_owned(),
            label: "Yes".to_owned(),
        };
        let value = press.sign(&bot(), "ann").unwrap();

        assert_eq!(Press::verify(&bot(), "ann", &value), Some(press));
        assert_eq!(Press::verify(&bot(), "bob", &value), None, "another visitor");
        assert_eq!(Press::verify(&other_bot(), "ann", &value), None, "another bot");
        assert_eq!(Press::verify(&keyed("other"), "ann", &value), None, "another key");
        let (said, _) = value.split_once('.').unwrap();
        for forged in [said.to_owned(), format!("{said}."), format!("x{value}"), String::new()] {
            assert_eq!(Press::verify(&bot(), "ann", &forged), None, "{forged}");
        }
    }
}
