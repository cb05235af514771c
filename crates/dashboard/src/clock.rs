//! Times on pages.

use nightdesk_office::ago;
use nightdesk_types::Timestamp;

/// Formats times relative to the moment at which a page is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageClock {
    now: Timestamp,
}

impl PageClock {
    pub(crate) const fn new(now: Timestamp) -> Self {
        Self { now }
    }

    /// Returns a time as an element with relative text. Its title has the whole time.
    pub(crate) fn show(&self, at: &str) -> String {
        let Ok(time) = at.parse::<Timestamp>() else { return String::new() };
        let text = ago(time, self.now);
        let full = time.strftime("%Y-%m-%d %H:%M:%S UTC");
        format!("<time datetime=\"{time}\" title=\"{full}\">{text}</time>")
    }

    /// Splits a text at the times that are words of it.
    pub(crate) fn parts(&self, text: &str) -> Vec<TextPart> {
        let mut parts = vec![TextPart::default()];
        for word in text.split_inclusive(' ') {
            let time = word.trim_end_matches([' ', ':', ',', '.']);
            let shown = self.show(time);
            let last = parts.len() - 1;
            if shown.is_empty() {
                parts[last].plain.push_str(word);
            } else {
                parts[last].time = shown;
                parts.push(TextPart { plain: word[time.len()..].to_owned(), ..<_>::default() });
            }
        }
        parts
    }
}

/// A part of a text: words, and the time after them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TextPart {
    pub(crate) plain: String,
    /// An element, or nothing.
    pub(crate) time: String,
}

/// Returns the date of a time.
pub(crate) fn date_of(at: &str) -> &str {
    at.split('T').next().unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_an_element_with_relative_text() {
        let clock = PageClock::new("2026-01-01T00:02:00Z".parse().unwrap());

        assert_eq!(
            clock.show("2026-01-01T00:00:00Z"),
            "<time datetime=\"2026-01-01T00:00:00Z\" title=\"2026-01-01 00:00:00 UTC\">2 min ago</time>"
        );
        assert_eq!(clock.show("<b>"), "", "only a time is shown");
    }

    #[test]
    fn a_time_within_a_text_is_relative() {
        let clock = PageClock::new("2026-01-01T00:02:00Z".parse().unwrap());

        let parts = clock.parts("interrupted since 2026-01-01T00:00:00Z: <b> 5");
        assert_eq!((parts.len(), parts[0].plain.as_str()), (2, "interrupted since "));
        assert!(parts[0].time.contains(">2 min ago<"), "{parts:?}");
        assert_eq!(parts[1], TextPart { plain: ": <b> 5".to_owned(), time: String::new() });
        assert_eq!(clock.parts("never")[0].plain, "never");
    }
}
