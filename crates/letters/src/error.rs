//! Errors of connectors.

use std::time::Duration;

use nightdesk_outside::CallError;

/// The reason why a letter was not delivered or not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectorError {
    /// The letter was not delivered.
    #[error("could not deliver to {agent}: {cause}")]
    DeliveryFailed {
        /// The recipient.
        agent: String,
        /// The cause.
        cause: FailureCause,
    },
    /// The connector does not have this method.
    #[error("{0} is not implemented by this connector")]
    NotImplemented(&'static str),
    /// No reply came in time.
    #[error("no reply within {timeout_ms} ms")]
    Timeout {
        /// The time limit.
        timeout_ms: u64,
    },
}

impl ConnectorError {
    /// Returns the name in rows and for programs.
    pub const fn slug(&self) -> &'static str {
        match self {
            Self::DeliveryFailed { cause, .. } => cause.slug(),
            Self::NotImplemented(_) => "not-implemented",
            Self::Timeout { .. } => "no-reply",
        }
    }
}

/// Names of the temporary errors.
const PASSING: [&str; 6] = ["full", "http_status", "network", "no-reply", "timeout", "too-fast"];

/// Returns true if a later try may succeed after the error with this name.
pub fn is_temporary(slug: &str) -> bool {
    PASSING.contains(&slug)
}

/// The reason why a letter was not delivered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FailureCause {
    /// There is no such agent, or the sender may not address it.
    #[error("no such agent")]
    UnknownAgent,
    /// The request is invalid. The text says what to change.
    #[error("{0}")]
    Invalid(String),
    /// The request is not allowed.
    #[error("{0}")]
    Refused(&'static str),
    /// The agent's inbox is at its quota.
    #[error("the agent's inbox is full; retry after the agent has acknowledged entries")]
    Full,
    /// The sender is over its rate limit.
    #[error("too many letters; retry later")]
    TooFast {
        /// The time until the next letter may be sent.
        retry_after: Duration,
    },
    /// The connection failed or broke.
    #[error("{0}")]
    Network(String),
    /// The call timed out.
    #[error("the call took too long")]
    TimedOut,
    /// The server returned an error status.
    #[error("answered with status {0}")]
    Status(u16),
}

impl FailureCause {
    /// Returns the name in rows and for programs.
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

    /// Returns the error of a delivery to this agent.
    pub fn into_error(self, agent: &str) -> ConnectorError {
        ConnectorError::DeliveryFailed { agent: agent.to_owned(), cause: self }
    }
}

impl From<CallError> for FailureCause {
    fn from(error: CallError) -> Self {
        match error {
            CallError::TimedOut => Self::TimedOut,
            CallError::Busy { retry_after } => Self::TooFast { retry_after },
            CallError::Refused(refused) => Self::Invalid(refused.to_string()),
            CallError::Redirected(status) => Self::Status(status),
            error @ (CallError::Unreachable(_)
            | CallError::BrokeOff(_)
            | CallError::Tls(_)
            | CallError::TooLong(_)
            | CallError::Withdrawn) => Self::Network(error.to_string()),
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
            (FailureCause::UnknownAgent.into_error("a"), false),
            (FailureCause::Invalid(String::new()).into_error("a"), false),
            (FailureCause::Refused("no").into_error("a"), false),
            (ConnectorError::NotImplemented("wake"), false),
            (FailureCause::Full.into_error("a"), true),
            (FailureCause::TooFast { retry_after: wait }.into_error("a"), true),
            (FailureCause::Network(String::new()).into_error("a"), true),
            (FailureCause::TimedOut.into_error("a"), true),
            (FailureCause::Status(503).into_error("a"), true),
            (ConnectorError::Timeout { timeout_ms: 1 }, true),
        ];
        for (error, passes) in cases {
            assert_eq!(is_temporary(error.slug()), passes, "{error}");
        }
    }
}
