//! Faults: how the fake misbehaves on command.

use std::time::Duration;

use serde_json::Value;

/// A misbehaviour, for so many calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// At which method; at any if it is empty. `push` is a webhook's.
    pub method: String,
    /// How often.
    pub times: usize,
    /// How.
    pub kind: Kind,
}

/// How it misbehaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Says no, and does nothing.
    Refuse {
        /// The status.
        status: u16,
        /// What it says.
        description: String,
        /// After how long to come again.
        retry_after: Option<u64>,
    },
    /// Hangs up, and does nothing.
    HangUp,
    /// Does it, and hangs up.
    DoAndHangUp,
    /// Is silent for so long, and hangs up.
    Silence(Duration),
    /// Answers with something that is not of the Bot API.
    Garbage,
    /// Tells updates again that were confirmed, or posts them twice.
    Repeat,
    /// Posts up to forty updates at a time, the last first.
    OutOfOrder,
}

impl Fault {
    /// A fault at a method.
    pub fn at(method: &str, times: usize, kind: Kind) -> Self {
        Self { method: method.to_owned(), times, kind }
    }

    /// The limit: so many calls are told to come again later.
    pub fn too_many(method: &str, times: usize, retry_after: u64) -> Self {
        let description = format!("Too Many Requests: retry after {retry_after}");
        let kind = Kind::Refuse { status: 429, description, retry_after: Some(retry_after) };
        Self::at(method, times, kind)
    }

    /// A plain no.
    pub fn refuse(method: &str, times: usize, status: u16, description: &str) -> Self {
        let description = description.to_owned();
        Self::at(method, times, Kind::Refuse { status, description, retry_after: None })
    }

    /// Reads one that a program asked for.
    pub(super) fn read(asked: &Value) -> Option<Self> {
        let text = |name: &str| asked[name].as_str().unwrap_or_default().to_owned();
        let kind = match asked["kind"].as_str()? {
            "refuse" => Kind::Refuse {
                status: u16::try_from(asked["status"].as_u64()?).ok()?,
                description: text("description"),
                retry_after: asked["retry_after"].as_u64(),
            },
            "hang_up" => Kind::HangUp,
            "do_and_hang_up" => Kind::DoAndHangUp,
            "silence" => Kind::Silence(Duration::from_millis(asked["ms"].as_u64()?)),
            "garbage" => Kind::Garbage,
            "repeat" => Kind::Repeat,
            "out_of_order" => Kind::OutOfOrder,
            _ => return None,
        };
        let times = usize::try_from(asked["times"].as_u64().unwrap_or(1)).ok()?;
        Some(Self { method: text("method"), times, kind })
    }
}

/// Takes one misbehaviour out of those that are due for a method.
pub(super) fn take(faults: &mut Vec<Fault>, method: &str) -> Option<Kind> {
    let due = |fault: &&mut Fault| fault.method.is_empty() || fault.method == method;
    let fault = faults.iter_mut().find(due)?;
    let kind = fault.kind.clone();
    fault.times = fault.times.saturating_sub(1);
    faults.retain(|fault| fault.times > 0);
    Some(kind)
}
