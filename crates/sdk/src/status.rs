//! Status: how it stands with the line, for whoever wants to show it.

use std::time::Duration;

use nightdesk_protocol::close::Close;

/// How it stands with the line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// A dial is under way, or a line is open and the desk has not answered every hello.
    Dialling,
    /// The line is open: entries come, sends go.
    Live,
    /// There is no line; the next dial comes by itself.
    Resting {
        /// Why there is none.
        why: Trouble,
        /// How long the rest lasts.
        rest_for: Duration,
    },
    /// It is over; nothing comes by itself any more.
    Over(End),
}

/// Why there is no line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// The desk could not be reached, or what answered is no desk.
    #[error("the desk cannot be reached ({0}); check the URL and the network")]
    Unreachable(String),
    /// The desk answered the dial with another HTTP status than 101.
    #[error("the desk refused the line with HTTP status {status}{}", what_to_do(*.status))]
    Refused {
        /// The status.
        status: u16,
    },
    /// The line was open, and ended with this close code.
    #[error("the line ended with code {code}{}", meaning(*.code))]
    Ended {
        /// The code.
        code: u16,
    },
    /// The line was open, and the desk gave no sign of life for too long.
    #[error("the desk fell silent")]
    Silent,
    /// The line was open, and the desk did not answer every hello in time.
    #[error("the desk did not answer every hello; is it a Nightdesk?")]
    NotGreeted,
    /// The desk handed over more than anybody could hold.
    #[error("the desk handed over more than its window")]
    Flooded,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// The agent hung up.
    Disconnected,
    /// The agent went idle.
    Idle(Idle),
    /// The agent fell asleep: it had nothing in hand, and nothing came for as long as its
    /// settings say. What comes now waits at the desk. Connect anew to wake up.
    Asleep,
    /// The gateway was revoked, and a second dial proved it.
    Revoked,
}

/// What came of going idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// The desk knows, every turn was brought to its end, and the line is closed.
    Settled,
    /// The desk did not answer, or a turn was still running, when the time was over. The line
    /// is closed all the same; what was not acknowledged is still in the inbox.
    CutShort,
}

impl Idle {
    pub(crate) const fn of(settled: bool) -> Self {
        if settled { Self::Settled } else { Self::CutShort }
    }
}

const fn what_to_do(status: u16) -> &'static str {
    match status {
        401 | 403 => "; check the gateway's name and secret, and this machine's clock",
        404 => "; check the path of the URL",
        429 => "; it was dialled with a bad secret too often",
        503 => "; it cannot tell just now who we are",
        _ => "",
    }
}

fn meaning(code: u16) -> String {
    match Close::of_code(code) {
        Some(Close::Replaced) => " (another process took over as this gateway)".to_owned(),
        Some(close) => format!(" ({})", close.reason()),
        None => String::new(),
    }
}
