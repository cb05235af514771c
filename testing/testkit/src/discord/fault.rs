//! Faults: how the fake misbehaves on command.

use std::time::Duration;

use serde_json::Value;

/// A misbehaviour, for so many times.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Where: a call as [`Called::route`](super::Called::route) writes it, `gateway`, or anywhere in the
    /// API if it is empty.
    pub at: String,
    /// How often.
    pub times: usize,
    /// How.
    pub kind: Kind,
}

/// Where a fault of the gateway is.
const GATEWAY: &str = "gateway";

/// How it misbehaves.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A call: says no, and does nothing.
    Refuse {
        /// The status.
        status: u16,
        /// Discord's own code of what is wrong.
        code: u32,
    },
    /// A call: is told to come again later.
    TooMany {
        /// After how many seconds.
        retry_after: f64,
        /// Whether that is so for all calls.
        global: bool,
    },
    /// A call: hangs up, and does nothing.
    HangUp,
    /// A call: does it, and hangs up.
    DoAndHangUp,
    /// A call: waits for so long before it does it.
    Slow(Duration),
    /// A call: answers with something that is not of the API.
    Garbage,
    /// A socket: is opened, and hears nothing.
    NoHello,
    /// A heartbeat: is not acknowledged.
    NoAck,
    /// A connection to the resume URL: ends at once.
    DeadResumeUrl,
    /// A dispatch: is lost, and its number with it.
    Gap,
    /// A dispatch: is sent twice.
    Repeat,
    /// An IDENTIFY: is answered by closing with this code.
    CloseAtIdentify(u16),
    /// A RESUME: is answered by closing with this code.
    CloseAtResume(u16),
    /// A RESUME: is answered with Invalid Session.
    InvalidAtResume(bool),
}

impl Fault {
    /// A fault of the gateway.
    pub fn gateway(times: usize, kind: Kind) -> Self {
        Self { at: GATEWAY.to_owned(), times, kind }
    }

    /// A fault at a call, such as `POST /channels/{}/messages`.
    pub fn at(route: &str, times: usize, kind: Kind) -> Self {
        Self { at: route.to_owned(), times, kind }
    }

    /// Reads one that a program asked for.
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

/// Takes one misbehaviour out of those that are due, if it is one of those wanted.
fn take(faults: &mut Vec<Fault>, is_due: impl Fn(&Fault) -> bool) -> Option<Kind> {
    let fault = faults.iter_mut().find(|fault| is_due(fault))?;
    let kind = fault.kind.clone();
    fault.times = fault.times.saturating_sub(1);
    faults.retain(|fault| fault.times > 0);
    Some(kind)
}

/// What goes wrong with a call.
pub(super) fn at_call(faults: &mut Vec<Fault>, route: &str) -> Option<Kind> {
    take(faults, |fault| fault.kind.is_of_calls() && (fault.at.is_empty() || fault.at == route))
}

/// What goes wrong in the gateway, if it is one of these.
pub(super) fn at_gateway(faults: &mut Vec<Fault>, is_one: impl Fn(&Kind) -> bool) -> Option<Kind> {
    take(faults, |fault| fault.at == GATEWAY && is_one(&fault.kind))
}
