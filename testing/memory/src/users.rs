//! Implements the users' store.

mod credentials;
mod glass;

use std::collections::BTreeMap;

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::{LIST_ROWS_MAX, USER_ROLES_MAX};
use nightdesk_types::{Actor, ApiTokenId, StoreError, TenantScope, Timestamp, UserId};
use nightdesk_users::{
    CredentialHolder, GlassRequest, GlassState, ListedUser, NewUser, OpenGlass, ProviderLogin,
    Role, RoleSource, UserDirectory, UserSelection,
};
use serde_json::json;

use super::{Memory, State};
use credentials::{LinkRow, SessionRow, TokenRow};

/// The tables of users.
#[derive(Default)]
pub(super) struct UserTables {
    users: BTreeMap<UserId, UserRow>,
    /// By the digest of the code.
    links: BTreeMap<[u8; 32], LinkRow>,
    /// By the digest of the cookie.
    sessions: BTreeMap<[u8; 32], SessionRow>,
    tokens: BTreeMap<ApiTokenId, TokenRow>,
    /// Oldest first.
    glass: Vec<GlassRequest>,
}

#[derive(Clone)]
struct UserRow {
    name: String,
    email: Option<String>,
    login: Option<(String, String)>,
    created_at: Timestamp,
    used_at: Option<Timestamp>,
    roles: Vec<(Role, RoleSource)>,
}

/// Returns the place whose audit log records acts on a role.
fn role_scope(role: Role, by: Actor) -> TenantScope {
    let tenant = role.tenant().unwrap_or(TenantScope::desk_own().tenant());
    TenantScope::for_tenant(tenant).with_actor(by)
}

impl State {
    /// Returns a user's distinct roles.
    fn roles_of(&self, user: UserId) -> Vec<Role> {
        let rows = self.users.users.get(&user).into_iter().flat_map(|row| &row.roles);
        let mut roles: Vec<Role> = rows.map(|(role, _)| *role).collect();
        roles.sort();
        roles.dedup();
        roles
    }

    fn credential_holder(&self, user: UserId, now: Timestamp) -> Option<CredentialHolder> {
        let name = self.users.users.get(&user)?.name.clone();
        let open = |glass: &&GlassRequest| glass.asked_by == user && glass.is_open(now);
        let open_glass =
            self.users.glass.iter().filter(open).map(|glass| OpenGlass { tenant: glass.tenant });
        let open_glass = open_glass.collect();
        Some(CredentialHolder { user, name, roles: self.roles_of(user), open_glass })
    }

    fn live_sessions(&self, user: UserId) -> i64 {
        let of_user = |row: &&SessionRow| row.user == user && !row.is_ended;
        i64::try_from(self.users.sessions.values().filter(of_user).count()).unwrap_or(i64::MAX)
    }
}

impl Memory {
    fn add_role(&self, state: &mut State, by: Actor, user: UserId, given: (Role, RoleSource)) {
        let Some(row) = state.users.users.get_mut(&user) else { return };
        if row.roles.contains(&given) {
            return;
        }
        row.roles.push(given);
        self.tell_role(state, Kind::RoleGiven, by, user, given);
    }

    fn tell_role(
        &self,
        state: &mut State,
        kind: Kind,
        by: Actor,
        user: UserId,
        (role, source): (Role, RoleSource),
    ) {
        let about = json!({ "user_id": user, "role": role.name(), "source": source.slug() });
        self.tell(state, role_scope(role, by), kind, &about);
    }

    fn insert_user(&self, state: &mut State, by: Actor, row: UserRow) -> UserId {
        let user = UserId::from_uuid(state.mint());
        state.users.users.insert(user, row);
        let scope = TenantScope::desk_own().with_actor(by);
        self.tell(state, scope, Kind::UserCreated, &json!({ "user_id": user }));
        user
    }

    /// Finds the user of a login, or creates one if the claims give a role.
    fn provided_user(&self, state: &mut State, login: &ProviderLogin) -> Option<UserId> {
        let ProviderLogin { issuer, subject, name, email, roles } = login;
        let id = Some((issuer.clone(), subject.clone()));
        let known =
            state.users.users.iter().find(|(_, row)| row.login == id).map(|(user, _)| *user);
        let invited = |row: &UserRow| row.login.is_none() && email.is_some() && row.email == *email;
        let by_email =
            state.users.users.iter().find(|(_, row)| invited(row)).map(|(user, _)| *user);
        let Some(user) = known.or(by_email) else {
            let row = UserRow {
                name: name.clone(),
                email: email.clone(),
                login: id,
                created_at: self.now(),
                used_at: Some(self.now()),
                roles: Vec::new(),
            };
            return (!roles.is_empty()).then(|| self.insert_user(state, Actor::Desk, row));
        };
        let now = self.now();
        if let Some(row) = state.users.users.get_mut(&user) {
            row.name.clone_from(name);
            row.email = email.clone().or_else(|| row.email.take());
            (row.login, row.used_at) = (id, Some(now));
        }
        Some(user)
    }
}

