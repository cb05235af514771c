//! Checks texts of agents before a call.

use nightdesk_port::DeliverError;

/// Returns the text of a message without the characters that platforms reject. An empty text is refused.
pub fn message_text(content: &str) -> Result<String, DeliverError> {
    let text = content.replace('\0', "");
    if text.trim().is_empty() { Err(DeliverError::refused("empty")) } else { Ok(text) }
}

/// Returns the name of a thread, cut to its maximum length. An empty name is refused.
pub fn thread_name(name: &str, chars_max: usize) -> Result<String, DeliverError> {
    let name: String = name.trim().chars().take(chars_max).collect();
    if name.is_empty() { Err(DeliverError::refused("empty")) } else { Ok(name) }
}
