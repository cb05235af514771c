//! Bearer tokens, distinguished by their format alone.
//!
//! A JWT has two dots, and an upgrade token can have none. So each has its own parser, and a token that one parser
//! refuses is never given to the other.

use std::fmt;

use nightdesk_types::Timestamp;

use crate::upgrade_token::{PlausibleToken, UpgradeToken};

/// A caller's bearer token. It is not verified.
pub enum Bearer<'a> {
    /// A token of an issuer, not parsed.
    Jwt(&'a str),
    /// A gateway's own token, after the checks of [`PlausibleToken`].
    Upgrade(PlausibleToken),
}

// A reader of a token can use it.
impl fmt::Debug for Bearer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jwt(_) => f.write_str("Jwt(…)"),
            Self::Upgrade(token) => write!(f, "Upgrade({:?})", token.gateway()),
        }
    }
}

impl<'a> Bearer<'a> {
    /// Parses a bearer token. `None`: it is neither of the two, or an upgrade token that is not acceptable now.
    pub fn read(text: &'a str, now: Timestamp) -> Option<Self> {
        if text.matches('.').count() == 2 {
            return Some(Self::Jwt(text));
        }
        UpgradeToken::peek(text)?.at_the_door(now).ok().map(Self::Upgrade)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upgrade_token::{UPGRADE_TTL_SECS, make};

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    #[test]
    fn the_shape_alone_says_what_it_is() {
        let upgrade = make("gw-1", b"secret", UPGRADE_TTL_SECS, now());
        let upgrade = upgrade.expose();
        let dotted = format!("{upgrade}.{upgrade}.{upgrade}");
        let cases = [
            (upgrade, "Some(Upgrade(\"gw-1\"))"),
            ("a.b.c", "Some(Jwt(…))"),
            ("..", "Some(Jwt(…))"),
            (&dotted, "Some(Jwt(…))"),
            ("", "None"),
            ("a.b", "None"),
            ("a.b.c.d", "None"),
            (&format!("{upgrade}."), "None"),
            (&format!(".{upgrade}"), "None"),
        ];
        for (text, want) in cases {
            assert_eq!(format!("{:?}", Bearer::read(text, now())), want, "{text}");
        }
    }
}
