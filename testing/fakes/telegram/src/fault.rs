//! Defines the faults of the fake.

use std::time::Duration;

use serde_json::Value;

/// A fault that happens for a number of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Name of the method; any method if it is empty. `push` stands for the webhook.
    pub method: String,
    /// Number of times.
    pub times: usize,
    /// Kind of the fault.
    pub kind: Kind,
}

/// Kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Refuses the call and does not execute it.
    Refuse {
        /// The status.
        status: u16,
        /// The description.
        description: String,
        /// Seconds until the retry.
        retry_after: Option<u64>,
    },
    /// Closes the connection and does not execute the call.
    HangUp,
    /// Executes the call and closes the connection.
    DoAndHangUp,
    /// Sends nothing for this time, and closes the connection.
    Silence(Duration),
    /// Returns a response that is not of the Bot API.
    Garbage,
    /// Returns confirmed updates again, or posts updates twice.
    Repeat,
    /// Posts up to forty updates at a time, the last first.
    OutOfOrder,
}

impl Fault {
    /// Returns a fault of a method.
    pub fn at(method: &str, times: usize, kind: Kind) -> Self {
        Self { method: method.to_owned(), times, kind }
    }

    /// Returns a rate limit for this many calls.
    pub fn too_many(method: &str, times: usize, retry_after: u64) -> Self {
        let description = format!("Too Many Requests: retry after {retry_after}");
        let kind = Kind::Refuse { status: 429, description, retry_after: Some(retry_after) };
        Self::at(method, times, kind)
    }

    /// Returns a plain refusal.
    pub fn refuse(method: &str, times: usize, status: u16, description: &str) -> Self {
        let description = description.to_owned();
        Self::at(method, times, Kind::Refuse { status, description, retry_after: None })
    }

    /// Parses a fault from a program's request.
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

/// Takes one due fault of a method, and counts it down.
pub(super) fn take(faults: &mut Vec<Fault>, method: &str) -> Option<Kind> {
    let due = |fault: &&mut Fault| fault.method.is_empty() || fault.method == method;
    let fault = faults.iter_mut().find(due)?;
    let kind = fault.kind.clone();
    fault.times = fault.times.saturating_sub(1);
    faults.retain(|fault| fault.times > 0);
    Some(kind)
}
