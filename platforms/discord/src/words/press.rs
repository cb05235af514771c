//! Converts pressed buttons, and builds the ids of buttons.

use nightdesk_types::event::{self, PromptResponse};

use super::message::{Component, Interaction, Message};
use crate::me::Me;

/// Prefix of a button's id.
const MARK: &str = "hp1";

/// Maximum length of a button's id at Discord.
const WORD_CHARS_MAX: usize = 100;

/// Maximum nesting of a button in a message's components.
const DEPTH_MAX: usize = 4;

/// Returns the id that Discord returns when the button is pressed. `None` if the ids do not fit.
pub(crate) fn word(prompt_id: &str, option_id: &str) -> Option<String> {
    let word = format!("{MARK}:{prompt_id}:{option_id}");
    let fits = is_plain(prompt_id) && is_plain(option_id) && word.len() <= WORD_CHARS_MAX;
    fits.then_some(word)
}

/// Converts a pressed button. `None` if the button does not exist.
pub(super) fn said(me: Me, interaction: &Interaction) -> Option<event::Message> {
    let response = response(me, interaction.message.as_deref()?, &interaction.data.custom_id)?;
    Some(event::Message {
        text: response.label.clone().unwrap_or_default(),
        prompt_response: Some(response),
        ..Default::default()
    })
}

/// Returns the response of a button. Only buttons of the bot's own messages count.
fn response(me: Me, message: &Message, pressed: &str) -> Option<PromptResponse> {
    message.author.as_ref().filter(|author| me.is(author.id))?;
    let button = find(&message.components, pressed, DEPTH_MAX)?;
    let (prompt_id, option_id) = pressed.strip_prefix(MARK)?.strip_prefix(':')?.split_once(':')?;
    Some(PromptResponse {
        prompt_id: prompt_id.to_owned(),
        option_id: option_id.to_owned(),
        label: button.label.clone(),
        prompt_message_id: Some(message.id.to_string()),
    })
}

fn find<'c>(components: &'c [Component], word: &str, depth: usize) -> Option<&'c Component> {
    let depth = depth.checked_sub(1)?;
    components.iter().find_map(|one| {
        let is_it = one.custom_id.as_deref() == Some(word);
        if is_it { Some(one) } else { find(&one.components, word, depth) }
    })
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}
