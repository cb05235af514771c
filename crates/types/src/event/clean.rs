//! Removes characters from texts that PostgreSQL or a client cannot store.

/// Removes U+0000, which PostgreSQL refuses in text.
pub(super) fn without_nul(text: &mut String) {
    text.retain(|c| c != '\0');
}

/// Cleans a short text and cuts it at a character boundary. An empty text becomes `None`.
pub(super) fn cut(text: &mut Option<String>, bytes_max: usize) {
    let Some(inner) = text else { return };
    without_nul(inner);
    inner.truncate(inner.floor_char_boundary(bytes_max));
    if inner.is_empty() {
        *text = None;
    }
}
