//! The users' store: people who log in, and their roles.

mod access;
mod api_tokens;
mod glass;
mod logins;

use async_trait::async_trait;
use nightdesk_types::limits::{LIST_ROWS_MAX, USER_ROLES_MAX};
use nightdesk_types::{Actor, StoreError, TenantId, TenantScope, UserId};
use nightdesk_users::{
    ListedUser, NewUser, ProviderLogin, Role, RoleSource, UserDirectory, UserSelection,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Pg;
use crate::row::bad_column;
pub(crate) use access::{SessionByCookie, TokenBySecret};

/// The scope in which a user's row is written, on behalf of an actor.
const fn desk_scope(by: Actor) -> TenantScope {
    TenantScope::desk_own().with_actor(by)
}

/// The scope of a role: its tenant, or the desk.
fn role_scope(role: Role, by: Actor) -> TenantScope {
    TenantScope::for_tenant(TenantId::from_uuid(role_tenant(role))).with_actor(by)
}

/// Returns the tenant of a role's row.
fn role_tenant(role: Role) -> Uuid {
    role.tenant().unwrap_or(TenantScope::desk_own().tenant()).uuid()
}

/// Reads a role's row.
fn read_role(tenant: Uuid, name: &str) -> sqlx::Result<Role> {
    let tenant = TenantId::from_uuid(tenant);
    let tenant = (tenant != TenantScope::desk_own().tenant()).then_some(tenant);
    Role::from_name(name, tenant).ok_or_else(|| bad_column("user_roles", "role"))
}

#[async_trait]
impl UserDirectory for Pg {
    async fn create_user(&self, by: Actor, new: &NewUser) -> Result<UserId, StoreError> {
        let new = new.clone();
        let tenants: Vec<Uuid> = new.roles.iter().map(|role| role_tenant(*role)).collect();
        run_to_end!(self.for_tenant("create a user", desk_scope(by)), |connection| {
            sqlx::query_scalar!("select works_for_all($1)", &tenants)
                .fetch_one(&mut *connection)
                .await?;
            let user = sqlx::query_scalar!(
                "insert into users (name, email) values ($1, lower($2)) returning user_id",
                new.name,
                new.email
            )
            .fetch_one(&mut *connection)
            .await?;
            for role in new.roles {
                enter_role(connection, user, role).await?;
            }
            Ok(UserId::from_uuid(user))
        })
    }

    async fn log_in(&self, login: &ProviderLogin) -> Result<Option<UserId>, StoreError> {
        let login = login.clone();
        run_to_end!(self.for_tenant("log a user in", desk_scope(Actor::Desk)), |connection| {
            let found = find_user(connection, &login).await?;
            let user = match found {
                Some(user) => user,
                None if login.roles.is_empty() => return Ok(None),
                None => enter_provided_user(connection, &login).await?,
            };
            let (tenants, roles): (Vec<Uuid>, Vec<String>) =
                login.roles.iter().map(|role| (role_tenant(*role), role.name().to_owned())).unzip();
            sqlx::query!("select door_claim_roles($1, $2, $3)", user, &tenants, &roles)
                .execute(&mut *connection)
                .await?;
            let has_role = access::has_role(connection, user).await?;
            Ok(has_role.then_some(UserId::from_uuid(user)))
        })
    }

    async fn users(
        &self,
        which: UserSelection,
        after: Option<UserId>,
    ) -> Result<Vec<ListedUser>, StoreError> {
        let (tenant, user) = match which {
            UserSelection::All => (None, None),
            UserSelection::OfTenant(tenant) => (Some(tenant.uuid()), None),
            UserSelection::Of(user) => (None, Some(user.uuid())),
        };
        run_to_end!(self.single("list users"), |connection| {
            let rows = sqlx::query!(
                r#"select user_id as "user!", name as "name!", email, issuer,
                       created_at as "created_at!: jiff_sqlx::Timestamp",
                       used_at as "used_at: jiff_sqlx::Timestamp", role_tenants as "tenants!",
                       roles as "roles!", sources as "sources!", sessions as "sessions!"
                   from door_users($1, $2, $3, $4)"#,
                tenant,
                user,
                after.map(UserId::uuid),
                i32::try_from(LIST_ROWS_MAX).unwrap_or(i32::MAX)
            )
            .fetch_all(connection)
            .await?;
            let listed = rows.into_iter().map(|row| {
                Ok(ListedUser {
                    id: UserId::from_uuid(row.user),
                    name: row.name,
                    email: row.email,
                    issuer: row.issuer,
                    created_at: row.created_at.to_jiff(),
                    used_at: row.used_at.map(jiff_sqlx::Timestamp::to_jiff),
                    roles: read_roles(&row.tenants, &row.roles, &row.sources)?,
                    sessions: row.sessions,
                })
            });
            listed.collect()
        })
    }

    async fn give_role(&self, by: Actor, user: UserId, role: Role) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("give a role", role_scope(role, by)), |connection| {
            let has_room = sqlx::query_scalar!(
                r#"select (select cardinality(roles) from door_user_access(array[$1]::uuid[])) < $2 as "has_room!"
                   from users where user_id = $1"#,
                user.uuid(),
                i32::try_from(USER_ROLES_MAX).unwrap_or(i32::MAX)
            )
            .fetch_optional(&mut *connection)
            .await?;
            if has_room != Some(true) {
                return Ok(false);
            }
            enter_role(connection, user.uuid(), role).await?;
            Ok(true)
        })
    }

    async fn take_role(&self, by: Actor, user: UserId, role: Role) -> Result<bool, StoreError> {
        run_to_end!(self.for_tenant("take a role", role_scope(role, by)), |connection| {
            let taken = sqlx::query!(
                "delete from user_roles where tenant_id = $1 and user_id = $2 and role = $3",
                role_tenant(role),
                user.uuid(),
                role.name()
            )
            .execute(&mut *connection)
            .await?;
            if !access::has_role(connection, user.uuid()).await? {
                logins::end_sessions(connection, user).await?;
            }
            Ok(taken.rows_affected() > 0)
        })
    }
}

