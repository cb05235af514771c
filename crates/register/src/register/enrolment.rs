//! Creates invitations, and exchanges their one-time tokens for gateways' secrets.

use std::time::Duration;

use nightdesk_types::limits::ENROLMENT_OVERLAP;
use nightdesk_types::{AgentId, ClientId, TenantScope};

use super::{Register, sealed};
use crate::enrolment::{
    Digest, Enrol, Enrolled, Enrolment, Identity, Invitation, NewInvitation, Refusal, delivery_key,
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
            secret: client_secret.with(Digest::of),
            token: token.with(Digest::of),
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
    ) -> Result<Result<Enrolment, Refusal>, RegisterError> {
        let (key_id, data_key) = self.data_key(identity.scope).await?;
        let secret = new_secret();
        let enrol = Enrol {
            token: Digest::of(token),
            gateway: gateway.to_owned(),
            secret: sealed(&data_key, key_id, identity.scope, &secret),
            overlap: ENROLMENT_OVERLAP,
        };
        Ok(match self.store().enrol(identity, &enrol).await? {
            Enrolled::Gateway(_) => {
                let delivery_key = delivery_key(&secret);
                Ok(Enrolment { secret, delivery_key })
            }
            Enrolled::Refused(refusal) => Err(refusal),
        })
    }
}
