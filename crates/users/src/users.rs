//! Authenticates users and their programs, and creates their credentials.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_register::enrolment::Digest;
use nightdesk_types::limits::{LOGIN_LINK_LIFE, USER_NAME_BYTES_MAX};
use nightdesk_types::{Actor, StoreError, TenantScope, UserId};
use nightdesk_vault::Key;

use crate::access::{Access, TokenLimits};
use crate::glass::{GlassRefusal, GlassRequest, check_request};
use crate::secret::SecretKind;
use crate::session::{UseState, session_state, token_state};
use crate::store::{CredentialHolder, NewApiToken, TokenCreation, UserStore};

/// The users of the desk.
#[derive(Clone)]
pub struct Users {
    store: Arc<dyn UserStore>,
}

nightdesk_types::opaque_debug!(Users);

/// A new token: its text is shown once.
#[derive(Debug)]
pub struct CreatedToken {
    /// The outcome.
    pub creation: TokenCreation,
    /// The text.
    pub text: Key,
}

impl Users {
    /// Creates the users over this store.
    pub fn new(store: Arc<dyn UserStore>) -> Self {
        Self { store }
    }

    /// Returns the store, for operations that make no credential.
    pub fn store(&self) -> &dyn UserStore {
        &*self.store
    }

    /// Makes a login link for a user: its code is shown once. `None`: there is no such user.
    pub async fn create_link(&self, by: Actor, user: UserId) -> Result<Option<Key>, StoreError> {
        let code = SecretKind::Link.generate();
        let digest = code.with(Digest::from_secret);
        let created = self.store.create_link(by, user, digest, LOGIN_LINK_LIFE).await?;
        Ok(created.then_some(code))
    }

    /// Returns the user of a login link, once. `None`: the code is unknown, used or over.
    pub async fn redeem_link(&self, code: &str) -> Result<Option<UserId>, StoreError> {
        match SecretKind::Link.digest(code) {
            Some(digest) => self.store.redeem_link(digest).await,
            None => Ok(None),
        }
    }

    /// Begins a session. Returns its cookie, or `None` if the user has no role.
    pub async fn begin_session(&self, user: UserId) -> Result<Option<Key>, StoreError> {
        let cookie = SecretKind::Session.generate();
        let begun = self.store.begin_user_session(user, cookie.with(Digest::from_secret)).await?;
        Ok(begun.then_some(cookie))
    }

    /// Returns the access of a session's cookie. `None`: the session is unknown or over.
    pub async fn session(&self, cookie: &str) -> Result<Option<Access>, StoreError> {
        let Some(digest) = SecretKind::Session.digest(cookie) else { return Ok(None) };
        let Some(session) = self.store.user_session(digest).await? else { return Ok(None) };
        match session_state(session.times, session.now) {
            UseState::Over => {
                self.store.end_user_session(digest).await?;
                return Ok(None);
            }
            UseState::ValidAndRecorded => self.store.touch_session(digest).await?,
            UseState::Valid => {}
        }
        let actor = Actor::User(session.holder.user);
        Ok(access(session.holder, actor, None))
    }

    /// Returns the access of a session's cookie, and records no use: an open page alone keeps no session alive. `None`: the
    /// session is unknown or over.
    pub async fn look_at_session(&self, cookie: &str) -> Result<Option<Access>, StoreError> {
        let Some(digest) = SecretKind::Session.digest(cookie) else { return Ok(None) };
        let Some(session) = self.store.user_session(digest).await? else { return Ok(None) };
        if session_state(session.times, session.now) == UseState::Over {
            return Ok(None);
        }
        let actor = Actor::User(session.holder.user);
        Ok(access(session.holder, actor, None))
    }

    /// Ends the session of a cookie.
    pub async fn end_session(&self, cookie: &str) -> Result<(), StoreError> {
        match SecretKind::Session.digest(cookie) {
            Some(digest) => self.store.end_user_session(digest).await,
            None => Ok(()),
        }
    }

    /// Creates a token of a user.
    pub async fn create_token(
        &self,
        by: Actor,
        user: UserId,
        name: &str,
        limits: TokenLimits,
        lasts: Duration,
    ) -> Result<CreatedToken, StoreError> {
        let text = SecretKind::Token.generate();
        let name = name.to_owned();
        let new = NewApiToken { name, secret: text.with(Digest::from_secret), limits, lasts };
        let creation = self.store.create_api_token(by, user, &new).await?;
        Ok(CreatedToken { creation, text })
    }

    /// Returns the access of a token. `None`: the token is unknown, revoked or over.
    pub async fn token(&self, text: &str) -> Result<Option<Access>, StoreError> {
        let Some(digest) = SecretKind::Token.digest(text) else { return Ok(None) };
        let Some(token) = self.store.api_token(digest).await? else { return Ok(None) };
        match token_state(token.expires_at, token.used_at, token.now) {
            UseState::Over => return Ok(None),
            UseState::ValidAndRecorded => self.store.touch_api_token(token.id).await?,
            UseState::Valid => {}
        }
        Ok(access(token.holder, Actor::Token(token.id), Some(token.limits)))
    }

    /// Requests to read a tenant's messages.
    pub async fn ask_glass(
        &self,
        scope: TenantScope,
        by: UserId,
        reason: &str,
        lasts: Duration,
    ) -> Result<Result<GlassRequest, GlassRefusal>, StoreError> {
        if let Err(refusal) = check_request(reason, lasts) {
            return Ok(Err(refusal));
        }
        self.store.ask_glass(scope, by, reason.trim(), lasts).await.map(Ok)
    }
}

/// Returns the access of a credential's holder. A user without a role has none.
fn access(holder: CredentialHolder, actor: Actor, limits: Option<TokenLimits>) -> Option<Access> {
    let CredentialHolder { user, name, roles, open_glass } = holder;
    let has_role = !roles.is_empty();
    has_role.then_some(Access { user, name, actor, roles, limits, open_glass })
}

/// Returns true if a name of a user or a token can be shown in a list: one line, not empty and not too long.
pub fn is_user_name(name: &str) -> bool {
    let name = name.trim();
    (1..=USER_NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}
