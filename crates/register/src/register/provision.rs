//! Gives a gateway that provisions itself its secret.

use nightdesk_types::limits::{PROVISION_OVERLAP, PROVISION_SAME_SECRET};
use nightdesk_vault::Key;

use super::{Register, sealed};
use crate::enrolment::{Enrolment, Identity, Refusal, delivery_key};
use crate::error::RegisterError;
use crate::provision::{Provision, Provisioned, Said};
use crate::random::new_secret;

impl Register {
    /// Gives a gateway that provisions itself a valid secret.
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
