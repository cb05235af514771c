//! `/t/{tenant}/audit`, `/audit`: the audit log, newest first, and the verification of its chain.

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use nightdesk_office::{AuditCheckView, AuditRowView};
use nightdesk_pages::render_page;
use nightdesk_types::TenantScope;
use nightdesk_users::Right;
use serde::Deserialize;

use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::layout::{Layout, Section};
use crate::place::{DeskPlace, TenantPlace};
use crate::refusal::Refusal;
use crate::session::{NoFields, OwnForm};
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/t/{tenant}/audit", get(show_tenant))
        .route("/t/{tenant}/audit/verify", post(verify_tenant))
        .route("/audit", get(show_desk))
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    layout: Layout,
    clock: PageClock,
    path: String,
    rows: Vec<AuditRowView>,
    next: Option<String>,
    /// The result of a verification that the user asked for.
    check: Option<AuditCheckView>,
    may_verify: bool,
}

/// The query of the page.
#[derive(Default, Deserialize)]
struct AuditQuery {
    before: Option<i64>,
}

/// A log, and its frame.
struct AuditPlace {
    layout: Layout,
    path: String,
    scope: Option<TenantScope>,
}

async fn show(
    desk: &Dashboard,
    place: AuditPlace,
    query: &AuditQuery,
    check: Option<AuditCheckView>,
) -> Result<Response, Refusal> {
    let AuditPlace { layout, path, scope } = place;
    let rows = desk.office().audit_rows_before(scope, query.before).await?;
    let last = rows.last().filter(|row| row.number > 1);
    Ok(render_page(&AuditPage {
        layout,
        clock: desk.page_clock(),
        next: last.map(|row| format!("{path}?before={}", row.number)),
        path,
        rows,
        check,
        may_verify: scope.is_some(),
    }))
}

fn tenant_log(place: &TenantPlace) -> Result<AuditPlace, Refusal> {
    let scope = Some(place.scope_for(Right::ReadAudit)?);
    let path = format!("{}/audit", place.path());
    Ok(AuditPlace { layout: place.layout(Section::Audit), path, scope })
}

async fn show_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    Query(query): Query<AuditQuery>,
) -> Result<Response, Refusal> {
    show(&desk, tenant_log(&place)?, &query, None).await
}

/// Verifies the chain, and shows the result. It changes nothing, but it reads the whole log, so it is a form.
async fn verify_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
    OwnForm(NoFields {}): OwnForm<NoFields>,
) -> Result<Response, Refusal> {
    let log = tenant_log(&place)?;
    let scope = place.scope_for(Right::ReadAudit)?;
    let check = desk.office().verify_audit_chain(scope, &[]).await?;
    show(&desk, log, &AuditQuery::default(), Some(check)).await
}

async fn show_desk(
    State(desk): State<Dashboard>,
    place: DeskPlace,
    Query(query): Query<AuditQuery>,
) -> Result<Response, Refusal> {
    place.check(Right::ReadAudit)?;
    let layout = place.layout(Section::DeskAudit);
    let log = AuditPlace { layout, path: "/audit".to_owned(), scope: None };
    show(&desk, log, &query, None).await
}
