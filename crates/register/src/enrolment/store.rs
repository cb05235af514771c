//! The store interface of enrolment.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_types::{AgentId, ClientId, GatewayId, StoreError, TenantScope};

use super::{EnrolmentRefusal, Identity, MachineClient};
use crate::secret::NewSecret;

/// The SHA-256 of a secret of the desk. The secret is random and long, so a slow hash would add no protection.
#[derive(Clone, Copy)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of a secret.
    pub fn from_secret(secret: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, secret.as_bytes()).as_ref());
        Self(bytes)
    }

    /// Reads a stored digest.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes to store.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns true if it is the digest of this secret. The comparison takes constant time.
    pub fn is_of(&self, secret: &str) -> bool {
        verify_slices_are_equal(&self.0, Self::from_secret(secret).as_bytes()).is_ok()
    }
}

nightdesk_types::no_comparison!(Digest);

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(…)")
    }
}

/// A new invitation to create.
#[derive(Clone, Debug)]
pub struct NewInvitation {
    /// The machine identity's id.
    pub client: ClientId,
    /// The digest of its secret.
    pub secret: Digest,
    /// The digest of the one-time token.
    pub token: Digest,
    /// The only gateway name that both may be used for.
    pub gateway: Option<String>,
    /// The time after which both expire.
    pub good_for: Duration,
}

/// A machine identity as the store has it.
#[derive(Clone, Copy, Debug)]
pub struct StoredClient {
    /// The identity, with its tenant and agent.
    pub client: MachineClient,
    /// The digest of its secret.
    pub secret: Digest,
    /// True if it is neither revoked nor expired.
    pub live: bool,
}

/// A request to enrol a gateway.
#[derive(Clone, Debug)]
pub struct EnrolmentRequest {
    /// The digest of the one-time token.
    pub token: Digest,
    /// The name for the gateway.
    pub gateway: String,
    /// The gateway's secret.
    pub secret: NewSecret,
    /// The time that its older secrets stay valid.
    pub overlap: Duration,
}

/// The result of an enrolment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnrolmentResult {
    /// This gateway has the secret, and the token is used.
    Gateway(GatewayId),
    /// Nothing was changed.
    Refused(EnrolmentRefusal),
}

/// Stores machine identities and one-time tokens.
#[async_trait]
pub trait Enrolling: Send + Sync {
    /// Creates a machine identity and a one-time token for an agent.
    async fn invite(
        &self,
        scope: TenantScope,
        agent: AgentId,
        invitation: &NewInvitation,
    ) -> Result<(), StoreError>;

    /// Returns the machine identity of this id, over all tenants.
    async fn client(&self, id: ClientId) -> Result<Option<StoredClient>, StoreError>;

    /// Revokes a machine identity. Returns true if the tenant has it.
    async fn revoke_client(&self, scope: TenantScope, id: ClientId) -> Result<bool, StoreError>;

    /// Gives a gateway its secret and marks the token used, in one transaction. Of several concurrent calls one
    /// succeeds. See [`decide`](super::decide) and [`bind_client`](super::bind_client) for the refusals.
    async fn enrol(
        &self,
        identity: &Identity,
        enrol: &EnrolmentRequest,
    ) -> Result<EnrolmentResult, StoreError>;
}
