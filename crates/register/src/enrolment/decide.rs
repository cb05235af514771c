//! Decides if a token enrols a gateway of a name.

use nightdesk_types::{AgentId, GatewayId};

/// An enrolment token of the tenant, as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
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
pub struct Holder {
    /// Its id.
    pub gateway: GatewayId,
    /// The agent that it speaks for.
    pub agent: AgentId,
    /// True if it was revoked.
    pub revoked: bool,
}

/// The reason that no gateway is enrolled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
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
    /// The token was created for a gateway of this name.
    #[error("enrolment token is for gateway {0}")]
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
    token: Option<&Found>,
    holder: Option<&Holder>,
) -> Result<Option<GatewayId>, Refusal> {
    let token = token.ok_or(Refusal::Unknown)?;
    if token.used {
        return Err(Refusal::Used);
    }
    if token.expired {
        return Err(Refusal::Expired);
    }
    if token.agent != agent {
        return Err(Refusal::OtherAgent);
    }
    if let Some(only) = token.gateway.as_ref().filter(|only| *only != name) {
        return Err(Refusal::OtherName(only.clone()));
    }
    may_be_called(agent, holder)
}

/// Checks that a gateway of the agent may have a name. Returns the gateway that already has it, or `None` if the name
/// is free.
pub fn may_be_called(
    agent: AgentId,
    holder: Option<&Holder>,
) -> Result<Option<GatewayId>, Refusal> {
    match holder {
        Some(holder) if holder.agent != agent => Err(Refusal::NameTaken),
        Some(holder) if holder.revoked => Err(Refusal::NameRevoked),
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

    fn good() -> Found {
        Found { agent: ANNS, gateway: None, used: false, expired: false }
    }

    fn held() -> Holder {
        Holder { gateway: GATEWAY, agent: ANNS, revoked: false }
    }

    #[test]
    fn a_token_enrols_one_gateway_of_its_agent() {
        let named = |name: &str| Found { gateway: Some(name.to_owned()), ..good() };
        let others = Found { agent: OTHER, ..good() };
        let used = Found { used: true, ..good() };
        let used_and_expired = Found { used: true, expired: true, ..good() };
        let expired = Found { expired: true, ..good() };
        let taken = Holder { agent: OTHER, ..held() };
        let revoked = Holder { revoked: true, ..held() };
        let other_name = Refusal::OtherName("gw-2".to_owned());
        let cases = [
            ("a new gateway", Some(good()), None, Ok(None)),
            ("a gateway again", Some(good()), Some(held()), Ok(Some(GATEWAY))),
            ("by its name", Some(named("gw-1")), None, Ok(None)),
            ("no token", None, None, Err(Refusal::Unknown)),
            ("used", Some(used), None, Err(Refusal::Used)),
            ("used, and long ago", Some(used_and_expired), None, Err(Refusal::Used)),
            ("expired", Some(expired), None, Err(Refusal::Expired)),
            ("another agent's", Some(others), None, Err(Refusal::OtherAgent)),
            ("another name", Some(named("gw-2")), None, Err(other_name)),
            ("a name that is taken", Some(good()), Some(taken), Err(Refusal::NameTaken)),
            ("a revoked gateway", Some(good()), Some(revoked), Err(Refusal::NameRevoked)),
        ];
        for (name, token, holder, want) in cases {
            assert_eq!(decide(ANNS, "gw-1", token.as_ref(), holder.as_ref()), want, "{name}");
        }
    }
}
