//! Sealed secrets of gateways and bots, as the store has them.

use nightdesk_types::DataKeyId;
use nightdesk_vault::WrappedKey;
use uuid::Uuid;

use crate::gateway::Gateway;

/// A new secret, sealed for its row.
#[derive(Clone, Debug)]
pub struct NewSecret {
    /// Its id.
    pub id: Uuid,
    /// The sealed secret.
    pub sealed: Vec<u8>,
    /// The id of the tenant's data key that sealed it.
    pub key: DataKeyId,
}

/// One secret of one gateway of a name, still sealed.
#[derive(Clone, Debug)]
pub struct StoredSecret {
    /// The gateway.
    pub gateway: Gateway,
    /// The secret's row.
    pub secret_id: Uuid,
    /// The sealed secret.
    pub sealed: Vec<u8>,
    /// The id of the tenant's data key that sealed it.
    pub key: DataKeyId,
    /// That data key, wrapped.
    pub wrapped: WrappedKey,
    /// True if the gateway was revoked.
    pub revoked: bool,
    /// True if this secret expired.
    pub expired: bool,
}
