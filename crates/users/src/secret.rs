//! The secrets that users and their programs present.

use nightdesk_register::enrolment::Digest;
use nightdesk_register::new_secret;
use nightdesk_types::limits::USER_SECRET_BYTES_MAX;
use nightdesk_vault::Key;

/// The kind of a secret. Its prefix lets scanners recognise a leaked one, and no kind is accepted as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKind {
    /// The cookie of a session.
    Session,
    /// The code of a login link.
    Link,
    /// An API token.
    Token,
}

impl SecretKind {
    const fn prefix(self) -> &'static str {
        match self {
            Self::Session => "nds_",
            Self::Link => "ndl_",
            Self::Token => "ndt_",
        }
    }

    /// Makes a new secret. Only its digest is stored.
    pub fn generate(self) -> Key {
        Key::new(new_secret().with(|secret| format!("{}{secret}", self.prefix())))
    }

    /// Returns the digest of a secret that a caller presents. `None`: it is not of this kind.
    pub fn digest(self, shown: &str) -> Option<Digest> {
        let is_plausible = shown.len() <= USER_SECRET_BYTES_MAX && shown.starts_with(self.prefix());
        is_plausible.then(|| Digest::from_secret(shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [SecretKind; 3] = [SecretKind::Session, SecretKind::Link, SecretKind::Token];

    #[test]
    fn a_secret_is_accepted_only_as_its_kind() {
        for kind in KINDS {
            let secret = kind.generate().with(str::to_owned);
            for other in KINDS {
                assert_eq!(other.digest(&secret).is_some(), other == kind, "{kind:?} as {other:?}");
            }
            assert!(kind.digest(&secret).unwrap().is_of(&secret));
        }
    }

    #[test]
    fn a_long_text_is_no_secret() {
        let long = format!("ndt_{}", "0".repeat(USER_SECRET_BYTES_MAX));
        assert!(SecretKind::Token.digest(&long).is_none());
        assert!(SecretKind::Token.digest("").is_none());
    }
}
