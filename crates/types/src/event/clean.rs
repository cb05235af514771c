//! Cleaning of texts: what PostgreSQL or a client cannot hold is taken out.

/// Takes U+0000 out: PostgreSQL refuses it in text.
pub(super) fn without_nul(text: &mut String) {
    text.retain(|c| c != '\0');
}

/// Cleans a short text and cuts it at a character boundary; an empty one is none.
pub(super) fn cut(text: &mut Option<String>, bytes_max: usize) {
    let Some(inner) = text else { return };
    without_nul(inner);
    inner.truncate(inner.floor_char_boundary(bytes_max));
    if inner.is_empty() {
        *text = None;
    }
}
