//! Converts pressed buttons.

use nightdesk_kit::buttons::{ButtonLimits, PressedButton};
use nightdesk_types::event;

use super::message::{Component, Interaction};
use crate::own_ids::OwnIds;

/// Discord's limits of buttons.
pub(crate) const BUTTONS: ButtonLimits =
    ButtonLimits { buttons_max: 25, label_chars_max: 80, word_bytes_max: 100 };

/// Maximum nesting of a button in a message's components.
const DEPTH_MAX: usize = 4;

/// Converts a pressed button. `None` if the button does not exist. Only buttons of the bot's own messages count.
pub(super) fn press_message(me: OwnIds, interaction: &Interaction) -> Option<event::Message> {
    let (message, word) = (interaction.message.as_deref()?, &interaction.data.custom_id);
    message.author.as_ref().filter(|author| me.is_own_account(author.id))?;
    let label = find_button(&message.components, word, DEPTH_MAX)?.label.clone();
    PressedButton { word, label, message_id: message.id.to_string() }.into_message()
}

fn find_button<'c>(components: &'c [Component], word: &str, depth: usize) -> Option<&'c Component> {
    let depth = depth.checked_sub(1)?;
    components.iter().find_map(|one| {
        let is_it = one.custom_id.as_deref() == Some(word);
        if is_it { Some(one) } else { find_button(&one.components, word, depth) }
    })
}
