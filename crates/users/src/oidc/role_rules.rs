//! The roles that a provider's claims give, as a pure function.

use nightdesk_register::issuers::IdTokenClaims;

use crate::role::TenantRole;

/// The operator's rules for a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleRules {
    /// The claim whose values give roles, such as `groups`.
    pub claim: String,
    /// A role for each value.
    pub rules: Vec<RoleRule>,
}

/// A role that a value of the claim gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleRule {
    /// The value, compared exactly.
    pub value: String,
    /// The role.
    pub role: RuleRole,
}

/// A role in a rule. It names its tenant as the operator wrote it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleRole {
    /// The operator of the desk.
    Operator,
    /// The auditor of the desk.
    Auditor,
    /// A role in a tenant, by name or id.
    Tenant(String, TenantRole),
}

impl RuleRole {
    /// Parses `operator`, `auditor`, or `admin:acme`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "operator" => Some(Self::Operator),
            None if text == "auditor" => Some(Self::Auditor),
            None => None,
            Some((role, tenant)) => {
                let role = TenantRole::from_slug(role)?;
                (!tenant.is_empty()).then(|| Self::Tenant(tenant.to_owned(), role))
            }
        }
    }
}

impl RoleRules {
    /// Returns the roles of a user with these claims, each once.
    pub fn roles(&self, claims: &IdTokenClaims) -> Vec<RuleRole> {
        let values = claims.texts(&self.claim);
        let is_given = |rule: &&RoleRule| values.contains(&rule.value.as_str());
        let mut roles: Vec<RuleRole> =
            self.rules.iter().filter(is_given).map(|rule| rule.role.clone()).collect();
        roles.sort();
        roles.dedup();
        roles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_read_as_it_is_written() {
        let tenant = |role| Some(RuleRole::Tenant("acme".to_owned(), role));
        let cases = [
            ("operator", Some(RuleRole::Operator)),
            ("auditor", Some(RuleRole::Auditor)),
            ("admin:acme", tenant(TenantRole::Admin)),
            ("member:acme", tenant(TenantRole::Member)),
            ("auditor:acme", tenant(TenantRole::Auditor)),
            ("admin", None),
            ("admin:", None),
            ("operator:acme", None),
            ("root:acme", None),
            ("", None),
        ];
        for (text, want) in cases {
            assert_eq!(RuleRole::parse(text), want, "{text}");
        }
    }
}
