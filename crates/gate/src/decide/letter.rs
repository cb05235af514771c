//! Letters: which agent may write to which.

use nightdesk_types::{AgentId, TenantScope};

/// The grants between the sender and the recipient of a letter, one of each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetterGrants {
    /// The sender's tenant lets the two write to each other.
    pub by_sender: bool,
    /// The recipient's tenant lets the two write to each other.
    pub by_recipient: bool,
}

/// Proof that the gate lets one agent write to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdmittedLetter {
    from: (TenantScope, AgentId),
    to: (TenantScope, AgentId),
}

impl AdmittedLetter {
    /// The agent that writes, and its tenant.
    pub const fn sender(&self) -> (TenantScope, AgentId) {
        self.from
    }

    /// The agent that is written to, and its tenant.
    pub const fn recipient(&self) -> (TenantScope, AgentId) {
        self.to
    }
}

/// Refusal of a letter between two tenants: one of them has not granted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("letters to another tenant's agent need a grant from both tenants")]
pub struct LetterNotGranted;

/// Decides whether one agent may write to another. Agents of one tenant may; between tenants both must have granted it.
pub fn decide_letter(
    from: (TenantScope, AgentId),
    to: (TenantScope, AgentId),
    grants: LetterGrants,
) -> Result<AdmittedLetter, LetterNotGranted> {
    let is_within_tenant = from.0 == to.0;
    if is_within_tenant || (grants.by_sender && grants.by_recipient) {
        Ok(AdmittedLetter { from, to })
    } else {
        Err(LetterNotGranted)
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::TenantId;
    use uuid::Uuid;

    use super::*;

    fn agent(tenant: u128, agent: u128) -> (TenantScope, AgentId) {
        let tenant = TenantId::from_uuid(Uuid::from_u128(tenant));
        (TenantScope::for_tenant(tenant), AgentId::from_uuid(Uuid::from_u128(agent)))
    }

    #[test]
    fn agents_of_two_tenants_need_both_grants() {
        for by_sender in [false, true] {
            for by_recipient in [false, true] {
                let grants = LetterGrants { by_sender, by_recipient };
                let abroad = decide_letter(agent(1, 1), agent(2, 2), grants);
                assert_eq!(abroad.is_ok(), by_sender && by_recipient, "{grants:?}");
                let at_home = decide_letter(agent(1, 1), agent(1, 2), grants);
                assert!(at_home.is_ok(), "{grants:?}");
            }
        }
    }

    #[test]
    fn an_admitted_letter_names_its_two_agents() {
        let admitted = decide_letter(agent(1, 1), agent(1, 2), LetterGrants::default());

        let admitted = admitted.unwrap();
        assert_eq!((admitted.sender(), admitted.recipient()), (agent(1, 1), agent(1, 2)));
    }
}
