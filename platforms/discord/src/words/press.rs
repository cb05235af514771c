//! Press: a button that was pressed, and the word that goes round with it.

use nightdesk_types::event::{self, PromptResponse};

use super::message::{Component, Interaction, Message};
use crate::me::Me;

/// What the word of a button begins with.
const MARK: &str = "hp1";

/// How long it may be; Discord takes no more.
const WORD_CHARS_MAX: usize = 100;

/// How deep a button stands in what Discord shows.
const DEPTH_MAX: usize = 4;

/// The word that comes back when a button is pressed. `None`: its ids do not fit.
pub(crate) fn word(prompt_id: &str, option_id: &str) -> Option<String> {
    let word = format!("{MARK}:{prompt_id}:{option_id}");
    let fits = is_plain(prompt_id) && is_plain(option_id) && word.len() <= WORD_CHARS_MAX;
    fits.then_some(word)
}

/// A pressed button. `None`: there is no such button.
pub(super) fn said(me: Me, interaction: &Interaction) -> Option<event::Message> {
    let response = response(me, interaction.message.as_deref()?, &interaction.data.custom_id)?;
    Some(event::Message {
        text: response.label.clone().unwrap_or_default(),
        prompt_response: Some(response),
        ..Default::default()
    })
}

/// Which button it was. Only one counts that our own message has.
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
