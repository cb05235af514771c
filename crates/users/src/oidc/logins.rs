//! The providers at which users log in.

use super::attempt::LoginKey;
use super::provider::LoginProvider;

/// The configured providers, and the key of the logins under way.
#[derive(Debug)]
pub struct Logins {
    key: LoginKey,
    providers: Vec<LoginProvider>,
}

impl Logins {
    /// Creates the set of providers. Their names differ.
    pub const fn new(key: LoginKey, providers: Vec<LoginProvider>) -> Self {
        Self { key, providers }
    }

    /// Returns the key of the logins under way.
    pub const fn key(&self) -> &LoginKey {
        &self.key
    }

    /// Returns the providers, in the order of the configuration.
    pub fn providers(&self) -> &[LoginProvider] {
        &self.providers
    }

    /// Returns the provider of this name.
    pub fn find(&self, name: &str) -> Option<&LoginProvider> {
        self.providers.iter().find(|provider| provider.name() == name)
    }
}
