//! Provisioning: how a gateway comes to its secret at every boot, with nobody at hand.
//!
//! It shows an identity token and asks once per platform, all under one name; it keeps the first
//! secret it is given. So within a boot the same secret is given again, and a later boot's does not
//! end it at once. What it says about itself is written down in its own tenant and grants nothing:
//! the tenant and the agent are the token's.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::limits::{PROVISION_OVERLAP, PROVISION_SAME_SECRET};
use nightdesk_types::{GatewayId, StoreError, TenantScope};
use nightdesk_vault::Key;

use crate::enrolment::{Enrolment, Identity, Refusal, delivery_key};
use crate::register::{Register, RegisterError, new_secret, sealed};
use crate::store::{NewSecret, StoredSecret};

/// What a gateway says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What it calls itself.
    pub gateway: String,
    /// What it fronts.
    pub front: Front,
    /// Where it can be woken.
    pub wake_url: Option<String>,
    /// The agent's name where several speak through one bot.
    pub display_name: Option<String>,
}

/// How long a display name may be.
const DISPLAY_NAME_CHARS_MAX: usize = 64;

/// A display name as it is shown: in one line, without marks that could end the bold it is set in, and not too long. `None`:
/// nothing is left of it.
pub fn display_name(said: &str) -> Option<String> {
    let shown = |c: &char| !c.is_control() && !matches!(c, '*' | '_' | '`' | '~' | '|' | '\\');
    let name: String = said.chars().filter(shown).take(DISPLAY_NAME_CHARS_MAX).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// A platform that a gateway speaks on, in its own words. Nobody is let in for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Front {
    /// The platform.
    pub platform: String,
    /// What it calls its bot there.
    pub bot_handle: String,
    /// Where it would like to be reached. Whether it is, grants and bindings say.
    pub route_keys: Vec<String>,
    /// What it calls itself among its like. Whose agent it is, its token said.
    pub instance: Option<String>,
}

/// A wish to be provisioned.
#[derive(Clone, Debug)]
pub struct Provision {
    /// What the gateway says.
    pub said: Said,
    /// The secret it gets, unless it was given one just now.
    pub secret: NewSecret,
    /// How long ago that may have been.
    pub same_for: Duration,
    /// How long secrets of earlier boots stay good.
    pub overlap: Duration,
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Provisioned {
    /// This gateway has the new secret.
    New(GatewayId),
    /// It was given this one just now.
    Same(Box<StoredSecret>),
    /// Nothing was changed.
    Refused(Refusal),
}

/// Keeps what gateways that provision themselves say and get.
#[async_trait]
pub trait Provisioning: Send + Sync {
    /// Gives a gateway of the agent its secret, and notes what it says; all or nothing. Only
    /// secrets that came so are ended by a new one. Where it can be woken counts if no operator
    /// said where; without a word of it, what this gateway said before is forgotten.
    async fn provision(
        &self,
        identity: &Identity,
        provision: &Provision,
    ) -> Result<Provisioned, StoreError>;

    /// What a gateway of the tenant said it fronts, by platform.
    async fn fronts(&self, scope: TenantScope, gateway: &str) -> Result<Vec<Front>, StoreError>;
}

impl Register {
    /// Gives a gateway that provisions itself a secret that is good.
    pub async fn provision(
        &self,
        identity: &Identity,
        said: Said,
    ) -> Result<Result<Enrolment, Refusal>, RegisterError> {
        let (key_id, data_key) = self.data_key(identity.scope).await?;
        let secret = new_secret();
        let provision = Provision {
            said,
            secret: sealed(&data_key, key_id, identity.scope, &secret),
            same_for: PROVISION_SAME_SECRET,
            overlap: PROVISION_OVERLAP,
        };
        Ok(match self.store().provision(identity, &provision).await? {
            Provisioned::New(_) => Ok(with_delivery_key(secret)),
            Provisioned::Same(stored) => Ok(with_delivery_key(self.opened(&stored)?.secret)),
            Provisioned::Refused(refusal) => Err(refusal),
        })
    }
}

fn with_delivery_key(secret: Key) -> Enrolment {
    let delivery_key = delivery_key(&secret);
    Enrolment { secret, delivery_key }
}
