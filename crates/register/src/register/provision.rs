//! Gives a gateway that provisions itself its secret.

use nightdesk_types::limits::{PROVISION_OVERLAP, PROVISION_SAME_SECRET};
use nightdesk_vault::Key;

use super::{Register, seal_gateway_secret};
use crate::enrolment::{Enrolment, EnrolmentRefusal, Identity, delivery_key};
use crate::error::RegisterError;
use crate::provision::{GatewayDescription, GatewayProvision, ProvisionResult};
use crate::random::new_secret;

impl Register {
    /// Gives a gateway that provisions itself a valid secret.
    pub async fn provision(
        &self,
        identity: &Identity,
        said: GatewayDescription,
    ) -> Result<Result<Enrolment, EnrolmentRefusal>, RegisterError> {
        let (key_id, data_key) = self.data_key(identity.scope).await?;
        let secret = new_secret();
        let provision = GatewayProvision {
            description: said,
            secret: seal_gateway_secret(&data_key, key_id, identity.scope, &secret),
            same_for: PROVISION_SAME_SECRET,
            overlap: PROVISION_OVERLAP,
        };
        Ok(match self.store().provision(identity, &provision).await? {
            ProvisionResult::New(_) => Ok(with_delivery_key(secret)),
            ProvisionResult::Same(stored) => {
                Ok(with_delivery_key(self.open_secret(&stored)?.secret))
            }
            ProvisionResult::Refused(refusal) => Err(refusal),
        })
    }
}

fn with_delivery_key(secret: Key) -> Enrolment {
    let delivery_key = delivery_key(&secret);
    Enrolment { secret, delivery_key }
}
