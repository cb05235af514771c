//! Gives a gateway its secret without an operator present.
//!
//! An operator creates an [`Invitation`]: a machine identity of the tenant and a one-time token. A machine that
//! presents both gets a gateway of that agent. Only digests of token and secret are stored.

mod decide;
mod store;

use aws_lc_rs::hmac;
use nightdesk_types::{Actor, AgentId, ClientId, TenantScope};
use nightdesk_vault::Key;

pub use decide::{
    ClientBinding, EnrolmentRefusal, EnrolmentToken, NameHolder, bind_client, decide, may_be_called,
};
pub use store::{
    Digest, Enrolling, EnrolmentRequest, EnrolmentResult, NewInvitation, StoredClient,
};

/// The agent that a machine speaks for, as proven by its access token and the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The tenant of the agent.
    pub scope: TenantScope,
    /// The agent whose gateways the machine may enrol and provision.
    pub agent: AgentId,
    /// The machine identity of an invitation, which is for one gateway name. `None`: the agent itself, which may name
    /// any gateway of its own.
    pub client: Option<ClientId>,
}

impl Identity {
    /// Returns the identity of an agent that speaks for itself.
    pub(crate) const fn from_agent(scope: TenantScope, agent: AgentId) -> Self {
        Self { scope: scope.with_actor(Actor::Agent(agent)), agent, client: None }
    }
}

/// A machine identity, as proven by its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineClient {
    /// The tenant that it belongs to.
    pub scope: TenantScope,
    /// Its id.
    pub id: ClientId,
    /// The agent whose gateways it may enrol.
    pub agent: AgentId,
}

impl MachineClient {
    /// Returns the agent that it speaks for.
    pub const fn identity(&self) -> Identity {
        Identity { scope: self.scope, agent: self.agent, client: Some(self.id) }
    }
}

/// The credentials that an operator gives to the person who runs the agent. They are shown once.
#[derive(Debug)]
pub struct Invitation {
    /// The machine identity.
    pub client: ClientId,
    /// Its secret.
    pub client_secret: Key,
    /// The one-time token.
    pub token: Key,
}

/// The keys that an enrolled gateway gets.
#[derive(Debug)]
pub struct Enrolment {
    /// The secret that signs its upgrade tokens.
    pub secret: Key,
    /// The key for deliveries over HTTP, which no client serves today.
    pub delivery_key: Key,
}

/// Derives the delivery key from the secret. It is not stored and can be derived again when a client needs it.
pub(crate) fn delivery_key(secret: &Key) -> Key {
    let key = secret.with(|secret| hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
    Key::new(hex::encode(hmac::sign(&key, b"nightdesk delivery key").as_ref()))
}
