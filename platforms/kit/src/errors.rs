//! Failures of calls to a platform, and their conversion to the errors of each interface.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use nightdesk_port::{DeliverError, FetchError, ListenError};
use reqwest::StatusCode;

/// Retry delay of a rate limit without a time.
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(1);

type BoxError = Box<dyn Error + Send + Sync>;

/// Failures of a call to a platform's API.
#[derive(Debug, thiserror::Error)]
pub enum PlatformCallError {
    /// The bot has no key, or its key has the wrong form. The call was not made.
    #[error("the bot has no key, or its key has the wrong format")]
    NoKey,
    /// A rate limit that the platform reported earlier is not over. The call was not made.
    #[error("the platform's rate limit holds the call back")]
    Held(Duration),
    /// The file of the call could not be opened. The call was not made.
    #[error("the file of the call could not be opened")]
    File(#[source] FetchError),
    /// There was no connection, so the call was not executed.
    #[error("the platform was not reached")]
    NotSent(#[source] BoxError),
    /// The call may have been executed.
    #[error("the platform's response did not arrive")]
    Unanswered(#[source] BoxError),
    /// The platform refused the call.
    #[error("the platform refused the call: {0}")]
    Refused(PlatformRefusal),
}

impl PlatformCallError {
    /// Returns the error of a response in an unknown format.
    pub fn unreadable() -> Self {
        Self::Unanswered("the response has an unexpected format".into())
    }

    /// Converts a client error. The call was certainly not executed only if there was no connection.
    pub(crate) fn from_client(error: reqwest::Error) -> Self {
        let is_not_sent = error.is_connect() || error.is_builder();
        let source = error.without_url().into();
        if is_not_sent { Self::NotSent(source) } else { Self::Unanswered(source) }
    }

    /// Returns the refusal's status, if the platform refused the call.
    pub const fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Refused(no) => Some(no.status),
            Self::NoKey
            | Self::Held(_)
            | Self::File(_)
            | Self::NotSent(_)
            | Self::Unanswered(_) => None,
        }
    }

    /// Converts the failure to fetch a file, which no longer exists if the platform answers with one of these statuses.
    pub fn into_fetch_error(self, gone: &[StatusCode]) -> FetchError {
        let is_gone = self.status().is_some_and(|status| gone.contains(&status));
        if is_gone { FetchError::Gone } else { FetchError::Unavailable(self.into()) }
    }
}

/// A refusal by a platform, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformRefusal {
    /// The HTTP status.
    pub status: StatusCode,
    /// The platform's error code, or the status without one.
    pub code: String,
    /// Retry delay, if the call was rate limited.
    pub retry_after: Duration,
    /// True if the rate limit applies to all calls of the bot.
    pub is_global: bool,
    /// True if the platform does not accept the bot's key.
    pub is_key_rejected: bool,
}

impl PlatformRefusal {
    /// Creates a refusal from the parts of a platform's response that it may lack: a proxy may have sent it.
    pub fn new(status: StatusCode, code: Option<String>, retry_after: Option<Duration>) -> Self {
        Self {
            status,
            code: code.unwrap_or_else(|| status.as_u16().to_string()),
            retry_after: retry_after.unwrap_or(RETRY_AFTER_DEFAULT),
            is_global: false,
            is_key_rejected: status == StatusCode::UNAUTHORIZED,
        }
    }

    /// Returns true if the refusal has one of these codes.
    pub fn is_one_of(&self, codes: &[&str]) -> bool {
        codes.contains(&self.code.as_str())
    }

    fn is_rate_limit(&self) -> bool {
        self.status == StatusCode::TOO_MANY_REQUESTS
    }
}

impl fmt::Display for PlatformRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code)
    }
}

impl From<PlatformCallError> for DeliverError {
    fn from(error: PlatformCallError) -> Self {
        match error {
            PlatformCallError::NoKey => Self::KeyRejected,
            PlatformCallError::Held(retry_after) => Self::RateLimited { retry_after },
            PlatformCallError::File(error) => error.into(),
            PlatformCallError::NotSent(source) => Self::Unavailable(source),
            PlatformCallError::Unanswered(source) => Self::Ambiguous(source),
            PlatformCallError::Refused(no) if no.is_rate_limit() => {
                Self::RateLimited { retry_after: no.retry_after }
            }
            PlatformCallError::Refused(no) if no.is_key_rejected => Self::KeyRejected,
            PlatformCallError::Refused(no) if no.status.is_client_error() => Self::refused(no.code),
            PlatformCallError::Refused(no) => {
                Self::Ambiguous(format!("the platform answered {}", no.status).into())
            }
        }
    }
}

