//! Decides if a token enrols a gateway of a name.

use nightdesk_types::{AgentId, GatewayId};

/// An enrolment token of the tenant, as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnrolmentToken {
    /// The agent that the token is for.
    pub agent: AgentId,
    /// The only gateway name that the token may be used for.
    pub gateway: Option<String>,
    /// True if the token was used.
    pub used: bool,
    /// True if the token expired.
    pub expired: bool,
}

/// The gateway of the tenant that already has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameHolder {
    /// Its id.
    pub gateway: GatewayId,
    /// The agent that it speaks for.
    pub agent: AgentId,
    /// True if it was revoked.
    pub revoked: bool,
}

/// The gateway name that a machine identity is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientBinding {
    /// The identity is bound to the name.
    Bound,
    /// The identity has no name yet. It is to be bound to this one.
    New,
}

/// Checks that a machine identity may enrol or provision a gateway of this name. An invitation that names a gateway is
/// for that gateway; any other is for the first gateway that its identity names.
pub fn bind_client(bound: Option<&str>, name: &str) -> Result<ClientBinding, EnrolmentRefusal> {
    match bound {
        None => Ok(ClientBinding::New),
        Some(bound) if bound == name => Ok(ClientBinding::Bound),
        Some(bound) => Err(EnrolmentRefusal::OtherName(bound.to_owned())),
    }
}

/// The reason that no gateway is enrolled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnrolmentRefusal {
    /// The tenant has no such token. A token of another tenant counts as unknown.
    #[error("no such enrolment token")]
    Unknown,
    /// The token was already used.
    #[error("enrolment token was used already")]
    Used,
    /// The token expired.
    #[error("enrolment token has expired")]
    Expired,
    /// The identity speaks for another agent of the tenant.
    #[error("enrolment token is for another agent")]
    OtherAgent,
    /// The invitation is for a gateway of this name.
    #[error("invitation is for gateway {0}")]
    OtherName(String),
    /// A gateway of another agent of the tenant has the name.
    #[error("gateway name belongs to another agent")]
    NameTaken,
    /// The gateway of that name was revoked.
    #[error("gateway of that name was revoked")]
    NameRevoked,
}

/// Returns the gateway that gets the secret: the holder of the name, or `None` for a new gateway.
pub fn decide(
    agent: AgentId,
    name: &str,
    token: Option<&EnrolmentToken>,
    holder: Option<&NameHolder>,
) -> Result<Option<GatewayId>, EnrolmentRefusal> {
    let token = token.ok_or(EnrolmentRefusal::Unknown)?;
    if token.used {
        return Err(EnrolmentRefusal::Used);
    }
    if token.expired {
        return Err(EnrolmentRefusal::Expired);
    }
    if token.agent != agent {
        return Err(EnrolmentRefusal::OtherAgent);
    }
    if let Some(only) = token.gateway.as_ref().filter(|only| *only != name) {
        return Err(EnrolmentRefusal::OtherName(only.clone()));
    }
    may_be_called(agent, holder)
}

/// Checks that a gateway of the agent may have a name. Returns the gateway that already has it, or `None` if the name
/// is free.
pub fn may_be_called(
    agent: AgentId,
    holder: Option<&NameHolder>,
) -> Result<Option<GatewayId>, EnrolmentRefusal> {
    match holder {
        Some(holder) if holder.agent != agent => Err(EnrolmentRefusal::NameTaken),
        Some(holder) if holder.revoked => Err(EnrolmentRefusal::NameRevoked),
        Some(holder) => Ok(Some(holder.gateway)),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const ANNS: AgentId = AgentId::from_uuid(Uuid::from_u128(1));
    const OTHER: AgentId = AgentId::from_uuid(Uuid::from_u128(2));
    const GATEWAY: GatewayId = GatewayId::from_uuid(Uuid::from_u128(9));

    fn good() -> EnrolmentToken {
        EnrolmentToken { agent: ANNS, gateway: None, used: false, expired: false }
    }

    fn held() -> NameHolder {
        NameHolder { gateway: GATEWAY, agent: ANNS, revoked: false }
    }

    #[test]
    fn a_machine_identity_is_for_one_name() {
        let other = EnrolmentRefusal::OtherName("gw-1".to_owned());
        assert_eq!(bind_client(None, "gw-1"), Ok(ClientBinding::New));
        assert_eq!(bind_client(Some("gw-1"), "gw-1"), Ok(ClientBinding::Bound));
        assert_eq!(bind_client(Some("gw-1"), "gw-2"), Err(other));
    }

    #[test]
    fn a_token_enrols_one_gateway_of_its_agent() {
        let named = |name: &str| EnrolmentToken { gateway: Some(name.to_owned()), ..good() };
        let others = EnrolmentToken { agent: OTHER, ..good() };
        let used = EnrolmentToken { used: true, ..good() };
        let used_and_expired = EnrolmentToken { used: true, expired: true, ..good() };
        let expired = EnrolmentToken { expired: true, ..good() };
        let taken = NameHolder { agent: OTHER, ..held() };
        let revoked = NameHolder { revoked: true, ..held() };
        let other_name = EnrolmentRefusal::OtherName("gw-2".to_owned());
        let cases = [
            ("a new gateway", Some(good()), None, Ok(None)),
            ("a gateway again", Some(good()), Some(held()), Ok(Some(GATEWAY))),
            ("by its name", Some(named("gw-1")), None, Ok(None)),
            ("no token", None, None, Err(EnrolmentRefusal::Unknown)),
            ("used", Some(used), None, Err(EnrolmentRefusal::Used)),
            ("used, and long ago", Some(used_and_expired), None, Err(EnrolmentRefusal::Used)),
            ("expired", Some(expired), None, Err(EnrolmentRefusal::Expired)),
            ("another agent's", Some(others), None, Err(EnrolmentRefusal::OtherAgent)),
            ("another name", Some(named("gw-2")), None, Err(other_name)),
            ("a name that is taken", Some(good()), Some(taken), Err(EnrolmentRefusal::NameTaken)),
            ("a revoked gateway", Some(good()), Some(revoked), Err(EnrolmentRefusal::NameRevoked)),
        ];
        for (name, token, holder, want) in cases {
            assert_eq!(decide(ANNS, "gw-1", token.as_ref(), holder.as_ref()), want, "{name}");
        }
    }
}
