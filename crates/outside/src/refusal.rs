//! The reasons that a URL or an address is not called.

use nightdesk_types::limits::OUTSIDE_URL_BYTES_MAX;

use crate::address::SpecialRange;

/// The reason that a URL is not called. Its text is for the tenant that set the URL.
///
/// It contains no address: tenants must not learn the addresses of names in the operator's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    /// It cannot be parsed as a URL, or only by guessing.
    #[error("this is not a URL; write it like https://host.example/path")]
    Unreadable,
    /// It is longer than the maximum.
    #[error("the URL is longer than {OUTSIDE_URL_BYTES_MAX} bytes; shorten it")]
    TooLong,
    /// It is not https.
    #[error("only https URLs are called; write https:// before the host")]
    NotHttps,
    /// It contains a user name or a password.
    #[error("remove the name and password from the URL, and give the secret separately")]
    UserInfo,
    /// It has a port that is not allowed.
    #[error("port {0} is not allowed; serve https on port 443, or ask the operator to allow it")]
    Port(u16),
    /// Its host is not a full name.
    #[error("write the host as a full name, with a dot inside and none at its end")]
    NotAFullName,
    /// Its host is, or resolves to, an address that is not public.
    #[error("the host is at an address of {0}; use a public one, or ask the operator to allow it")]
    NotPublic(SpecialRange),
    /// Its host is, or resolves to, an address of this machine.
    #[error("the host is at an address of this desk; use the address of the agent")]
    Ourselves,
    /// Its bearer token does not fit into a header.
    #[error("the bearer token has characters that no HTTP header can carry; set another")]
    Bearer,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_to_mend() {
        let private = crate::address::special_range([10, 0, 0, 1].into()).expect("is private");
        let cases = [
            (UrlRefusal::TooLong, "the URL is longer than 2048 bytes; shorten it"),
            (
                UrlRefusal::NotPublic(private),
                "the host is at an address of 10.0.0.0/8 (private use); use a public one, or ask the \
                 operator to allow it",
            ),
        ];
        for (refused, want) in cases {
            assert_eq!(refused.to_string(), want);
        }
    }
}
