//! Converts pressed buttons, and builds the data of buttons.

use nightdesk_port::ReceiveError;
use nightdesk_types::event::{self, Draft, PromptResponse};

use super::update::{CallbackQuery, Message};
use super::{Me, draft, source};

/// Prefix of the key of a press.
const KEY: &str = "c:";

/// Prefix of a button's data.
const MARK: &str = "hp1";

/// Maximum length of a button's data at Telegram.
const WORD_BYTES_MAX: usize = 64;

/// Returns the data that Telegram returns when the button is pressed. `None` if the ids do not fit.
pub(crate) fn word(prompt_id: &str, option_id: &str) -> Option<String> {
    let word = format!("{MARK}:{prompt_id}:{option_id}");
    let fits = is_plain(prompt_id) && is_plain(option_id) && word.len() <= WORD_BYTES_MAX;
    fits.then_some(word)
}

/// Converts a pressed button. A press without its message has no place, so it is skipped.
pub(super) fn event(
    me: &Me<'_>,
    platform: &str,
    query: &CallbackQuery,
) -> Result<Option<Draft>, ReceiveError> {
    let Some(message) = &query.message else { return Ok(None) };
    let response = response(me, message, query.data.as_deref().unwrap_or_default());
    let response = response.ok_or(ReceiveError::Unreadable)?;
    let said = event::Message {
        text: response.label.clone().unwrap_or_default(),
        prompt_response: Some(response),
        ..Default::default()
    };
    let source = source::of_press(platform, message, &query.from);
    Ok(Some(draft(format!("{KEY}{}", query.id), source, said)))
}

/// Returns Telegram's id of the press event with this key.
pub(crate) fn query_id(key: &str) -> Option<&str> {
    key.strip_prefix(KEY)
}

/// Returns the response of a button. A modified client can send any data, so only buttons of the bot's own messages
/// count.
fn response(me: &Me<'_>, message: &Message, data: &str) -> Option<PromptResponse> {
    message.from.as_ref().filter(|from| me.is(from.id))?;
    let mut buttons = message.reply_markup.inline_keyboard.iter().flatten();
    let button = buttons.find(|button| button.callback_data.as_deref() == Some(data))?;
    let (prompt_id, option_id) = data.strip_prefix(MARK)?.strip_prefix(':')?.split_once(':')?;
    Some(PromptResponse {
        prompt_id: prompt_id.to_owned(),
        option_id: option_id.to_owned(),
        label: Some(button.text.clone()),
        prompt_message_id: Some(message.message_id.to_string()),
    })
}

fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}
