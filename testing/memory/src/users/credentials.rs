//! Implements login links, sessions and API tokens.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::enrolment::Digest;
use nightdesk_types::limits::{API_TOKENS_MAX, LIST_ROWS_MAX};
use nightdesk_types::{Actor, ApiTokenId, StoreError, TenantScope, Timestamp, UserId};
use nightdesk_users::{
    ApiTokenStore, ListedApiToken, LoginStore, NewApiToken, SessionTimes, StoredApiToken,
    StoredUserSession, TokenCreation,
};
use serde_json::json;

use super::super::{Memory, State};

pub(super) struct LinkRow {
    user: UserId,
    expires_at: Timestamp,
    is_used: bool,
}

pub(super) struct SessionRow {
    pub(super) user: UserId,
    pub(super) is_ended: bool,
    times: SessionTimes,
}

pub(super) struct TokenRow {
    digest: [u8; 32],
    listed: ListedApiToken,
}

impl TokenRow {
    fn is_live(&self, now: Timestamp) -> bool {
        self.listed.revoked_at.is_none() && self.listed.expires_at > now
    }
}

impl Memory {
    fn tell_user(&self, state: &mut State, by: Actor, kind: Kind, user: UserId) {
        let scope = TenantScope::desk_own().with_actor(by);
        self.tell(state, scope, kind, &json!({ "user_id": user }));
    }

    fn tell_token(&self, state: &mut State, by: Actor, kind: Kind, token: ApiTokenId) {
        let scope = TenantScope::desk_own().with_actor(by);
        self.tell(state, scope, kind, &json!({ "token_id": token }));
    }

    fn after(&self, span: Duration) -> Timestamp {
        self.now().checked_add(span).unwrap_or(Timestamp::MAX)
    }

    /// Ends every session of a user. Returns their number.
    pub(super) fn end_sessions_of(&self, state: &mut State, by: Actor, user: UserId) -> i64 {
        let rows = state.users.sessions.values_mut();
        let live = rows.filter(|row| row.user == user && !row.is_ended);
        let ended = live.map(|row| row.is_ended = true).count();
        if ended > 0 {
            self.tell_user(state, by, Kind::UserLoggedOut, user);
        }
        i64::try_from(ended).unwrap_or(i64::MAX)
    }
}

#[async_trait]
impl LoginStore for Memory {
    async fn create_link(
        &self,
        by: Actor,
        user: UserId,
        link: Digest,
        lasts: Duration,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        if !state.users.users.contains_key(&user) {
            return Ok(false);
        }
        let row = LinkRow { user, expires_at: self.after(lasts), is_used: false };
        state.users.links.insert(*link.as_bytes(), row);
        self.tell_user(&mut state, by, Kind::LoginLinkMade, user);
        Ok(true)
    }

    async fn redeem_link(&self, shown: Digest) -> Result<Option<UserId>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let row = state.users.links.get_mut(shown.as_bytes());
        let Some(row) = row.filter(|row| !row.is_used && now < row.expires_at) else {
            return Ok(None);
        };
        row.is_used = true;
        let user = row.user;
        if let Some(row) = state.users.users.get_mut(&user) {
            row.used_at = Some(now);
        }
        Ok(Some(user))
    }

    async fn begin_user_session(&self, user: UserId, cookie: Digest) -> Result<bool, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        if state.roles_of(user).is_empty() {
            return Ok(false);
        }
        let times = SessionTimes { begun_at: now, used_at: now };
        state
            .users
            .sessions
            .insert(*cookie.as_bytes(), SessionRow { user, is_ended: false, times });
        if let Some(row) = state.users.users.get_mut(&user) {
            row.used_at = Some(now);
        }
        self.tell_user(&mut state, Actor::User(user), Kind::UserLoggedIn, user);
        Ok(true)
    }

    async fn user_session(&self, shown: Digest) -> Result<Option<StoredUserSession>, StoreError> {
        let state = self.lock();
        let row = state.users.sessions.get(shown.as_bytes()).filter(|row| !row.is_ended);
        Ok(row.and_then(|row| {
            let holder = state.credential_holder(row.user, self.now())?;
            Some(StoredUserSession { holder, times: row.times, now: self.now() })
        }))
    }

    async fn touch_session(&self, shown: Digest) -> Result<(), StoreError> {
        let now = self.now();
        if let Some(row) = self.lock().users.sessions.get_mut(shown.as_bytes()) {
            row.times.used_at = now;
        }
        Ok(())
    }

    async fn end_user_session(&self, shown: Digest) -> Result<(), StoreError> {
        let mut state = self.lock();
        let row = state.users.sessions.get_mut(shown.as_bytes()).filter(|row| !row.is_ended);
        let ended = row.map(|row| {
            row.is_ended = true;
            row.user
        });
        if let Some(user) = ended {
            self.tell_user(&mut state, Actor::Desk, Kind::UserLoggedOut, user);
        }
        Ok(())
    }

    async fn end_user_sessions(&self, by: Actor, user: UserId) -> Result<i64, StoreError> {
        Ok(self.end_sessions_of(&mut self.lock(), by, user))
    }
}

