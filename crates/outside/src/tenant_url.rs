//! A tenant's URL, parsed once and in one way.

use std::fmt;
use std::net::IpAddr;

use http::uri::PathAndQuery;
use nightdesk_types::limits::OUTSIDE_URL_BYTES_MAX;
use url::{Position, Url};

use crate::refused::Refused;
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

/// The host of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// An address, from any spelling.
    Literal(IpAddr),
    /// A name, in lower case and ASCII.
    Name(String),
}

impl TenantUrl {
    /// Parses a tenant's URL, and refuses one that would be refused when called.
    ///
    /// The addresses of a name are checked with each call; no lookup is made here.
    pub fn parse(text: &str, rules: &Rules) -> Result<Self, Refused> {
        if text.len() > OUTSIDE_URL_BYTES_MAX {
            return Err(Refused::TooLong);
        }
        // The meaning of these characters is ambiguous, and two parsers might differ.
        if text.contains(|c: char| c.is_control() || c.is_whitespace() || c == '\\') {
            return Err(Refused::Unreadable);
        }
        let url = read(text).ok_or(Refused::Unreadable)?;
        if !matches!(url.scheme(), "https" | "http") {
            return Err(Refused::NotHttps);
        }
        let target = url[Position::BeforePath..].parse().map_err(|_| Refused::Unreadable)?;
        let host = Host::of(&url).ok_or(Refused::Unreadable)?;
        let url = Self { url, host, target };
        url.check(rules)?;
        Ok(url)
    }

    /// Returns the whole URL with its query, in the form that is stored and called.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// Checks everything that needs no lookup.
    pub(crate) fn check(&self, rules: &Rules) -> Result<(), Refused> {
        if !self.is_https() && !rules.http {
            return Err(Refused::NotHttps);
        }
        if !self.url.username().is_empty() || self.url.password().is_some() {
            return Err(Refused::UserInfo);
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

impl Host {
    /// Parses a host as rules name it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let literal = text.parse().ok().map(Self::Literal);
        literal.or_else(|| url::Host::parse(text).ok().map(Self::from))
    }

    fn of(url: &Url) -> Option<Self> {
        url.host().map(|host| Self::from(host.to_owned()))
    }
}

impl From<url::Host> for Host {
    fn from(host: url::Host) -> Self {
        match host {
            url::Host::Ipv4(v4) => Self::Literal(IpAddr::V4(v4)),
            url::Host::Ipv6(v6) => Self::Literal(IpAddr::V6(v6)),
            url::Host::Domain(name) => Self::Name(name),
        }
    }
}

/// Formats the host as rules name it: an IPv6 address without brackets.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(address) => address.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
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