impl From<PlatformCallError> for ListenError {
    fn from(error: PlatformCallError) -> Self {
        match error {
            PlatformCallError::NoKey => Self::KeyRejected,
            PlatformCallError::Held(retry_after) => Self::RateLimited { retry_after },
            PlatformCallError::NotSent(source) | PlatformCallError::Unanswered(source) => {
                Self::Unavailable(source)
            }
            PlatformCallError::Refused(no) if no.is_rate_limit() => {
                Self::RateLimited { retry_after: no.retry_after }
            }
            PlatformCallError::Refused(no) if no.is_key_rejected => Self::KeyRejected,
            PlatformCallError::File(_) | PlatformCallError::Refused(_) => {
                Self::Unavailable(error.into())
            }
        }
    }
}

/// Failures to read or change a bot's configuration at its platform.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The token does not belong to an existing bot.
    #[error("the platform does not accept this token")]
    KeyRejected,
    /// The platform refused the request, with this code.
    #[error("the platform refused the request: {0}")]
    Refused(String),
    /// The platform could not be reached, or did not respond.
    #[error("the platform did not answer")]
    Unavailable(#[source] BoxError),
}

impl From<PlatformCallError> for ConnectError {
    fn from(error: PlatformCallError) -> Self {
        match error {
            PlatformCallError::NoKey => Self::KeyRejected,
            PlatformCallError::Held(_) | PlatformCallError::File(_) => {
                Self::Unavailable(error.into())
            }
            PlatformCallError::NotSent(source) | PlatformCallError::Unanswered(source) => {
                Self::Unavailable(source)
            }
            PlatformCallError::Refused(no) if no.is_key_rejected => Self::KeyRejected,
            PlatformCallError::Refused(no) => Self::Refused(no.code),
        }
    }
}

/// Invalid configuration of a platform's addresses.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address has the wrong form.
    #[error("the address of the platform must have the form {form}")]
    Address {
        /// An address of the right form.
        form: &'static str,
    },
    /// The HTTP client could not be created.
    #[error("could not create an HTTP client for the platform")]
    Client(#[source] reqwest::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    type Make = fn() -> PlatformCallError;

    fn refusal(status: u16) -> PlatformCallError {
        let status = StatusCode::from_u16(status).unwrap();
        PlatformCallError::Refused(PlatformRefusal::new(
            status,
            Some("no".to_owned()),
            Some(Duration::from_secs(7)),
        ))
    }

    #[test]
    fn a_failed_call_is_this_error_of_each_interface() {
        const LATER: &str = "RateLimited { retry_after: 7s }";
        let unavailable = "Unavailable(";
        let cases: [(Make, [&str; 3]); 10] = [
            (|| PlatformCallError::NoKey, ["KeyRejected"; 3]),
            (
                || PlatformCallError::Held(Duration::from_secs(7)),
                [LATER, LATER, "Unavailable(Held"],
            ),
            (
                || PlatformCallError::File(FetchError::Gone),
                ["FileGone", "Unavailable(File", "Unavailable(File"],
            ),
            (|| PlatformCallError::File(FetchError::Unavailable("x".into())), [unavailable; 3]),
            (|| PlatformCallError::NotSent("x".into()), [unavailable; 3]),
            (
                || PlatformCallError::Unanswered("x".into()),
                ["Ambiguous(", unavailable, unavailable],
            ),
            (|| refusal(401), ["KeyRejected"; 3]),
            (
                || refusal(403),
                ["Refused { platform_code: \"no\" }", unavailable, "Refused(\"no\")"],
            ),
            (|| refusal(429), [LATER, LATER, "Refused(\"no\")"]),
            (|| refusal(502), ["Ambiguous(", unavailable, "Refused(\"no\")"]),
        ];
        for (error, want) in cases {
            let delivered = format!("{:?}", DeliverError::from(error()));
            let heard = format!("{:?}", ListenError::from(error()));
            let connected = format!("{:?}", ConnectError::from(error()));
            for (got, want) in [delivered, heard, connected].iter().zip(want) {
                assert!(got.starts_with(want), "{:?}: {got}", error());
            }
        }
    }

    #[test]
    fn a_file_is_gone_only_if_the_platform_says_so() {
        let gone = [StatusCode::FORBIDDEN];
        assert!(matches!(refusal(403).into_fetch_error(&gone), FetchError::Gone));
        for error in [refusal(404), PlatformCallError::NoKey, PlatformCallError::unreadable()] {
            assert!(matches!(error.into_fetch_error(&gone), FetchError::Unavailable(_)));
        }
    }
}
