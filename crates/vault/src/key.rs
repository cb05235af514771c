//! A secret that can be used but not printed.

use secrecy::{ExposeSecret, SecretString};

/// A secret without `Display` and `Serialize`; its `Debug` prints no part of it.
#[derive(Clone, Debug)]
pub struct Key(SecretString);

impl Key {
    /// Wraps a secret.
    pub fn new(secret: impl Into<SecretString>) -> Self {
        Self(secret.into())
    }

    /// Lends the key to `f`, and to nothing else.
    pub fn with<T>(&self, f: impl FnOnce(&str) -> T) -> T {
        f(self.0.expose_secret())
    }
}

nightdesk_types::no_comparison!(Key);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let key = Key::new("canary-7f3a".to_owned());

        assert!(!format!("{key:?}").contains("canary"));
        assert_eq!(key.with(str::len), 11);
    }
}
