//! The status of the line, for display.

use std::time::Duration;

use nightdesk_protocol::close::Close;

/// The status of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// A dial is in progress, or a line is open and the desk has not answered every hello.
    Dialling,
    /// The line is open: entries arrive, sends go out.
    Live,
    /// There is no line; the next dial follows automatically.
    Resting {
        /// The reason that there is none.
        why: Trouble,
        /// The length of the rest.
        rest_for: Duration,
    },
    /// The agent is over; nothing happens automatically any more.
    Over(AgentEnd),
}

/// The reason that there is no line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// The desk could not be reached, or the server that answered is no desk.
    #[error("the desk cannot be reached ({0}); check the URL and the network")]
    Unreachable(String),
    /// The desk answered the dial with another HTTP status than 101.
    #[error("the desk refused the line with HTTP status {status}{}", what_to_do(*.status))]
    Refused {
        /// The status.
        status: u16,
    },
    /// The line was open, and ended with this close code.
    #[error("the line ended with code {code}{}", describe_code(*.code))]
    Ended {
        /// The code.
        code: u16,
    },
    /// The line was open, and the desk gave no sign of life for too long.
    #[error("the desk stopped responding")]
    Silent,
    /// The line was open, and the desk did not answer every hello in time.
    #[error("the desk did not answer every hello; is it a Nightdesk?")]
    NotGreeted,
    /// The desk delivered more entries than its window allows.
    #[error("the desk delivered more entries than its window allows")]
    Flooded,
}

impl Trouble {
    /// Returns true if a newer line of the same agent ended this one.
    pub const fn is_replacement(&self) -> bool {
        matches!(self, Self::Ended { code } if *code == Close::Replaced.code())
    }
}

/// The end of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentEnd {
    /// The agent hung up.
    Disconnected,
    /// The agent went idle.
    Idle(Idle),
    /// The agent fell asleep: it had no work in hand, and none arrived for the time in its settings. New entries wait
    /// at the desk. Connect again to wake up.
    Asleep,
    /// The gateway was revoked, and a second dial proved it.
    Revoked,
}

/// The result of going idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// The desk confirmed it, every turn ended, and the line is closed.
    Settled,
    /// At the timeout the desk had not answered, or a turn was still running. The line is closed all the same; unacked
    /// entries are still in the inbox.
    CutShort,
}

impl Idle {
    pub(crate) const fn from_settled(settled: bool) -> Self {
        if settled { Self::Settled } else { Self::CutShort }
    }
}

const fn what_to_do(status: u16) -> &'static str {
    match status {
        401 | 403 => "; check the gateway's name and secret, and this machine's clock",
        404 => "; check the path of the URL",
        429 => "; too many dials with a bad secret; wait",
        503 => "; the desk cannot check credentials at the moment",
        _ => "",
    }
}

fn describe_code(code: u16) -> String {
    match Close::from_code(code) {
        Some(Close::Replaced) => " (another process took over as this gateway)".to_owned(),
        Some(close) => format!(" ({})", close.reason()),
        None => String::new(),
    }
}
