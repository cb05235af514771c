//! Gives a gateway its secret at every boot, without an operator present.
//!
//! The gateway presents an identity token and sends one request per platform, all under one name. It uses the first
//! secret it gets. So within a boot the same secret is returned again, and the secret of a later boot does not end it
//! at once. The gateway's description of itself is stored in its own tenant and grants nothing: the token determines
//! tenant and agent.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{GatewayId, StoreError, TenantScope};

use crate::enrolment::{EnrolmentRefusal, Identity};
use crate::secret::{NewSecret, StoredSecret};

/// A gateway's description of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayDescription {
    /// The gateway's name.
    pub gateway: String,
    /// The platform that it fronts.
    pub front: Front,
    /// The URL at which it can be woken.
    pub wake_url: Option<String>,
    /// The agent's name where several agents speak through one bot.
    pub display_name: Option<String>,
}

/// Maximum length of a display name.
const DISPLAY_NAME_CHARS_MAX: usize = 64;

/// Returns a display name for one line, without marks that could end the bold it is set in, and cut to the maximum
/// length. `None`: no character is left.
pub fn display_name(said: &str) -> Option<String> {
    let shown = |c: &char| !c.is_control() && !matches!(c, '*' | '_' | '`' | '~' | '|' | '\\');
    let name: String = said.chars().filter(shown).take(DISPLAY_NAME_CHARS_MAX).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// A platform as a gateway describes it. It grants no access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Front {
    /// The platform.
    pub platform: String,
    /// The handle of the gateway's bot there.
    pub bot_handle: String,
    /// The requested routes. Grants and bindings decide if it is reached there.
    pub route_keys: Vec<String>,
    /// The gateway's instance name. The token determines its agent.
    pub instance: Option<String>,
}

/// A request to provision a gateway.
#[derive(Clone, Debug)]
pub struct GatewayProvision {
    /// The gateway's description of itself.
    pub description: GatewayDescription,
    /// The new secret, unless the gateway got one just now.
    pub secret: NewSecret,
    /// The time during which an earlier secret counts as of the same boot.
    pub same_for: Duration,
    /// The time that secrets of earlier boots stay valid.
    pub overlap: Duration,
}

/// The result of a provisioning.
#[derive(Clone, Debug)]
pub enum ProvisionResult {
    /// This gateway has the new secret.
    New(GatewayId),
    /// The gateway got this secret just now.
    Same(Box<StoredSecret>),
    /// Nothing was changed.
    Refused(EnrolmentRefusal),
}

/// Stores the descriptions and the secrets of gateways that provision themselves.
#[async_trait]
pub trait Provisioning: Send + Sync {
    /// Gives a gateway of the agent its secret and stores its description, in one transaction. A machine identity
    /// provisions one name only, see [`bind_client`](crate::enrolment::bind_client). A new secret ends only
    /// secrets that were provisioned. The wake URL applies if no operator set one; without a URL, the gateway's earlier
    /// URL is removed.
    async fn provision(
        &self,
        identity: &Identity,
        provision: &GatewayProvision,
    ) -> Result<ProvisionResult, StoreError>;

    /// Returns the platforms that a gateway of the tenant fronts.
    async fn fronts(&self, scope: TenantScope, gateway: &str) -> Result<Vec<Front>, StoreError>;
}
