//! Call: what is asked of somebody outside, and what came of it.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use nightdesk_types::limits::OUTSIDE_CALL_WAIT;
use secrecy::SecretString;

use crate::refused::Refused;
use crate::tenant_url::TenantUrl;

/// One request to a URL that a tenant named.
#[derive(Debug)]
pub struct Call<'a> {
    /// Where to.
    pub url: &'a TenantUrl,
    /// How.
    pub method: Method,
    /// What it shows for itself, as `Authorization: Bearer`.
    pub bearer: Option<&'a SecretString>,
    /// What proves its body, as `X-Signature`.
    pub signature: Option<&'a str>,
    /// What it says, as JSON.
    pub body: Option<Bytes>,
}

/// The methods that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Asks for something.
    Get,
    /// Says something.
    Post,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status; never one that points elsewhere (3xx).
    pub status: u16,
    /// The whole body as it came: nothing of it was unpacked.
    pub body: Bytes,
    /// After how long it wants to be called again, if it said so in seconds.
    pub retry_after: Option<Duration>,
    /// How long it took, from looking up the name to the last byte.
    pub took: Duration,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The URL or its address is not allowed. Somebody must mend it; the same call is refused again.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// This host, address or tenant is called often enough. Nothing was sent.
    #[error("called often enough for now; try again in {} s", retry_after.as_secs_f32().ceil())]
    Busy {
        /// When a next call may find room.
        retry_after: Duration,
    },
    /// There is nobody there: no address for the name, no connection, or one that broke off.
    #[error("the host cannot be reached; see that its name and its server are up")]
    Unreachable(#[source] Box<dyn Error + Send + Sync>),
    /// It took too long.
    #[error("no answer within {} s; answer first, then do the work", OUTSIDE_CALL_WAIT.as_secs())]
    TimedOut,
    /// It could not show that it is who the URL names.
    #[error("no trust in the host's certificate; it must be valid for the URL's host")]
    Tls(#[source] Box<dyn Error + Send + Sync>),
    /// The answer is longer than is read.
    #[error("the answer is longer than {0} bytes; answer with less")]
    TooLong(usize),
    /// It points elsewhere, and nobody goes there.
    #[error("the host redirects (status {0}); name the URL it redirects to instead")]
    Redirected(u16),
}
