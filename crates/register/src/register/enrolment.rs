//! Creates invitations, and exchanges their one-time tokens for gateways' secrets.

use std::time::Duration;

use nightdesk_types::limits::ENROLMENT_OVERLAP;
use nightdesk_types::{AgentId, ClientId, TenantScope};

use super::{Register, seal_gateway_secret};
use crate::enrolment::{
    Digest, Enrolment, EnrolmentRefusal, EnrolmentRequest, EnrolmentResult, Identity, Invitation,
    NewInvitation, delivery_key,
};
use crate::error::RegisterError;
use crate::random::{new_secret, random_id};

impl Register {
    /// Creates a machine identity and a one-time token for an agent. Both expire after `good_for`: an enrolled gateway
    /// needs neither.
    pub async fn invite(
        &self,
        scope: TenantScope,
        agent: AgentId,
        gateway: Option<&str>,
        good_for: Duration,
    ) -> Result<Invitation, RegisterError> {
        let client = ClientId::from_uuid(random_id());
        let (client_secret, token) = (new_secret(), new_secret());
        let new = NewInvitation {
            client,
            secret: client_secret.with(Digest::from_secret),
            token: token.with(Digest::from_secret),
            gateway: gateway.map(str::to_owned),
            good_for,
        };
        self.store().invite(scope, agent, &new).await?;
        Ok(Invitation { client, client_secret, token })
    }

    /// Exchanges a one-time token for a gateway's secret.
    pub async fn enrol(
        &self,
        identity: &Identity,
        token: &str,
        gateway: &str,
    ) -> Result<Result<Enrolment, EnrolmentRefusal>, RegisterError> {
        let (key_id, data_key) = self.data_key(identity.scope).await?;
        let secret = new_secret();
        let enrol = EnrolmentRequest {
            token: Digest::from_secret(token),
            gateway: gateway.to_owned(),
            secret: seal_gateway_secret(&data_key, key_id, identity.scope, &secret),
            overlap: ENROLMENT_OVERLAP,
        };
        Ok(match self.store().enrol(identity, &enrol).await? {
            EnrolmentResult::Gateway(_) => {
                let delivery_key = delivery_key(&secret);
                Ok(Enrolment { secret, delivery_key })
            }
            EnrolmentResult::Refused(refusal) => Err(refusal),
        })
    }
}
