//! A tenant's URL, parsed once and in one way.

use std::fmt;

use http::uri::PathAndQuery;
use nightdesk_types::limits::OUTSIDE_URL_BYTES_MAX;
use url::{Position, Url};

use crate::host::Host;
use crate::refusal::UrlRefusal;
use crate::rules::Rules;

/// A URL that may be called, as far as its text shows.
///
/// Neither `Display` nor `Debug` shows its query, because people put secrets there.
#[derive(Clone, PartialEq, Eq)]
pub struct TenantUrl {
    url: Url,
    host: Host,
    target: PathAndQuery,
}

impl TenantUrl {
    /// Parses a tenant's URL, and refuses one that would be refused when called.
    ///
    /// The addresses of a name are checked with each call; no lookup is made here.
    pub fn parse(text: &str, rules: &Rules) -> Result<Self, UrlRefusal> {
        if text.len() > OUTSIDE_URL_BYTES_MAX {
            return Err(UrlRefusal::TooLong);
        }
        // The meaning of these characters is ambiguous, and two parsers might differ.
        if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(UrlRefusal::Unreadable);
        }
        let url = read(text).ok_or(UrlRefusal::Unreadable)?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(UrlRefusal::NotHttps);
        }
        let target = url[Position::BeforePath..].parse().map_err(|_| UrlRefusal::Unreadable)?;
        let host = url.host().ok_or(UrlRefusal::Unreadable)?.to_owned().into();
        let url = Self { url, host, target };
        url.check(rules)?;
        Ok(url)
    }

    /// Returns the whole URL with its query, in the form that is stored and called.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// Checks everything that needs no lookup.
    pub(crate) fn check(&self, rules: &Rules) -> Result<(), UrlRefusal> {
        if !self.is_https() && !rules.http {
            return Err(UrlRefusal::NotHttps);
        }
        if !self.url.username().is_empty() || self.url.password().is_some() {
            return Err(UrlRefusal::UserInfo);
        }
        rules.check_port(self.port())?;
        rules.check_host(&self.host)
    }

    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.port().unwrap_or(if self.is_https() { 443 } else { 80 })
    }

    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }

    /// Returns host and port as written in the URL, for the request's `Host`.
    pub(crate) fn authority(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    pub(crate) const fn target(&self) -> &PathAndQuery {
        &self.target
    }
}

impl fmt::Display for TenantUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url[..Position::AfterPath])
    }
}

impl fmt::Debug for TenantUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TenantUrl({self})")
    }
}

fn read(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    // A fragment is never sent.
    url.set_fragment(None);
    Some(url)
}

#[cfg(test)]
mod tests;
