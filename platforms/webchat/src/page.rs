//! Renders the page of a chat on the server.

use askama::Template;
use jiff::tz::TimeZone;
use nightdesk_port::Bot;
use nightdesk_types::Timestamp;
use nightdesk_types::limits::{CHAT_STATUS_SHOWN, CHAT_TEXT_CHARS_MAX};
use nightdesk_types::send::WAKING;
use serde::Serialize;

use crate::assets::ASSETS;
use crate::button::Press;
use crate::markdown;
use crate::settings::BotFace;
use crate::store::{ChatLine, ChatStatus, LineAuthor};

/// A page of a chat.
#[derive(Debug, Template)]
#[template(path = "page.html")]
pub struct Page<'a> {
    /// The bot's title and greeting.
    pub face: BotFace,
    /// The bot's path.
    pub path: &'a str,
    /// Number of the last change that is shown.
    pub head: i64,
    /// The lines in display order.
    pub lines: Vec<Item>,
    /// The agent's status.
    pub status: StatusView,
    /// A notice for the visitor.
    pub notice: Option<VisitorNotice>,
    /// The visitor's text that could not be sent.
    pub unsent: &'a str,
    /// The nonce of the next message, for a page without a script.
    pub nonce: String,
}

/// A notice for a visitor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VisitorNotice {
    /// The text.
    pub text: String,
    /// The visitor's code, if it is of use.
    pub code: Option<String>,
}

impl VisitorNotice {
    /// Creates a notice with a text only.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: None }
    }
}

/// The page for an address that does not exist or is unavailable.
#[derive(Debug, Template)]
#[template(path = "elsewhere.html")]
pub struct UnavailablePage<'a> {
    /// The problem.
    pub title: &'a str,
    /// Advice for the visitor.
    pub text: &'a str,
}

/// A line that is ready to be shown.
#[derive(Debug, Template)]
#[template(path = "line.html")]
pub struct Item {
    message: String,
    author: &'static str,
    who: String,
    nonce: String,
    at: String,
    clock: String,
    html: String,
    buttons: Vec<PageButton>,
    edited: bool,
    deleted: bool,
    path: String,
}

#[derive(Debug)]
struct PageButton {
    label: String,
    value: String,
}

impl Item {
    /// Creates a line of this visitor's chat.
    pub fn from_line(bot: &Bot, visitor: &str, path: &str, line: &ChatLine) -> Self {
        let (author, who, html) = match line.author {
            LineAuthor::Visitor => {
                ("visitor", "You".to_owned(), markdown::render_plain(&line.text))
            }
            LineAuthor::Agent => {
                ("agent", BotFace::from_bot(bot).title, markdown::render(&line.text))
            }
        };
        Self {
            message: line.message.to_string(),
            author,
            who,
            nonce: line.nonce.clone().unwrap_or_default(),
            at: format!("{:.3}", line.at),
            clock: clock_text(line.at),
            html,
            buttons: buttons(bot, visitor, line),
            edited: line.edited,
            deleted: line.deleted,
            path: path.to_owned(),
        }
    }

    /// Creates the template line that the page's script fills for an unsent message.
    fn blank() -> Self {
        Self {
            message: String::new(),
            author: "visitor",
            who: "You".to_owned(),
            nonce: String::new(),
            at: String::new(),
            clock: String::new(),
            html: String::new(),
            buttons: Vec::new(),
            edited: false,
            deleted: false,
            path: String::new(),
        }
    }

    /// Returns the line as an event of the stream.
    pub fn to_event(&self) -> String {
        let news = LineNews { item: self.to_string() };
        serde_json::to_string(&news).unwrap_or_default()
    }
}

#[derive(Serialize)]
struct LineNews {
    item: String,
}

fn buttons(bot: &Bot, visitor: &str, line: &ChatLine) -> Vec<PageButton> {
    let Some(prompt) = &line.prompt else { return Vec::new() };
    let button = |option: &nightdesk_types::send::PromptOption| {
        let press = Press {
            prompt_id: prompt.id.clone(),
            option_id: option.id.clone(),
            label: option.label.clone(),
        };
        Some(PageButton { label: press.label.clone(), value: press.sign(bot, visitor)? })
    };
    prompt.options.iter().filter_map(button).collect()
}

fn clock_text(at: Timestamp) -> String {
    at.to_zoned(TimeZone::UTC).strftime("%H:%M UTC").to_string()
}

/// A status, while it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StatusView {
    /// The text, or `None` if no status is shown.
    pub text: Option<String>,
    /// Remaining time, or `None` if it is shown until it is replaced.
    pub left_ms: Option<u64>,
}

impl StatusView {
    /// Returns the visible part of a status.
    pub fn from_status(status: Option<&ChatStatus>) -> Self {
        let Some(status) = status else { return Self::default() };
        if status.text == WAKING {
            return Self { text: Some(status.text.clone()), left_ms: None };
        }
        let left = CHAT_STATUS_SHOWN.saturating_sub(status.stood);
        if left.is_zero() {
            return Self::default();
        }
        let left_ms = u64::try_from(left.as_millis()).ok();
        Self { text: Some(status.text.clone()), left_ms }
    }

    /// Returns the status as an event of the stream.
    pub fn to_event(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
