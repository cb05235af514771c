//! A call to a tenant's URL, and its result.

use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bytes::Bytes;
use nightdesk_types::limits::OUTSIDE_CALL_WAIT;
use secrecy::SecretString;

use crate::refusal::UrlRefusal;
use crate::tenant_url::TenantUrl;

/// One request to a URL that a tenant set.
#[derive(Debug)]
pub struct OutsideCall<'a> {
    /// The URL.
    pub url: &'a TenantUrl,
    /// The method.
    pub method: Method,
    /// The credential, sent as `Authorization: Bearer`.
    pub bearer: Option<&'a SecretString>,
    /// The signature of the body, sent as `X-Signature`.
    pub signature: Option<&'a str>,
    /// The body, as JSON.
    pub body: Option<Bytes>,
}

/// A request that posts an event to a URL that a tenant set, signed as Standard Webhooks define.
#[derive(Debug)]
pub struct WebhookPost<'a> {
    /// The URL.
    pub url: &'a TenantUrl,
    /// The id of the event, the same in every repeat.
    pub id: &'a str,
    /// The time of the signature, in seconds.
    pub timestamp: i64,
    /// The signatures, separated by spaces.
    pub signatures: &'a str,
    /// The body, as JSON.
    pub body: Bytes,
    /// True once the event needs no post any more. It is read directly before the request is written.
    pub withdrawn: &'a AtomicBool,
}

/// A form for a server that the operator trusts, such as the token endpoint of a login provider.
#[derive(Debug)]
pub struct FormPost<'a> {
    /// The URL.
    pub url: &'a TenantUrl,
    /// The form, as `application/x-www-form-urlencoded`.
    pub form: String,
    /// The credential, sent as `Authorization`.
    pub authorization: Option<&'a SecretString>,
}

/// The supported methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
}

/// The response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResponse {
    /// The status; never a redirect (3xx).
    pub status: u16,
    /// The whole body as received, not decompressed.
    pub body: Bytes,
    /// True if the body is JSON.
    pub is_json: bool,
    /// The value of `Retry-After`, if it is in seconds.
    pub retry_after: Option<Duration>,
    /// The duration, from the name lookup to the last byte.
    pub took: Duration,
}

/// The reason that there is no response.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The URL or its address is not allowed. The tenant or the operator must fix it; the same call is refused again.
    #[error(transparent)]
    Refused(#[from] UrlRefusal),
    /// The rate limit of this host, address or tenant is reached. Nothing was sent.
    #[error("the rate limit of calls is reached; retry in {} s", retry_after.as_secs_f32().ceil())]
    Busy {
        /// The time after which a next call may be accepted.
        retry_after: Duration,
    },
    /// The server is unreachable: no address for the name, or no connection.
    #[error("the host cannot be reached; check its name and its server")]
    Unreachable(#[source] Box<dyn Error + Send + Sync>),
    /// The connection broke after the request was begun.
    #[error("the connection broke before the response was complete; check the server's log")]
    BrokeOff(#[source] Box<dyn Error + Send + Sync>),
    /// The call timed out.
    #[error("no response within {} s; respond first, then do the work", OUTSIDE_CALL_WAIT.as_secs())]
    TimedOut,
    /// The server's certificate does not match the URL or is not trusted.
    #[error("the host's certificate is not trusted; it must be valid for the URL's host")]
    Tls(#[source] Box<dyn Error + Send + Sync>),
    /// The response exceeds the maximum size.
    #[error("the response is longer than {0} bytes; send less")]
    TooLong(usize),
    /// The event was withdrawn before the request was written.
    #[error("the post was withdrawn before it began")]
    Withdrawn,
    /// The response is a redirect, which is not followed.
    #[error("the host redirects (status {0}); use the URL that it redirects to")]
    Redirected(u16),
}

impl CallError {
    pub(crate) fn broke_off(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::BrokeOff(error.into())
    }

    pub(crate) fn unreachable(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unreachable(error.into())
    }
}
