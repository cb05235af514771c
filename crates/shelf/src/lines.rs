//! Splits a text into lines with any kind of line end.

/// A line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextLine<'a> {
    /// Offset of the line.
    pub(crate) at: usize,
    /// The line without its end.
    pub(crate) text: &'a str,
}

/// Returns the lines of a text, which end with LF, CR LF or CR. The rest after the last end is a line, too, even if it
/// is empty.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = TextLine<'_>> {
    let mut rest = Some(0);
    std::iter::from_fn(move || {
        let at = rest?;
        let tail = &text[at..];
        let Some(end) = tail.find(['\n', '\r']) else {
            rest = None;
            return Some(TextLine { at, text: tail });
        };
        let ends_with = if tail[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = Some(at + end + ends_with);
        Some(TextLine { at, text: &tail[..end] })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_in_three_ways() {
        let found: Vec<_> = lines("a\nb\r\nc\rd\n\n").map(|line| (line.at, line.text)).collect();

        assert_eq!(found, [(0, "a"), (2, "b"), (5, "c"), (7, "d"), (9, ""), (10, "")]);
        assert_eq!(lines("").count(), 1);
    }
}
