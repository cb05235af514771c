//! Converts pressed buttons, and builds the data of buttons.

use nightdesk_kit::buttons::{ButtonLimits, PressedButton};
use nightdesk_kit::content::message_draft;
use nightdesk_port::ReceiveError;
use nightdesk_types::event::Draft;

use super::update::{CallbackQuery, TelegramMessage};
use super::{OwnAccount, source};

/// Prefix of the key of a press.
const KEY: &str = "c:";

/// Telegram's limits of buttons.
pub(crate) const BUTTONS: ButtonLimits =
    ButtonLimits { buttons_max: 12, label_chars_max: 64, word_bytes_max: 64 };

/// Converts a pressed button. A press without its message has no place, so it is skipped.
pub(super) fn convert_press(
    me: &OwnAccount<'_>,
    platform: &str,
    query: &CallbackQuery,
) -> Result<Option<Draft>, ReceiveError> {
    let Some(message) = &query.message else { return Ok(None) };
    let said = find_button(me, message, query.data.as_deref().unwrap_or_default());
    let said = said.and_then(PressedButton::into_message).ok_or(ReceiveError::Unreadable)?;
    let source = source::press_source(platform, message, &query.from);
    Ok(Some(message_draft(format!("{KEY}{}", query.id), source, said)))
}

/// Returns Telegram's id of the press event with this key.
pub(crate) fn query_id(key: &str) -> Option<&str> {
    key.strip_prefix(KEY)
}

/// Returns the button with this data. A modified client can send any data, so only buttons of the bot's own messages
/// count.
fn find_button<'d>(
    me: &OwnAccount<'_>,
    message: &TelegramMessage,
    data: &'d str,
) -> Option<PressedButton<'d>> {
    message.from.as_ref().filter(|from| me.is_own_id(from.id))?;
    let mut buttons = message.reply_markup.inline_keyboard.iter().flatten();
    let button = buttons.find(|button| button.callback_data.as_deref() == Some(data))?;
    let message_id = message.message_id.to_string();
    Some(PressedButton { word: data, label: Some(button.text.clone()), message_id })
}
