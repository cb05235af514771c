//! Reports secrets that do not open.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use nightdesk_types::limits::UNOPENED_REPORTED_MAX;
use uuid::Uuid;

use crate::error::RegisterError;
use crate::secret::StoredSecret;

/// Logs each secret that does not open once, because every dial under its gateway's name tries it.
#[derive(Debug, Default)]
pub(crate) struct UnopenedSecrets {
    reported: Mutex<HashSet<Uuid>>,
}

impl UnopenedSecrets {
    /// Reports a secret to the operator, unless it was reported before.
    pub(crate) fn report(&self, stored: &StoredSecret, error: &RegisterError) {
        if !self.is_news(stored.secret_id) {
            return;
        }
        tracing::error!(
            tenant.id = %stored.gateway.scope.tenant(),
            gateway.id = %stored.gateway.id,
            error = error as &dyn std::error::Error,
            "a gateway's secret does not open; add the key that sealed it to vault.old_key_files, \
             or replace the secret with `nightdesk gateway rotate`"
        );
    }

    fn is_news(&self, secret: Uuid) -> bool {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        reported.len() < UNOPENED_REPORTED_MAX && reported.insert(secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_reported_once_and_so_many_are() {
        let secrets = UnopenedSecrets::default();
        let mut ids = (0..UNOPENED_REPORTED_MAX as u128).map(Uuid::from_u128);

        assert!(ids.all(|id| secrets.is_news(id)));
        assert!(!secrets.is_news(Uuid::from_u128(0)), "known");
        assert!(!secrets.is_news(Uuid::max()), "there is no room");
    }
}
