//! Sessions: how an agent that nobody logs in for keeps its access.
//!
//! It is set up with an access token and a refresh token. The second gets it both anew, in the very
//! form the stock client asks for them.

use nightdesk_types::limits::REFRESH_TOKEN_BYTES_MAX;
use nightdesk_types::{AgentId, TenantId, TenantScope, Timestamp};
use nightdesk_vault::Key;
use uuid::Uuid;

use super::Issuer;
use super::store::{Refreshed, Session};
use super::token::{AUDIENCE, Subject};
use crate::enrolment::Digest;
use crate::register::{RegisterError, new_secret, random_id};

/// What stands before our refresh tokens, so that one that leaked is recognised.
const MARK: &str = "ndr";

/// What an agent is given at the beginning of its session, and at each refresh.
#[derive(Debug)]
pub struct Grant {
    /// What it shows.
    pub access: Key,
    /// What it gets the next with.
    pub refresh: Key,
}

/// Why there is no refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGrant {
    /// Nobody has a live session with it.
    #[error("refresh token is not known")]
    Unknown,
    /// It was traded before, so two have it, and the session is over.
    #[error("refresh token was used twice")]
    Reused,
}

impl Issuer {
    /// Begins a session of an agent. Answers its name, by which it can be ended.
    pub async fn begin_session(
        &self,
        scope: TenantScope,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<(Session, Grant), RegisterError> {
        let id = random_id();
        let (session, refresh) = (Session::own(id.to_string()), Refresh::new(scope.tenant(), id));
        let digest = refresh.text.with(Digest::of);
        let begun = self.store.begin_session(scope, agent, &session, Some(digest)).await?;
        debug_assert!(begun, "a session that was just named is nobody's");
        let access = self.access(scope, &session.id, now).await?;
        Ok((session, Grant { access, refresh: refresh.text }))
    }

    /// An access token of an agent's ambient session, which begins when it is first asked for. A session that an operator
    /// ended stays so, and its tokens are refused.
    pub async fn ambient_token(
        &self,
        scope: TenantScope,
        agent: AgentId,
        now: Timestamp,
    ) -> Result<Key, RegisterError> {
        let session = Session::own(format!("ambient:{agent}"));
        self.store.begin_session(scope, agent, &session, None).await?;
        self.access(scope, &session.id, now).await
    }

    /// Trades a refresh token for a new access token and the next refresh token.
    pub async fn refresh(
        &self,
        shown: &str,
        now: Timestamp,
    ) -> Result<Result<Grant, NoGrant>, RegisterError> {
        let Some((tenant, id)) = read(shown) else { return Ok(Err(NoGrant::Unknown)) };
        let (next, session) = (Refresh::new(tenant, id), id.to_string());
        let (shown, digest) = (Digest::of(shown), next.text.with(Digest::of));
        match self.store.refresh(tenant, &session, shown, digest).await? {
            Refreshed::Next(identity) => {
                let access = self.access(identity.scope, &session, now).await?;
                Ok(Ok(Grant { access, refresh: next.text }))
            }
            Refreshed::Reused => Ok(Err(NoGrant::Reused)),
            Refreshed::Unknown => Ok(Err(NoGrant::Unknown)),
        }
    }

    async fn access(
        &self,
        scope: TenantScope,
        session: &str,
        now: Timestamp,
    ) -> Result<Key, RegisterError> {
        let subject = Subject { sub: session, sid: Some(session) };
        self.sign(scope, AUDIENCE, &subject, now).await
    }
}

/// A refresh token. It names its tenant and its session, so that its row is looked for in that
/// tenant and nowhere else; what proves it is the secret behind them.
struct Refresh {
    text: Key,
}

impl Refresh {
    fn new(tenant: TenantId, session: Uuid) -> Self {
        let tenant = tenant.uuid();
        let text = |secret: &str| {
            format!("{MARK}_{}_{}_{secret}", tenant.as_simple(), session.as_simple())
        };
        Self { text: Key::new(new_secret().with(text)) }
    }
}

/// The tenant and the session a refresh token names. Nothing is proven.
fn read(token: &str) -> Option<(TenantId, Uuid)> {
    if token.len() > REFRESH_TOKEN_BYTES_MAX {
        return None;
    }
    let mut parts = token.split('_');
    let [mark, tenant, session, _secret] = std::array::from_fn(|_| parts.next().unwrap_or(""));
    if mark != MARK || parts.next().is_some() {
        return None;
    }
    let (tenant, session) = (Uuid::try_parse(tenant).ok()?, Uuid::try_parse(session).ok()?);
    Some((TenantId::from_uuid(tenant), session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_token_names_its_tenant_and_session() {
        let tenant = TenantId::from_uuid(Uuid::from_u128(7));
        let session = Uuid::from_u128(9);
        let token = Refresh::new(tenant, session).text.with(str::to_owned);

        assert_eq!(read(&token), Some((tenant, session)));
        let long = format!("{token}{}", "0".repeat(REFRESH_TOKEN_BYTES_MAX));
        let others = ["", "ndr", "ndr_1_2_3", &token[1..], &format!("{token}_x"), &long];
        for other in others {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
