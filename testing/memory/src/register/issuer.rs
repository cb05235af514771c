//! Implements the desk's signing keys.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::issuer::{Issuing, StoredKey};
use nightdesk_types::{Actor, StoreError, TenantScope};
use serde_json::json;

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
            let about = json!({ "kid": key.kid });
            self.tell(&mut state, TenantScope::desk_own(), Kind::SigningKeyMade, &about);
        }
        Ok(state.signing_keys.clone())
    }

    async fn retire_signing_key(&self, by: Actor, kid: &str) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let key = state.signing_keys.iter_mut().find(|key| key.kid == kid);
        let Some(key) = key else { return Ok(false) };
        if !std::mem::replace(&mut key.retired, true) {
            let by = TenantScope::desk_own().with_actor(by);
            self.tell(&mut state, by, Kind::SigningKeyRetired, &json!({ "kid": kid }));
        }
        Ok(true)
    }
}
