//! Command: a command that was given, and what Discord lends us to answer it.

use std::time::Duration;

use nightdesk_port::Capability;
use nightdesk_types::event::{self, MessageKind};
use nightdesk_vault::Key;
use serde_json::Value;

use super::message::{Choice, Interaction};

/// What the token of an interaction is called.
const INTERACTION_TOKEN: &str = "discord.interaction_token";

/// How long it is good: Discord gives a quarter of an hour, of which our way takes a little.
const GOOD_FOR: Duration = Duration::from_mins(14);

/// How deep a command goes: a group, a command within it, and what is filled in.
const DEPTH_MAX: usize = 3;

/// What is filled in at one depth. Discord has no more.
const OPTIONS_MAX: usize = 25;

/// The longest token that is one.
const TOKEN_BYTES_MAX: usize = 512;

/// A command as people would type it: its name, and what was filled in. `None`: it has no name.
pub(super) fn said(interaction: &Interaction) -> Option<event::Message> {
    let given = &interaction.data;
    let mut words = vec![format!("/{}", Some(given.name.trim()).filter(|name| !name.is_empty())?)];
    fill(&given.options, DEPTH_MAX, &mut words);
    Some(event::Message {
        text: words.join(" "),
        kind: MessageKind::Command,
        // It can be given to nobody else.
        mentions_bot: true,
        ..Default::default()
    })
}

fn fill(options: &[Choice], depth: usize, words: &mut Vec<String>) {
    if depth == 0 {
        return;
    }
    for option in options.iter().take(OPTIONS_MAX) {
        match &option.value {
            // A command within a command.
            Value::Null => {
                words.push(option.name.clone());
                fill(&option.options, depth - 1, words);
            }
            Value::String(text) => words.push(text.clone()),
            value @ (Value::Bool(_) | Value::Number(_)) => words.push(value.to_string()),
            Value::Array(_) | Value::Object(_) => {}
        }
    }
}

/// What we may answer an interaction with.
pub(super) fn capability(interaction: &Interaction) -> Option<Capability> {
    let token = &interaction.token;
    let is_one = is_token(token);
    is_one.then(|| Capability {
        kind: INTERACTION_TOKEN.to_owned(),
        secret: Key::new(token.clone()),
        good_for: GOOD_FOR,
    })
}

/// Whether it is of a token's form, so that it cannot lead anywhere else in an address.
pub(crate) fn is_token(token: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
    !token.is_empty() && token.len() <= TOKEN_BYTES_MAX && token.bytes().all(is_plain)
}
