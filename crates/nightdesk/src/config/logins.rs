//! Configuration of the providers at which users log in.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use nightdesk_types::limits::LOGIN_PROVIDERS_MAX;
use nightdesk_users::oidc::{ProviderSettings, RoleRule, RoleRules, RuleRole};
use nightdesk_vault::Key;
use serde::Deserialize;

use super::secret_file::password;

/// A login provider. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoginSection {
    /// The name in the desk's addresses: small letters, digits and dashes.
    pub(crate) name: String,
    /// The name on the login page. Default: `name`.
    pub(crate) label: Option<String>,
    /// The issuer, compared exactly. Its description is at `/.well-known/openid-configuration` under it.
    pub(crate) issuer: String,
    /// The desk's id at the provider. Its redirect address is `{public_url}/login/from/{name}`.
    pub(crate) client_id: String,
    /// The file with the desk's secret at the provider. Without it, the desk is a public client.
    pub(crate) client_secret_file: Option<PathBuf>,
    /// Further scopes besides `openid`.
    #[serde(default)]
    pub(crate) scopes: Vec<String>,
    /// The claim whose values give roles.
    #[serde(default = "groups")]
    pub(crate) role_claim: String,
    /// The roles that values of the claim give.
    #[serde(default)]
    pub(crate) roles: Vec<RoleSection>,
}

/// A role that a value of the claim gives. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoleSection {
    /// The value, compared exactly.
    pub(crate) value: String,
    /// `operator`, `auditor`, or a role and a tenant: `admin:acme`, `member:acme`, `auditor:acme`.
    pub(crate) role: String,
}

fn groups() -> String {
    "groups".to_owned()
}

impl LoginSection {
    fn settings(&self, public_url: &str) -> anyhow::Result<ProviderSettings> {
        let Self { name, label, issuer, client_id, client_secret_file, scopes, .. } = self;
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        ensure!(
            (1..=32).contains(&name.len()) && name.chars().all(is_plain),
            "logins: name {name:?} must have 1 to 32 small letters, digits and dashes"
        );
        ensure!(
            !issuer.is_empty() && !client_id.is_empty(),
            "logins: issuer and client_id of {name} must not be empty"
        );
        let rules =
            self.roles.iter().map(|rule| rule.parse(name)).collect::<anyhow::Result<_>>()?;
        Ok(ProviderSettings {
            name: name.clone(),
            label: label.clone().unwrap_or_else(|| name.clone()),
            issuer: issuer.clone(),
            client_id: client_id.clone(),
            client_secret: password(client_secret_file.as_deref())?.map(Key::new),
            scopes: scopes.clone(),
            roles: RoleRules { claim: self.role_claim.clone(), rules },
            redirect_url: format!("{public_url}/login/from/{name}"),
        })
    }
}

impl RoleSection {
    fn parse(&self, provider: &str) -> anyhow::Result<RoleRule> {
        let role = RuleRole::parse(&self.role).with_context(|| {
            format!(
                "logins: role {:?} of {provider} is none; write operator, auditor, or admin, member or auditor \
                 with a tenant, as in admin:acme",
                self.role
            )
        })?;
        Ok(RoleRule { value: self.value.clone(), role })
    }
}

/// Returns the settings of all providers. No two have the same name.
pub(crate) fn provider_settings(
    logins: &[LoginSection],
    public_url: &str,
) -> anyhow::Result<Vec<ProviderSettings>> {
    ensure!(
        logins.len() <= LOGIN_PROVIDERS_MAX,
        "at most {LOGIN_PROVIDERS_MAX} login providers can be configured"
    );
    for (n, login) in logins.iter().enumerate() {
        let earlier = logins.iter().take(n).any(|other| other.name == login.name);
        ensure!(!earlier, "logins: {} is listed twice; rename one", login.name);
    }
    logins.iter().map(|login| login.settings(public_url)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(name: &str, role: &str) -> LoginSection {
        LoginSection {
            name: name.to_owned(),
            label: None,
            issuer: "https://login.example.org".to_owned(),
            client_id: "desk".to_owned(),
            client_secret_file: None,
            scopes: Vec::new(),
            role_claim: groups(),
            roles: vec![RoleSection { value: "ops".to_owned(), role: role.to_owned() }],
        }
    }

    #[test]
    fn a_provider_is_read_with_its_redirect_address() {
        let read = provider_settings(&[login("sso", "admin:acme")], "https://desk.example.org");
        let read = read.unwrap().remove(0);

        assert_eq!(read.redirect_url, "https://desk.example.org/login/from/sso");
        assert_eq!((read.label.as_str(), read.roles.rules.len()), ("sso", 1));
    }

    #[test]
    fn a_wrong_provider_is_refused() {
        let cases = [
            (vec![login("Sso", "operator")], "small letters"),
            (vec![login("sso", "root")], "admin:acme"),
            (vec![login("sso", "operator"), login("sso", "operator")], "twice"),
        ];
        for (logins, want) in cases {
            let refused = provider_settings(&logins, "https://desk.example.org").unwrap_err();
            assert!(refused.to_string().contains(want), "{refused}");
        }
    }
}