#[async_trait]
impl ApiTokenStore for Memory {
    async fn create_api_token(
        &self,
        by: Actor,
        user: UserId,
        new: &NewApiToken,
    ) -> Result<TokenCreation, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        if !state.users.users.contains_key(&user) {
            return Ok(TokenCreation::UnknownUser);
        }
        let live =
            state.users.tokens.values().filter(|row| row.listed.user == user && row.is_live(now));
        if i64::try_from(live.count()).is_ok_and(|live| live >= API_TOKENS_MAX) {
            return Ok(TokenCreation::TooMany);
        }
        let id = ApiTokenId::from_uuid(state.mint());
        let listed = ListedApiToken {
            id,
            user,
            name: new.name.clone(),
            limits: new.limits.clone(),
            created_at: now,
            expires_at: self.after(new.lasts),
            used_at: None,
            revoked_at: None,
        };
        state.users.tokens.insert(id, TokenRow { digest: *new.secret.as_bytes(), listed });
        self.tell_token(&mut state, by, Kind::ApiTokenMade, id);
        Ok(TokenCreation::Created(id))
    }

    async fn api_token(&self, shown: Digest) -> Result<Option<StoredApiToken>, StoreError> {
        let state = self.lock();
        let row = state.users.tokens.values().find(|row| row.digest == *shown.as_bytes());
        let live = row.map(|row| &row.listed).filter(|listed| listed.revoked_at.is_none());
        Ok(live.and_then(|listed| {
            Some(StoredApiToken {
                id: listed.id,
                holder: state.credential_holder(listed.user, self.now())?,
                limits: listed.limits.clone(),
                expires_at: listed.expires_at,
                used_at: listed.used_at,
                now: self.now(),
            })
        }))
    }

    async fn touch_api_token(&self, id: ApiTokenId) -> Result<(), StoreError> {
        let now = self.now();
        if let Some(row) = self.lock().users.tokens.get_mut(&id) {
            row.listed.used_at = Some(now);
        }
        Ok(())
    }

    async fn api_tokens(
        &self,
        user: Option<UserId>,
        after: Option<ApiTokenId>,
    ) -> Result<Vec<ListedApiToken>, StoreError> {
        let state = self.lock();
        let rows = state.users.tokens.values().map(|row| &row.listed);
        let page = rows
            .filter(|listed| user.is_none_or(|user| listed.user == user))
            .filter(|listed| after.is_none_or(|after| listed.id > after));
        Ok(page.take(usize::try_from(LIST_ROWS_MAX).unwrap_or(0)).cloned().collect())
    }

    async fn revoke_api_token(
        &self,
        by: Actor,
        id: ApiTokenId,
        of: Option<UserId>,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let row = state.users.tokens.get_mut(&id).map(|row| &mut row.listed);
        let valid = row.filter(|listed| {
            listed.revoked_at.is_none() && of.is_none_or(|user| listed.user == user)
        });
        let Some(listed) = valid else { return Ok(false) };
        listed.revoked_at = Some(now);
        self.tell_token(&mut state, by, Kind::ApiTokenRevoked, id);
        Ok(true)
    }
}
