//! Defines the faults of the fake.

use std::time::Duration;

use serde_json::Value;

/// A fault that happens a number of times.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Place: a call as [`Called::route`](super::Called::route) writes it, `gateway`, or any call of the API if it is
    /// empty.
    pub at: String,
    /// Number of times.
    pub times: usize,
    /// Kind of the fault.
    pub kind: Kind,
}

/// Place of a gateway fault.
const GATEWAY: &str = "gateway";

/// Kind of a fault.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A call: is refused and not executed.
    Refuse {
        /// The status.
        status: u16,
        /// Discord's own error code.
        code: u32,
    },
    /// A call: is refused with a rate limit.
    TooMany {
        /// Seconds until the retry.
        retry_after: f64,
        /// True if the limit holds for all calls.
        global: bool,
    },
    /// A call: is not executed, and the connection closes.
    HangUp,
    /// A call: is executed, and the connection closes.
    DoAndHangUp,
    /// A call: is executed after this delay.
    Slow(Duration),
    /// A call: gets a response that is not of the API.
    Garbage,
    /// A socket: is opened, and gets no hello.
    NoHello,
    /// A heartbeat: is not acknowledged.
    NoAck,
    /// A connection to the resume URL: ends at once.
    DeadResumeUrl,
    /// A dispatch: is lost together with its sequence number.
    Gap,
    /// A dispatch: is sent twice.
    Repeat,
    /// An IDENTIFY: the socket is closed with this code.
    CloseAtIdentify(u16),
    /// A RESUME: the socket is closed with this code.
    CloseAtResume(u16),
    /// A RESUME: is answered with Invalid Session.
    InvalidAtResume(bool),
}

impl Fault {
    /// Returns a fault of the gateway.
    pub fn gateway(times: usize, kind: Kind) -> Self {
        Self { at: GATEWAY.to_owned(), times, kind }
    }

    /// Returns a fault of a call, such as `POST /channels/{}/messages`.
    pub fn at(route: &str, times: usize, kind: Kind) -> Self {
        Self { at: route.to_owned(), times, kind }
    }

    /// Parses a fault from a program's request.
    pub(super) fn read(asked: &Value) -> Option<Self> {
        let times = usize::try_from(asked["times"].as_u64().unwrap_or(1)).ok()?;
        let kind = Kind::read(asked)?;
        let at = if kind.is_of_calls() { asked["at"].as_str().unwrap_or("") } else { GATEWAY };
        Some(Self { at: at.to_owned(), times, kind })
    }
}

impl Kind {
    fn read(asked: &Value) -> Option<Self> {
        let code = || u16::try_from(asked["code"].as_u64()?).ok();
        Some(match asked["kind"].as_str()? {
            "refuse" => Self::Refuse {
                status: u16::try_from(asked["status"].as_u64()?).ok()?,
                code: u32::try_from(asked["code"].as_u64().unwrap_or(0)).ok()?,
            },
            "too_many" => Self::TooMany {
                retry_after: asked["retry_after"].as_f64()?,
                global: asked["global"] == true,
            },
            "hang_up" => Self::HangUp,
            "do_and_hang_up" => Self::DoAndHangUp,
            "slow" => Self::Slow(Duration::from_millis(asked["ms"].as_u64()?)),
            "garbage" => Self::Garbage,
            "no_hello" => Self::NoHello,
            "no_ack" => Self::NoAck,
            "dead_resume_url" => Self::DeadResumeUrl,
            "gap" => Self::Gap,
            "repeat" => Self::Repeat,
            "close_at_identify" => Self::CloseAtIdentify(code()?),
            "close_at_resume" => Self::CloseAtResume(code()?),
            "invalid_at_resume" => Self::InvalidAtResume(asked["resumable"] == true),
            _ => return None,
        })
    }

    fn is_of_calls(&self) -> bool {
        match self {
            Self::Refuse { .. }
            | Self::TooMany { .. }
            | Self::HangUp
            | Self::DoAndHangUp
            | Self::Slow(_)
            | Self::Garbage => true,
            Self::NoHello
            | Self::NoAck
            | Self::DeadResumeUrl
            | Self::Gap
            | Self::Repeat
            | Self::CloseAtIdentify(_)
            | Self::CloseAtResume(_)
            | Self::InvalidAtResume(_) => false,
        }
    }
}

/// Takes one due fault that matches, and counts it down.
fn take(faults: &mut Vec<Fault>, is_due: impl Fn(&Fault) -> bool) -> Option<Kind> {
    let fault = faults.iter_mut().find(|fault| is_due(fault))?;
    let kind = fault.kind.clone();
    fault.times = fault.times.saturating_sub(1);
    faults.retain(|fault| fault.times > 0);
    Some(kind)
}

/// Returns the fault of a call.
pub(super) fn at_call(faults: &mut Vec<Fault>, route: &str) -> Option<Kind> {
    take(faults, |fault| fault.kind.is_of_calls() && (fault.at.is_empty() || fault.at == route))
}

/// Returns the fault of the gateway, if it matches.
pub(super) fn at_gateway(faults: &mut Vec<Fault>, is_one: impl Fn(&Kind) -> bool) -> Option<Kind> {
    take(faults, |fault| fault.at == GATEWAY && is_one(&fault.kind))
}
