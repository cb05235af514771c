//! `/t/{tenant}/users`, `/users`: the users of a tenant or of the desk, and their roles.

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::{CreatedLink, RoleView, UserView, read_role};
use nightdesk_pages::render_page;
use nightdesk_types::{TenantScope, UserId};
use nightdesk_users::{Access, Right, TenantRole, UserSelection};
use serde::Deserialize;

use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::layout::{Layout, Section};
use crate::notice::Notice;
use crate::place::{DeskPlace, TenantPlace};
use crate::refusal::Refusal;
use crate::secret::{SecretPage, fact};
use crate::session::{NoFields, OwnForm};
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/t/{tenant}/users", get(show_tenant).post(create_in_tenant))
        .route("/t/{tenant}/users/{user}/roles", post(change_tenant_role))
        .route("/t/{tenant}/users/{user}/link", post(link_in_tenant))
        .route("/t/{tenant}/users/{user}/logout", post(log_out_in_tenant))
        .route("/users", get(show_desk).post(create_in_desk))
        .route("/users/{user}/roles", post(change_desk_role))
        .route("/users/{user}/link", post(link_in_desk))
        .route("/users/{user}/logout", post(log_out_in_desk))
}

#[derive(Template)]
#[template(path = "users.html")]
struct UsersPage {
    layout: Layout,
    clock: PageClock,
    path: String,
    users: Vec<UserView>,
    next: Option<String>,
    /// The roles that can be given here.
    roles: Vec<&'static str>,
    /// The tenant of the page.
    tenant_id: Option<String>,
    tenant_path: Option<String>,
}

impl UsersPage {
    /// Returns true if a role counts in the place of the page, where it can be taken.
    fn is_of_page(&self, role: &RoleView) -> bool {
        role.tenant_id == self.tenant_id
    }
}

/// The users of a place, and the user of the page.
struct UsersPlace {
    layout: Layout,
    path: String,
    scope: Option<TenantScope>,
    access: Access,
}

impl UsersPlace {
    fn of_tenant(place: TenantPlace) -> Result<Self, Refusal> {
        let scope = Some(place.scope_for(Right::ManageUsers)?);
        let path = format!("{}/users", place.path());
        Ok(Self { layout: place.layout(Section::Users), path, scope, access: place.access })
    }

    fn of_desk(place: DeskPlace) -> Result<Self, Refusal> {
        place.check(Right::ManageUsers)?;
        let (layout, path) = (place.layout(Section::DeskUsers), "/users".to_owned());
        Ok(Self { layout, path, scope: None, access: place.access })
    }

    async fn show(self, desk: &Dashboard, after: Option<UserId>) -> Result<Response, Refusal> {
        let which = match self.scope {
            Some(scope) => UserSelection::OfTenant(scope.tenant()),
            None => UserSelection::All,
        };
        let users = desk.office().user_list(which, after).await?;
        let roles = match self.scope {
            Some(_) => TenantRole::ALL.map(TenantRole::slug).to_vec(),
            None => vec!["operator", "auditor"],
        };
        let tenant_path = self.scope.and_then(|_| self.path.strip_suffix("/users"));
        Ok(render_page(&UsersPage {
            layout: self.layout,
            clock: desk.page_clock(),
            next: super::next_page(&self.path, &users, |user| &user.user_id),
            users,
            roles,
            tenant_id: self.scope.map(|scope| scope.tenant().to_string()),
            tenant_path: tenant_path.map(str::to_owned),
            path: self.path,
        }))
    }

    async fn create(self, desk: &Dashboard, form: &UserForm) -> Result<Response, Refusal> {
        let role = read_role(&form.role, self.scope)?;
        let email = Some(form.email.trim().to_owned()).filter(|email| !email.is_empty());
        let user = desk.office().create_user(&self.access, &form.name, email, role).await?;
        let id: UserId = user.user_id.parse().map_err(|_| crate::refusal::bad_form())?;
        let link = desk.office().create_link(&self.access, id).await?;
        Ok(self.show_link(link))
    }

    async fn link(self, desk: &Dashboard, user: UserId) -> Result<Response, Refusal> {
        let link = desk.office().create_link(&self.access, user).await?;
        Ok(self.show_link(link))
    }

    fn show_link(self, link: CreatedLink) -> Response {
        let page = SecretPage {
            layout: self.layout,
            title: "A login link".to_owned(),
            text: "Give this address to the user. It logs in once, within fifteen minutes, and is shown only here.",
            facts: vec![fact("Link", link.url)],
            back: self.path,
        };
        page.into_response()
    }

    async fn change_role(
        self,
        desk: &Dashboard,
        user: UserId,
        form: &RoleForm,
    ) -> Result<Response, Refusal> {
        let role = read_role(&form.role, self.scope)?;
        let notice = if form.take.is_some() {
            desk.office().take_role(&self.access, user, role).await?;
            Notice::RoleTaken
        } else {
            desk.office().give_role(&self.access, user, role).await?;
            Notice::RoleGiven
        };
        Ok(notice.redirect(&self.path))
    }

    async fn log_out(self, desk: &Dashboard, user: UserId) -> Result<Response, Refusal> {
        desk.office().end_sessions(&self.access, user).await?;
        Ok(Notice::SessionsEnded.redirect(&self.path))
    }
}

/// The query of the page.
#[derive(Deserialize)]
struct UsersQuery {
    after: Option<UserId>,
}

/// A new user.
#[derive(Deserialize)]
struct UserForm {
    name: String,
    #[serde(default)]
    email: String,
    role: String,
}

/// A role to give or to take.
#[derive(Deserialize)]
struct RoleForm {
    role: String,
    /// Present if the role is taken.
    take: Option<String>,
}

/// The user of a path.
#[derive(Deserialize)]
struct UserPath {
    user: UserId,
}

async fn show_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Query(query): Query<UsersQuery>,
) -> Result<Response, Refusal> {
    UsersPlace::of_tenant(place)?.show(&desk, query.after).await
}

async fn show_desk(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Query(query): Query<UsersQuery>,
) -> Result<Response, Refusal> {
    UsersPlace::of_desk(place)?.show(&desk, query.after).await
}

async fn create_in_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<UserForm>,
) -> Result<Response, Refusal> {
    UsersPlace::of_tenant(place)?.create(&desk, &form).await
}

async fn create_in_desk(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    OwnForm(form): OwnForm<UserForm>,
) -> Result<Response, Refusal> {
    UsersPlace::of_desk(place)?.create(&desk, &form).await
}

async fn change_tenant_role(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(UserPath { user }): Path<UserPath>,
    OwnForm(form): OwnForm<RoleForm>,
) -> Result<Response, Refusal> {
    UsersPlace::of_tenant(place)?.change_role(&desk, user, &form).await
}

async fn change_desk_role(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Path(UserPath { user }): Path<UserPath>,
    OwnForm(form): OwnForm<RoleForm>,
) -> Result<Response, Refusal> {
    UsersPlace::of_desk(place)?.change_role(&desk, user, &form).await
}

async fn link_in_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(UserPath { user }): Path<UserPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    UsersPlace::of_tenant(place)?.link(&desk, user).await
}

async fn link_in_desk(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Path(UserPath { user }): Path<UserPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    UsersPlace::of_desk(place)?.link(&desk, user).await
}

async fn log_out_in_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(UserPath { user }): Path<UserPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    UsersPlace::of_tenant(place)?.log_out(&desk, user).await
}

async fn log_out_in_desk(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Path(UserPath { user }): Path<UserPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    UsersPlace::of_desk(place)?.log_out(&desk, user).await
}
