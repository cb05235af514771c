//! `/t/{tenant}/stuck`: events that reached no agent, by reason. `/t/{tenant}/stuck/{reason}`: parked entries with a
//! reason, and actions on all of them.

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::{BulkOutcome, DropConfirmation, ParkedRowView, StuckView};
use nightdesk_pages::render_page;
use nightdesk_users::{Access, Right};
use serde::Deserialize;

use super::next_page;
use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::confirm::{ConfirmForm, Confirmation};
use crate::layout::{Layout, Section, encode, tenant_path};
use crate::live::{LiveFragment, LiveRequest};
use crate::notice::Notice;
use crate::place::{TenantPlace, find_tenant};
use crate::refusal::{Refusal, rendered};
use crate::session::{NoFields, OwnForm};
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    const GROUP: &str = "/t/{tenant}/stuck/{reason}";
    Router::new()
        .route("/t/{tenant}/stuck", get(show))
        .route("/t/{tenant}/stuck/live", get(live))
        .route(GROUP, get(show_group))
        .route(&format!("{GROUP}/resubmit"), post(resubmit))
        .route(&format!("{GROUP}/drop"), get(confirm_drop).post(drop_group))
}

#[derive(Template)]
#[template(path = "stuck.html")]
struct StuckPage {
    layout: Layout,
    path: String,
    fragment: String,
}

/// The part that changes: the groups.
#[derive(Template)]
#[template(path = "stuck_live.html")]
struct StuckRows {
    clock: PageClock,
    path: String,
    stuck: StuckView,
}

struct StuckFragment {
    tenant: String,
}

impl LiveFragment for StuckFragment {
    async fn render(&self, desk: &Dashboard, access: &Access) -> Result<String, Refusal> {
        let scope = find_tenant(desk, access, &self.tenant).await?;
        rendered(&StuckRows {
            clock: desk.page_clock(),
            path: tenant_path(&self.tenant),
            stuck: desk.office().stuck(scope).await?,
        })
    }
}

async fn show(State(desk): State<Dashboard>, place: TenantPlace) -> Result<Response, Refusal> {
    let fragment = StuckFragment { tenant: place.tenant.clone() };
    Ok(render_page(&StuckPage {
        layout: place.layout(Section::Stuck),
        path: place.path(),
        fragment: fragment.render(&desk, &place.access).await?,
    }))
}

async fn live(request: LiveRequest, place: TenantPlace) -> Response {
    request.stream(StuckFragment { tenant: place.tenant })
}

#[derive(Deserialize)]
struct ReasonPath {
    reason: String,
}

/// The query of a group.
#[derive(Deserialize)]
struct GroupQuery {
    after: Option<String>,
}

#[derive(Template)]
#[template(path = "stuck_group.html")]
struct StuckGroupPage {
    layout: Layout,
    clock: PageClock,
    path: String,
    group_path: String,
    reason: String,
    rows: Vec<ParkedRowView>,
    next: Option<String>,
    may_work: bool,
}

async fn show_group(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(ReasonPath { reason }): Path<ReasonPath>,
    Query(query): Query<GroupQuery>,
) -> Result<Response, Refusal> {
    let after = query.after.as_deref();
    let rows = desk.office().parked_entries(place.scope, &reason, after).await?;
    let group_path = group_path(&place, &reason);
    Ok(render_page(&StuckGroupPage {
        layout: place.layout(Section::Stuck),
        clock: desk.page_clock(),
        path: place.path(),
        next: next_page(&group_path, &rows, |row| &row.key),
        group_path,
        reason,
        rows,
        may_work: place.allows(Right::Work),
    }))
}

fn group_path(place: &TenantPlace, reason: &str) -> String {
    format!("{}/stuck/{}", place.path(), encode(reason))
}

const fn bulk_notice(outcome: BulkOutcome, done: Notice) -> Notice {
    match outcome {
        BulkOutcome { more: true, .. } => Notice::MoreLeft,
        BulkOutcome { changed: 0, .. } => Notice::NoneLeft,
        BulkOutcome { .. } => done,
    }
}

async fn resubmit(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(ReasonPath { reason }): Path<ReasonPath>,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Work)?;
    let outcome = desk.office().resubmit_parked(scope, &reason).await?;
    Ok(bulk_notice(outcome, Notice::ManyResubmitted).redirect(&group_path(&place, &reason)))
}

async fn confirm_drop(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(ReasonPath { reason }): Path<ReasonPath>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Work)?;
    desk.office().parked_entries(scope, &reason, None).await?;
    let page = group_path(&place, &reason);
    let confirmation = Confirmation {
        layout: place.layout(Section::Stuck),
        title: format!("Drop the entries that are parked for {reason}?"),
        text: "The oldest hundred are removed for good and reach no agent. This cannot be undone."
            .to_owned(),
        action: format!("{page}/drop"),
        confirm: reason,
        button: "Drop them",
        back: page,
    };
    Ok(confirmation.into_response())
}

async fn drop_group(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Path(ReasonPath { reason }): Path<ReasonPath>,
    OwnForm(form): OwnForm<ConfirmForm>,
) -> Result<Response, Refusal> {
    let scope = place.scope_for(Right::Work)?;
    let confirmation = DropConfirmation { confirm: form.confirm };
    let outcome = desk.office().drop_parked(scope, &reason, &confirmation).await?;
    Ok(bulk_notice(outcome, Notice::ManyDropped).redirect(&group_path(&place, &reason)))
}
