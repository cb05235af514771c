//! Converts an agent's Markdown to Telegram's dialect.
//!
//! Agents write common Markdown. Telegram's dialect has no headings, lists or tables, rejects a text with one unescaped
//! full stop, and uses other marks. Therefore every text is parsed and written anew.
//!
//! The output is always well-formed, and only markup is lost.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd, TextMergeStream};

mod writer;

use writer::{MarkdownWriter, TextMark};

/// Converts an agent's text to Telegram's `MarkdownV2`.
pub(crate) fn render(text: &str) -> String {
    let mut writer = MarkdownWriter::default();
    for event in TextMergeStream::new(Parser::new_ext(text, Options::ENABLE_STRIKETHROUGH)) {
        write(&mut writer, event);
    }
    writer.finish()
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest is of extensions that are off; it has no words of its own"
)]
fn write(writer: &mut MarkdownWriter, event: Event<'_>) {
    match event {
        Event::Text(text) => writer.text(&text),
        Event::Html(raw) | Event::InlineHtml(raw) => writer.text(&raw),
        Event::Code(code) => writer.code(&code),
        Event::SoftBreak | Event::HardBreak => writer.line_end(),
        Event::Rule => {
            writer.text("———");
            writer.blocks_end();
        }
        Event::Start(tag) => start(writer, tag),
        Event::End(tag) => end(writer, tag),
        _ => {}
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "as above")]
fn start(writer: &mut MarkdownWriter, tag: Tag<'_>) {
    match tag {
        Tag::Heading { .. } | Tag::Strong => writer.open(TextMark::Bold),
        Tag::Emphasis => writer.open(TextMark::Italic),
        Tag::Strikethrough => writer.open(TextMark::Strike),
        Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => writer.open_link(&dest_url),
        Tag::CodeBlock(kind) => writer.open_block(match &kind {
            CodeBlockKind::Fenced(language) => language,
            CodeBlockKind::Indented => "",
        }),
        Tag::BlockQuote(_) => writer.open_quote(),
        Tag::List(first) => writer.open_list(first),
        Tag::Item => writer.open_item(),
        _ => {}
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "as above")]
fn end(writer: &mut MarkdownWriter, tag: TagEnd) {
    match tag {
        TagEnd::Heading(_) => {
            writer.close(TextMark::Bold);
            writer.blocks_end();
        }
        TagEnd::Strong => writer.close(TextMark::Bold),
        TagEnd::Emphasis => writer.close(TextMark::Italic),
        TagEnd::Strikethrough => writer.close(TextMark::Strike),
        TagEnd::Link | TagEnd::Image => writer.close_link(),
        TagEnd::CodeBlock => writer.close_block(),
        TagEnd::BlockQuote(_) => writer.close_quote(),
        TagEnd::List(_) => writer.close_list(),
        TagEnd::Item => writer.close_item(),
        TagEnd::Paragraph | TagEnd::HtmlBlock => writer.blocks_end(),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
