//! Converts an agent's Markdown to a fixed set of HTML.
//!
//! Raw HTML becomes text and images become links. A link with another scheme than those of the web and of mail becomes
//! text.

use pulldown_cmark::{
    CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream, html,
};

/// Allowed schemes of a link.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// Converts an agent's text to HTML.
pub(crate) fn render(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut chosen = HtmlFilter::default();
    let events = TextMergeStream::new(Parser::new_ext(text, options));
    let events = events.map(|event| chosen.filter_event(event));
    let mut out = String::with_capacity(text.len() * 2);
    html::push_html(&mut out, events);
    out
}

/// Converts a visitor's text to HTML, line by line, with links.
pub(crate) fn render_plain(text: &str) -> String {
    let lines = text.split('\n').map(link_addresses);
    format!("<p>{}</p>", lines.collect::<Vec<_>>().join("<br>"))
}

/// Open tags that affect the next events.
#[derive(Default)]
struct HtmlFilter {
    /// For each open link or image, true if it is a link on the page.
    links: Vec<bool>,
    in_code: bool,
}

impl HtmlFilter {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the library's own markup is safe, and it may add kinds of it"
    )]
    fn filter_event<'a>(&mut self, event: Event<'a>) -> Event<'a> {
        match event {
            Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
            Event::Text(text) if !self.in_code && self.links.is_empty() => {
                Event::InlineHtml(link_addresses(&text).into())
            }
            // In a chat a line end is intended.
            Event::SoftBreak => Event::HardBreak,
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                self.open_link(&dest_url)
            }
            Event::End(TagEnd::Link | TagEnd::Image) => self.close_link(),
            Event::Start(Tag::CodeBlock(kind)) => {
                self.in_code = true;
                Event::Start(Tag::CodeBlock(kind))
            }
            Event::End(TagEnd::CodeBlock) => {
                self.in_code = false;
                Event::End(TagEnd::CodeBlock)
            }
            // Headings of a message are below the page's own headings.
            Event::Start(Tag::Heading { level, classes, .. }) => Event::Start(Tag::Heading {
                level: below_page(level),
                id: None,
                classes,
                attrs: Vec::new(),
            }),
            Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(below_page(level))),
            other => other,
        }
    }

    fn open_link<'a>(&mut self, url: &str) -> Event<'a> {
        // A link inside a link, such as an image's, becomes its text.
        let opening = self.links.iter().all(|open| !open).then(|| link_tag(url)).flatten();
        self.links.push(opening.is_some());
        Event::InlineHtml(opening.map_or(CowStr::Borrowed(""), CowStr::from))
    }

    fn close_link<'a>(&mut self) -> Event<'a> {
        let open = self.links.pop().unwrap_or(false);
        Event::InlineHtml(CowStr::Borrowed(if open { "</a>" } else { "" }))
    }
}

fn below_page(level: HeadingLevel) -> HeadingLevel {
    if level <= HeadingLevel::H2 { HeadingLevel::H3 } else { HeadingLevel::H4 }
}

fn link_tag(url: &str) -> Option<String> {
    is_safe(url).then(|| {
        let url = escape_html(url);
        format!(r#"<a href="{url}" rel="noopener noreferrer nofollow" target="_blank">"#)
    })
}

fn is_safe(url: &str) -> bool {
    let begins = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
    };
    SCHEMES.iter().any(|scheme| begins(scheme)) && !url.chars().any(char::is_control)
}

/// Converts plain text to HTML and turns addresses into links.
fn link_addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((before, address, after)) = next_address(rest) {
        out += &escape_html(before);
        out += &link_tag(address).unwrap_or_default();
        out += &escape_html(address);
        out += "</a>";
        rest = after;
    }
    out + &escape_html(rest)
}

/// Returns the first address in a text, with the text before and after it.
fn next_address(text: &str) -> Option<(&str, &str, &str)> {
    let begins = |scheme: &str| text.find(scheme);
    let at = [begins("https://"), begins("http://")].into_iter().flatten().min()?;
    let (before, from) = text.split_at(at);
    let ends = |c: char| c.is_whitespace() || c.is_control() || "<>\"`".contains(c);
    let (address, _) = from.split_at(from.find(ends).unwrap_or(from.len()));
    // Punctuation at the end of a sentence is not part of the address.
    let address =
        address.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'', '*', '_']);
    Some((before, address, &from[address.len()..]))
}

fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