#[async_trait]
impl UserDirectory for Memory {
    async fn create_user(&self, by: Actor, new: &NewUser) -> Result<UserId, StoreError> {
        let mut state = self.lock();
        let row = UserRow {
            name: new.name.clone(),
            email: new.email.as_deref().map(str::to_lowercase),
            login: None,
            created_at: self.now(),
            used_at: None,
            roles: Vec::new(),
        };
        let user = self.insert_user(&mut state, by, row);
        for role in &new.roles {
            self.add_role(&mut state, by, user, (*role, RoleSource::Hand));
        }
        Ok(user)
    }

    async fn log_in(&self, login: &ProviderLogin) -> Result<Option<UserId>, StoreError> {
        let mut state = self.lock();
        let Some(user) = self.provided_user(&mut state, login) else { return Ok(None) };
        let rows = state.users.users.get(&user).map(|row| row.roles.clone()).unwrap_or_default();
        let is_gone =
            |row: &&(Role, RoleSource)| row.1 == RoleSource::Claim && !login.roles.contains(&row.0);
        for gone in rows.iter().filter(is_gone) {
            self.tell_role(&mut state, Kind::RoleTaken, Actor::Desk, user, *gone);
        }
        if let Some(row) = state.users.users.get_mut(&user) {
            row.roles.retain(|row| !is_gone(&row));
        }
        for role in &login.roles {
            self.add_role(&mut state, Actor::Desk, user, (*role, RoleSource::Claim));
        }
        Ok((!state.roles_of(user).is_empty()).then_some(user))
    }

    async fn users(
        &self,
        which: UserSelection,
        after: Option<UserId>,
    ) -> Result<Vec<ListedUser>, StoreError> {
        let state = self.lock();
        let is_shown = |role: Role| match which {
            UserSelection::OfTenant(tenant) => role.tenant() == Some(tenant),
            UserSelection::All | UserSelection::Of(_) => true,
        };
        let rows =
            state.users.users.iter().filter(|(user, _)| after.is_none_or(|after| **user > after));
        let listed = rows.filter_map(|(user, row)| {
            let mut roles: Vec<_> =
                row.roles.iter().copied().filter(|(role, _)| is_shown(*role)).collect();
            roles.sort();
            let is_selected = match which {
                UserSelection::All => true,
                UserSelection::OfTenant(_) => !roles.is_empty(),
                UserSelection::Of(only) => only == *user,
            };
            is_selected.then(|| ListedUser {
                id: *user,
                name: row.name.clone(),
                email: row.email.clone(),
                issuer: row.login.as_ref().map(|(issuer, _)| issuer.clone()),
                created_at: row.created_at,
                used_at: row.used_at,
                roles,
                sessions: state.live_sessions(*user),
            })
        });
        Ok(listed.take(usize::try_from(LIST_ROWS_MAX).unwrap_or(0)).collect())
    }

    async fn give_role(&self, by: Actor, user: UserId, role: Role) -> Result<bool, StoreError> {
        let mut state = self.lock();
        if !state.users.users.contains_key(&user) || state.roles_of(user).len() >= USER_ROLES_MAX {
            return Ok(false);
        }
        self.add_role(&mut state, by, user, (role, RoleSource::Hand));
        Ok(true)
    }

    async fn take_role(&self, by: Actor, user: UserId, role: Role) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let Some(row) = state.users.users.get_mut(&user) else { return Ok(false) };
        let (taken, left): (Vec<_>, Vec<_>) = row.roles.iter().partition(|row| row.0 == role);
        row.roles = left;
        for taken in &taken {
            self.tell_role(&mut state, Kind::RoleTaken, by, user, *taken);
        }
        if state.roles_of(user).is_empty() {
            self.end_sessions_of(&mut state, by, user);
        }
        Ok(!taken.is_empty())
    }
}

/// Returns true if a request may still be ended.
fn is_live(request: &GlassRequest, now: Timestamp) -> bool {
    match request.state {
        GlassState::Asked => true,
        GlassState::Open { until, .. } => now < until,
        GlassState::Ended => false,
    }
}
