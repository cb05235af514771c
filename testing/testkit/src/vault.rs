//! The vault of stores in tests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nightdesk_types::{DataKeyId, TenantId};
use nightdesk_vault::{Vault, WrappedKey};

/// Returns the vault of every store in tests. Its key is fixed, so that a store opens the keys that a suite made.
///
/// # Panics
///
/// Never: 32 bytes are a key.
#[expect(clippy::expect_used, reason = "32 bytes are a key")]
pub fn test_vault() -> Vault {
    Vault::from_key_file(&STANDARD.encode([7; 32])).expect("a key of 32 bytes")
}

/// Returns a new first data key of a tenant, wrapped by the vault of tests.
pub fn first_data_key(tenant: TenantId) -> WrappedKey {
    test_vault().new_data_key(tenant, DataKeyId::new(1)).1
}
