//! Secret: a text that is sent and never shown.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A secret, token or key on its way over the wire. Its `Debug` prints no part of it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String, format = Password))]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes a text that nobody else may see.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, to be sent or compared and not to be shown.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
