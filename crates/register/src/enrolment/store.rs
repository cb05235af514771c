//! What enrolment asks of a store.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use nightdesk_types::{AgentId, ClientId, GatewayId, StoreError, TenantScope};

use super::{Client, Identity, Refusal};
use crate::store::NewSecret;

/// The SHA-256 of a secret of ours. The secret is random and long, so a slow hash would only
/// be slow.
#[derive(Clone, Copy)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a secret.
    pub fn of(secret: &str) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, secret.as_bytes()).as_ref());
        Self(bytes)
    }

    /// Takes a digest back from a store.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Whether it is the digest of this secret. It takes the same time whatever differs.
    pub fn is_of(&self, secret: &str) -> bool {
        verify_slices_are_equal(&self.0, Self::of(secret).as_bytes()).is_ok()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(…)")
    }
}

/// An invitation to be entered.
#[derive(Clone, Debug)]
pub struct NewInvitation {
    /// The machine identity's id.
    pub client: ClientId,
    /// Its secret.
    pub secret: Digest,
    /// The one-time token.
    pub token: Digest,
    /// The only name the token may be used for.
    pub gateway: Option<String>,
    /// When both end.
    pub good_for: Duration,
}

/// A machine identity as the store has it.
#[derive(Clone, Copy, Debug)]
pub struct StoredClient {
    /// Whose it is, and for which agent.
    pub client: Client,
    /// Its secret.
    pub secret: Digest,
    /// Whether it was neither revoked nor is over.
    pub live: bool,
}

/// A wish to enrol.
#[derive(Clone, Debug)]
pub struct Enrol {
    /// The one-time token.
    pub token: Digest,
    /// What the gateway is to be called.
    pub gateway: String,
    /// Its secret.
    pub secret: NewSecret,
    /// How long its older ones stay good.
    pub overlap: Duration,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enrolled {
    /// This gateway has the secret, and the token is used up.
    Gateway(GatewayId),
    /// Nothing was changed.
    Refused(Refusal),
}

/// Keeps machine identities and one-time tokens.
#[async_trait]
pub trait Enrolling: Send + Sync {
    /// Enters a machine identity and a one-time token for an agent.
    async fn invite(
        &self,
        scope: TenantScope,
        agent: AgentId,
        invitation: &NewInvitation,
    ) -> Result<(), StoreError>;

    /// The machine identity of this id, whosever it is.
    async fn client(&self, id: ClientId) -> Result<Option<StoredClient>, StoreError>;

    /// Revokes a machine identity. Answers whether the tenant has it.
    async fn revoke_client(&self, scope: TenantScope, id: ClientId) -> Result<bool, StoreError>;

    /// Gives a gateway its secret and uses the token up, both or neither. Of several at once
    /// one succeeds. See [`decide`](super::decide) for who is refused.
    async fn enrol(&self, identity: &Identity, enrol: &Enrol) -> Result<Enrolled, StoreError>;
}
