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

    async fn first_signing_key(&self, key: &StoredKey) -> Result<Vec<StoredKey>, StoreError> {
        let mut state = self.lock();
        if !state.signing_keys.iter().any(|other| other.number == key.number) {
            state.signing_keys.push(key.clone());
        }
        Ok(state.signing_keys.clone())
    }
}
