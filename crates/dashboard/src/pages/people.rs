//! `/t/{tenant}/people`: the people and chats that reach a tenant's agents.

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::{BotView, TenantGrantView, TenantPersonView, read_principal};
use nightdesk_pages::render_page;
use nightdesk_register::AgentOnBot;
use nightdesk_types::{BotId, GrantTarget, TenantScope};
use nightdesk_users::Right;
use serde::Deserialize;

use super::next_page;
use crate::assets::ASSETS;
use crate::layout::{Layout, Section};
use crate::notice::Notice;
use crate::place::TenantPlace;
use crate::refusal::{Refusal, bad_form};
use crate::session::OwnForm;
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/t/{tenant}/people", get(show))
        .route("/t/{tenant}/people/bind", post(bind))
        .route("/t/{tenant}/people/unbind", post(unbind))
        .route("/t/{tenant}/people/grant", post(grant))
        .route("/t/{tenant}/people/release", post(release))
}

#[derive(Template)]
#[template(path = "people.html")]
struct PeoplePage {
    layout: Layout,
    path: String,
    tenant_path: String,
    people: Vec<TenantPersonView>,
    more_people: Option<String>,
    grants: Vec<TenantGrantView>,
    more_grants: Option<String>,
    bots: Vec<BotView>,
    may_manage: bool,
}

/// The query of the page: each list has pages of its own.
#[derive(Deserialize)]
struct PeopleQuery {
    people: Option<String>,
    grants: Option<String>,
}

async fn show(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Query(query): Query<PeopleQuery>,
) -> Result<Response, Refusal> {
    let people = desk.office().people(place.scope, query.people.as_deref()).await?;
    let grants = desk.office().chat_grants(place.scope, query.grants.as_deref()).await?;
    let path = people_path(&place);
    let next = |link: Option<String>, list: &str| link.map(|link| link.replace("?after=", list));
    Ok(render_page(&PeoplePage {
        layout: place.layout(Section::People),
        more_people: next(next_page(&path, &people, |row| &row.key), "?people="),
        people,
        more_grants: next(next_page(&path, &grants, |row| &row.key), "?grants="),
        grants,
        bots: desk.office().bots(place.scope).await?,
        tenant_path: place.path(),
        path,
        may_manage: place.allows(Right::Manage),
    }))
}

fn people_path(place: &TenantPlace) -> String {
    format!("{}/people", place.path())
}

/// An agent on a bot, as a form names it.
async fn agent_on_bot(
    desk: &Dashboard,
    scope: TenantScope,
    agent: &str,
    bot: &str,
) -> Result<AgentOnBot, Refusal> {
    let agent = desk.office().agent(scope, agent.trim()).await?;
    let bot: BotId = bot.parse().map_err(|_| bad_form())?;
    Ok(AgentOnBot { scope, agent, bot })
}

/// A person and an agent.
#[derive(Deserialize)]
struct BindForm {
    agent: String,
    bot: String,
    author: String,
}

async fn bind(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<BindForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    let on = agent_on_bot(&desk, scope, &form.agent, &form.bot).await?;
    desk.office().bind_person(&place.access, on, form.author.trim()).await?;
    Ok(Notice::PersonBound.redirect(&people_path(&place)))
}

async fn unbind(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<BindForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    let on = agent_on_bot(&desk, scope, &form.agent, &form.bot).await?;
    desk.office().unbind_person(on, &form.author).await?;
    Ok(Notice::PersonUnbound.redirect(&people_path(&place)))
}

/// A place and an agent.
#[derive(Deserialize)]
struct GrantForm {
    agent: String,
    bot: String,
    #[serde(default)]
    scope: String,
    chat: String,
    #[serde(default)]
    open_to: String,
}

impl GrantForm {
    fn target(&self) -> GrantTarget {
        let scope = Some(self.scope.trim()).filter(|scope| !scope.is_empty());
        GrantTarget::for_chat(scope, self.chat.trim())
    }
}

async fn grant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<GrantForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    let on = agent_on_bot(&desk, scope, &form.agent, &form.bot).await?;
    let open_to = read_principal(&form.open_to)?;
    desk.office().grant_chat(&place.access, on, &form.target(), open_to).await?;
    Ok(Notice::ChatGranted.redirect(&people_path(&place)))
}

async fn release(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(form): OwnForm<GrantForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Manage)?;
    let on = agent_on_bot(&desk, scope, &form.agent, &form.bot).await?;
    desk.office().release_chat(on, &form.target()).await?;
    Ok(Notice::ChatReleased.redirect(&people_path(&place)))
}
