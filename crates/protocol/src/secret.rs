//! A secret text that is sent and never printed.

use std::fmt;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use serde::{Deserialize, Serialize};

/// A secret, token or key in a message. Its `Debug` prints no part of it, and it has no `==`, whose time would tell how
/// much of a guess is right.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String, format = Password))]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, only for sending or hashing.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns true if this is the secret. The comparison takes the same time for every guess of its length.
    pub fn is(&self, guess: &str) -> bool {
        verify_slices_are_equal(self.0.as_bytes(), guess.as_bytes()).is_ok()
    }
}

nightdesk_types::no_comparison!(Secret);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_the_whole_text_and_nothing_else() {
        let secret = Secret::new("s3cr3t");

        assert!(secret.is("s3cr3t"));
        for guess in ["", "s3cr3", "s3cr3t ", "S3cr3t", "s3cr3T"] {
            assert!(!secret.is(guess), "{guess:?}");
        }
    }
}
