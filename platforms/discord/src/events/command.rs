//! Converts commands, and extracts the token to answer them.

use std::time::Duration;

use nightdesk_port::Capability;
use nightdesk_types::event::{self, MessageKind};
use nightdesk_vault::Key;
use serde_json::Value;

use super::message::{CommandOption, Interaction};

/// Capability kind of an interaction token.
const INTERACTION_TOKEN: &str = "discord.interaction_token";

/// Validity of the token: Discord gives 15 minutes, of which the desk's processing takes a little.
const GOOD_FOR: Duration = Duration::from_mins(14);

/// Maximum nesting: a group, a command within it, and its options.
const DEPTH_MAX: usize = 3;

/// Maximum options at one level, as at Discord.
const OPTIONS_MAX: usize = 25;

/// Maximum length of a token.
const TOKEN_BYTES_MAX: usize = 512;

/// Returns a command as people would type it: its name and its options. `None` if it has no name.
pub(super) fn command_message(interaction: &Interaction) -> Option<event::Message> {
    let given = &interaction.data;
    let mut words = vec![format!("/{}", Some(given.name.trim()).filter(|name| !name.is_empty())?)];
    collect_words(&given.options, DEPTH_MAX, &mut words);
    Some(event::Message {
        text: words.join(" "),
        kind: MessageKind::Command,
        // A command is always addressed to the bot.
        mentions_bot: true,
        ..Default::default()
    })
}

fn collect_words(options: &[CommandOption], depth: usize, words: &mut Vec<String>) {
    if depth == 0 {
        return;
    }
    for option in options.iter().take(OPTIONS_MAX) {
        match &option.value {
            // A subcommand.
            Value::Null => {
                words.push(option.name.clone());
                collect_words(&option.options, depth - 1, words);
            }
            Value::String(text) => words.push(text.clone()),
            value @ (Value::Bool(_) | Value::Number(_)) => words.push(value.to_string()),
            Value::Array(_) | Value::Object(_) => {}
        }
    }
}

/// Returns the capability to answer an interaction.
pub(super) fn interaction_capability(interaction: &Interaction) -> Option<Capability> {
    let token = &interaction.token;
    let is_one = is_token(token);
    is_one.then(|| Capability {
        kind: INTERACTION_TOKEN.to_owned(),
        secret: Key::new(token.clone()),
        good_for: GOOD_FOR,
    })
}

/// Returns true if the text has a token's format, so that it cannot change the path of a URL.
pub(crate) fn is_token(token: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
    !token.is_empty() && token.len() <= TOKEN_BYTES_MAX && token.bytes().all(is_plain)
}
