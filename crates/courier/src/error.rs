//! What a connector could not do.

use std::time::Duration;

use nightdesk_outside::CallError;

/// Why nothing was handed over, or nobody replied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectorError {
    /// It was not handed over.
    #[error("could not deliver to {agent}: {cause}")]
    DeliveryFailed {
        /// To whom.
        agent: String,
        /// Why.
        cause: Cause,
    },
    /// This connector has nothing of the kind.
    #[error("{0} is not implemented here")]
    NotImplemented(&'static str),
    /// Nobody replied in time.
    #[error("no reply within {timeout_ms} ms")]
    Timeout {
        /// So long was waited.
        timeout_ms: u64,
    },
}

impl ConnectorError {
    /// Its name in rows and for programs.
    pub const fn slug(&self) -> &'static str {
        match self {
            Self::DeliveryFailed { cause, .. } => cause.slug(),
            Self::NotImplemented(_) => "not-implemented",
            Self::Timeout { .. } => "no-reply",
        }
    }
}

/// What passes, by its names in rows and for programs.
const PASSING: [&str; 6] = ["full", "http_status", "network", "no-reply", "timeout", "too-fast"];

/// Whether what is called so may go well later.
pub fn is_passing(slug: &str) -> bool {
    PASSING.contains(&slug)
}

/// Why something was not handed over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// There is no such agent, or not for who asks.
    #[error("no such agent")]
    UnknownAgent,
    /// What was asked for cannot be: it says what to change.
    #[error("{0}")]
    Invalid(String),
    /// It may not be.
    #[error("{0}")]
    Refused(&'static str),
    /// The agent's inbox holds as much as it may.
    #[error("the agent's inbox is full; it has to take what waits for it first")]
    Full,
    /// It comes too fast.
    #[error("too many letters for now")]
    TooFast {
        /// When a next one may be sent.
        retry_after: Duration,
    },
    /// What stands between could not be reached, or broke off.
    #[error("{0}")]
    Network(String),
    /// It took too long.
    #[error("it took too long")]
    TimedOut,
    /// Whoever was called said no.
    #[error("answered with status {0}")]
    Status(u16),
}

impl Cause {
    /// Its name in rows and for programs.
    pub const fn slug(&self) -> &'static str {
        match self {
            Self::UnknownAgent => "unknown-agent",
            Self::Invalid(_) => "client_validation",
            Self::Refused(_) => "refused",
            Self::Full => "full",
            Self::TooFast { .. } => "too-fast",
            Self::Network(_) => "network",
            Self::TimedOut => "timeout",
            Self::Status(_) => "http_status",
        }
    }

    /// That it was not handed over to this one.
    pub fn to(self, agent: &str) -> ConnectorError {
        ConnectorError::DeliveryFailed { agent: agent.to_owned(), cause: self }
    }
}

impl From<CallError> for Cause {
    fn from(error: CallError) -> Self {
        match error {
            CallError::TimedOut => Self::TimedOut,
            CallError::Busy { retry_after } => Self::TooFast { retry_after },
            CallError::Refused(refused) => Self::Invalid(refused.to_string()),
            CallError::Redirected(status) => Self::Status(status),
            error @ (CallError::Unreachable(_) | CallError::Tls(_) | CallError::TooLong(_)) => {
                Self::Network(error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_said_once_for_all() {
        let wait = Duration::from_secs(1);
        let cases = [
            (Cause::UnknownAgent.to("a"), false),
            (Cause::Invalid(String::new()).to("a"), false),
            (Cause::Refused("no").to("a"), false),
            (ConnectorError::NotImplemented("wake"), false),
            (Cause::Full.to("a"), true),
            (Cause::TooFast { retry_after: wait }.to("a"), true),
            (Cause::Network(String::new()).to("a"), true),
            (Cause::TimedOut.to("a"), true),
            (Cause::Status(503).to("a"), true),
            (ConnectorError::Timeout { timeout_ms: 1 }, true),
        ];
        for (error, passes) in cases {
            assert_eq!(is_passing(error.slug()), passes, "{error}");
        }
    }
}