fn read_roles(
    tenants: &[Uuid],
    roles: &[String],
    sources: &[String],
) -> sqlx::Result<Vec<(Role, RoleSource)>> {
    let rows = tenants.iter().zip(roles).zip(sources);
    let read = rows.map(|((tenant, role), source)| {
        let source =
            RoleSource::from_slug(source).ok_or_else(|| bad_column("user_roles", "source"))?;
        Ok((read_role(*tenant, role)?, source))
    });
    read.collect()
}

async fn enter_role(connection: &mut PgConnection, user: Uuid, role: Role) -> sqlx::Result<()> {
    sqlx::query!(
        "insert into user_roles (tenant_id, user_id, role, source) values ($1, $2, $3, 'hand')
         on conflict do nothing",
        role_tenant(role),
        user,
        role.name()
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Finds the user of a login: by the provider's id, or by the address that was entered for a user without a provider.
async fn find_user(
    connection: &mut PgConnection,
    login: &ProviderLogin,
) -> sqlx::Result<Option<Uuid>> {
    let ProviderLogin { issuer, subject, name, email, roles: _ } = login;
    let known = sqlx::query_scalar!(
        "update users set name = $3, email = coalesce($4, email), used_at = now()
         where issuer = $1 and subject = $2 returning user_id",
        issuer,
        subject,
        name,
        email.as_deref()
    )
    .fetch_optional(&mut *connection)
    .await?;
    if known.is_some() || email.is_none() {
        return Ok(known);
    }
    sqlx::query_scalar!(
        "update users set issuer = $1, subject = $2, name = $3, used_at = now()
         where user_id = (
             select user_id from users where issuer is null and email = $4
             order by created_at limit 1 for update
         ) returning user_id",
        issuer,
        subject,
        name,
        email.as_deref()
    )
    .fetch_optional(connection)
    .await
}

async fn enter_provided_user(
    connection: &mut PgConnection,
    login: &ProviderLogin,
) -> sqlx::Result<Uuid> {
    let ProviderLogin { issuer, subject, name, email, roles: _ } = login;
    sqlx::query_scalar!(
        "insert into users (issuer, subject, name, email, used_at) values ($1, $2, $3, $4, now())
         on conflict (issuer, subject) do update set used_at = now() returning user_id",
        issuer,
        subject,
        name,
        email.as_deref()
    )
    .fetch_one(connection)
    .await
}
