//! Limits outgoing texts, and repairs escapes that Python writes.

/// Truncates a text at a character boundary.
pub(crate) fn cut(text: impl Into<String>, bytes_max: usize) -> String {
    let mut text = text.into();
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

/// Returns the line with each lone surrogate replaced, if there is one.
///
/// Python texts may contain half a surrogate pair, for example from a terminal, and Python writes it as an escape. It
/// is not valid Unicode, but not a reason to lose a whole frame.
pub(crate) fn without_lone_surrogates(line: &[u8]) -> Option<Vec<u8>> {
    let mut repaired = None;
    let mut at = 0;
    while at < line.len() {
        at += match (line[at], escaped_unit(&line[at..])) {
            (_, Some(0xD800..=0xDBFF)) if is_low(escaped_unit(&line[at + ESCAPE_BYTES..])) => {
                2 * ESCAPE_BYTES
            }
            (_, Some(0xD800..=0xDFFF)) => {
                let copy = repaired.get_or_insert_with(|| line.to_vec());
                copy[at..at + ESCAPE_BYTES].copy_from_slice(br"\uFFFD");
                ESCAPE_BYTES
            }
            (_, Some(_)) => ESCAPE_BYTES,
            // Two bytes, so that the second backslash of a pair begins no escape.
            (b'\\', None) => 2,
            (_, None) => 1,
        };
    }
    repaired
}

const ESCAPE_BYTES: usize = br"\uFFFD".len();

/// Returns the UTF-16 code unit that is escaped at the start of the text.
fn escaped_unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(br"\u")?.get(..4)?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

const fn is_low(unit: Option<u16>) -> bool {
    matches!(unit, Some(0xDC00..=0xDFFF))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_only_what_is_no_unicode() {
        let cases = [
            (r#""plain""#, None),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud800""#, None),
            (r#""\ud800""#, Some(r#""\uFFFD""#)),
            (r#""\udc00 x""#, Some(r#""\uFFFD x""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\uFFFD\ud83d\ude00""#)),
            (r#""\\\ud800""#, Some(r#""\\\uFFFD""#)),
            (r#""\ud8"#, None),
            (r#""\ud800\"#, Some(r#""\uFFFD\"#)),
        ];
        for (line, want) in cases {
            let repaired = without_lone_surrogates(line.as_bytes());
            assert_eq!(repaired.as_deref(), want.map(str::as_bytes), "{line}");
        }
    }
}
