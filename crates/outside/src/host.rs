//! The host of a URL.

use std::fmt;
use std::net::IpAddr;

/// The host of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// An address, from any spelling.
    Literal(IpAddr),
    /// A name, in lower case and ASCII.
    Name(String),
}

impl Host {
    /// Parses a host as rules name it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let literal = text.parse().ok().map(Self::Literal);
        literal.or_else(|| url::Host::parse(text).ok().map(Self::from))
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
