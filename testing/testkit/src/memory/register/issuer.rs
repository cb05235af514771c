//! The desk's signing keys.

use async_trait::async_trait;
use nightdesk_register::issuer::{Issuing, StoredKey};
use nightdesk_types::StoreError;

use super::super::Memory;

#[async_trait]
impl Issuing for Memory {
    async fn signing_keys(&self) -> Result<Vec<StoredKey>, StoreError> {
        Ok(self.lock().signing_keys.clone())
    }

    async fn enter_signing_key(&self, key: &StoredKey) -> Result<Vec<StoredKey>, StoreError> {
        let mut state = self.lock();
        if !state.signing_keys.iter().any(|other| other.number == key.number) {
            state.signing_keys.push(key.clone());
            state.signing_keys.sort_by_key(|key| key.number);
        }
        Ok(state.signing_keys.clone())
    }

    async fn retire_signing_key(&self, kid: &str) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let key = state.signing_keys.iter_mut().find(|key| key.kid == kid);
        Ok(key.map(|key| key.retired = true).is_some())
    }
}
