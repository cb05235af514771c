//! `/t/{tenant}/alerts`, `/alerts`: the alerts of a tenant or of the desk, and the ways on which they go out.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use nightdesk_office::{AlertView, AlertWayView, BotView, OfficeError, WayOwner};
use nightdesk_pages::render_page;
use nightdesk_types::TenantScope;
use nightdesk_users::{Access, Place, Right};

use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::layout::{Layout, Section, tenant_path};
use crate::live::{LiveFragment, LiveRequest};
use crate::place::{DeskPlace, TenantPlace, find_tenant};
use crate::refusal::{Refusal, rendered};
use crate::state::Dashboard;

/// The address of the page of the desk.
pub(super) const DESK_ALERTS: &str = "/alerts";

pub(super) fn routes() -> Router<Dashboard> {
    Router::new()
        .route("/t/{tenant}/alerts", get(show_tenant))
        .route("/t/{tenant}/alerts/live", get(live_tenant))
        .route(DESK_ALERTS, get(show_desk))
        .route("/alerts/live", get(live_desk))
}

#[derive(Template)]
#[template(path = "alerts.html")]
struct AlertsPage {
    layout: Layout,
    path: String,
    fragment: String,
    /// The address of the tenant of the page. `None`: the desk.
    tenant_path: Option<String>,
    /// The bots of the tenant, for the form of a chat.
    bots: Vec<BotView>,
    may_manage: bool,
}

/// The part that changes: the alerts, and the state of the ways.
#[derive(Template)]
#[template(path = "alerts_live.html")]
struct AlertRows {
    clock: PageClock,
    path: String,
    is_of_desk: bool,
    open: Vec<OpenAlertRow>,
    resolved: Vec<AlertView>,
    /// `None`: the user may not see them.
    ways: Option<Vec<AlertWayView>>,
}

/// An open alert.
struct OpenAlertRow {
    alert: AlertView,
    /// The tenant, by name or id. `None`: the desk.
    tenant: Option<String>,
    /// The page on which a user finds the causes.
    page: Option<String>,
    /// The number of subjects that have no sample.
    more: u64,
}

impl OpenAlertRow {
    fn new(alert: AlertView, tenant: Option<String>) -> Self {
        let page = cause_page(alert.kind);
        let page = page.zip(tenant.as_ref()).map(|(page, name)| tenant_path(name) + page);
        let shown = u64::try_from(alert.samples.len()).unwrap_or(u64::MAX);
        Self { more: alert.subjects.saturating_sub(shown), alert, tenant, page }
    }

    /// Makes a row of a list of several tenants.
    fn of_any_tenant(alert: AlertView) -> Self {
        let id = alert.tenant_id.map(|id| id.to_string());
        let tenant = alert.tenant.clone().or(id);
        Self::new(alert, tenant)
    }
}

/// Returns the page below a tenant's that shows the causes of alerts of a kind.
fn cause_page(kind: &str) -> Option<&'static str> {
    match kind {
        "parked" | "quarantined" => Some("/stuck"),
        "inbox-full" | "failing-wake" => Some("?state=needed"),
        "deaf-bot" => Some("/bots"),
        "missed-fire" => Some("/fires"),
        _ => None,
    }
}

/// Returns true if the cause of an alert was there lately.
pub(super) fn is_open(alert: &AlertView) -> bool {
    alert.state == "open"
}

/// Returns the ways of an owner. `None`: the user may not see them.
async fn ways_of(
    desk: &Dashboard,
    owner: Option<WayOwner<'_>>,
) -> Result<Option<Vec<AlertWayView>>, Refusal> {
    match owner {
        Some(owner) => Ok(Some(desk.office().alert_ways(owner).await?)),
        None => Ok(None),
    }
}

impl AlertRows {
    async fn of_tenant(desk: &Dashboard, access: &Access, tenant: &str) -> Result<Self, Refusal> {
        let scope = find_tenant(desk, access, tenant).await?;
        let owner = access.tenant_scope(scope.tenant(), Right::Manage).ok();
        let alerts = desk.office().alerts(scope).await?;
        let (open, resolved): (Vec<_>, Vec<_>) = alerts.into_iter().partition(is_open);
        let row = |alert| OpenAlertRow::new(alert, Some(tenant.to_owned()));
        Ok(Self {
            clock: desk.page_clock(),
            path: tenant_path(tenant) + "/alerts",
            is_of_desk: false,
            open: open.into_iter().map(row).collect(),
            resolved,
            ways: ways_of(desk, owner.map(WayOwner::Tenant)).await?,
        })
    }

    /// Lists the open alerts of the desk and of all tenants, and the resolved ones of the desk.
    async fn of_desk(desk: &Dashboard, access: &Access) -> Result<Self, Refusal> {
        access.check(Place::Desk, Right::Read).map_err(OfficeError::from)?;
        let may_operate = access.allows(Place::Desk, Right::Operate);
        let open = desk.office().desk_alerts().await?;
        let own = desk.office().alerts(TenantScope::desk_own()).await?;
        Ok(Self {
            clock: desk.page_clock(),
            path: DESK_ALERTS.to_owned(),
            is_of_desk: true,
            open: open.into_iter().map(OpenAlertRow::of_any_tenant).collect(),
            resolved: own.into_iter().filter(|alert| !is_open(alert)).collect(),
            ways: ways_of(desk, may_operate.then_some(WayOwner::Operator(access))).await?,
        })
    }
}

struct AlertsFragment {
    /// The tenant of the page. `None`: the desk.
    tenant: Option<String>,
}

impl LiveFragment for AlertsFragment {
    async fn render(&self, desk: &Dashboard, access: &Access) -> Result<String, Refusal> {
        let rows = match &self.tenant {
            Some(tenant) => AlertRows::of_tenant(desk, access, tenant).await?,
            None => AlertRows::of_desk(desk, access).await?,
        };
        rendered(&rows)
    }
}

async fn show_tenant(
    State(desk): State<Dashboard>,
    place: TenantPlace,
) -> Result<Response, Refusal> {
    let fragment = AlertsFragment { tenant: Some(place.tenant.clone()) };
    Ok(render_page(&AlertsPage {
        layout: place.layout(Section::Alerts),
        path: place.path() + "/alerts",
        fragment: fragment.render(&desk, &place.access).await?,
        tenant_path: Some(place.path()),
        bots: desk.office().bots(place.scope).await?,
        may_manage: place.allows(Right::Manage),
    }))
}

async fn show_desk(State(desk): State<Dashboard>, place: DeskPlace) -> Result<Response, Refusal> {
    let fragment = AlertsFragment { tenant: None };
    Ok(render_page(&AlertsPage {
        layout: place.layout(Section::DeskAlerts),
        path: DESK_ALERTS.to_owned(),
        fragment: fragment.render(&desk, &place.access).await?,
        tenant_path: None,
        bots: Vec::new(),
        may_manage: place.access.allows(Place::Desk, Right::Operate),
    }))
}

async fn live_tenant(request: LiveRequest, place: TenantPlace) -> Response {
    request.stream(AlertsFragment { tenant: Some(place.tenant) })
}

async fn live_desk(request: LiveRequest) -> Response {
    request.stream(AlertsFragment { tenant: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(kind: &'static str, subjects: u64) -> AlertView {
        AlertView {
            kind,
            state: "open",
            tenant_id: None,
            tenant: None,
            opened_at: String::new(),
            resolved_at: None,
            since: String::new(),
            headline: String::new(),
            samples: vec!["agent owl".to_owned(), "agent wren".to_owned()],
            subjects,
            next_step: "",
        }
    }

    #[test]
    fn an_alert_leads_to_the_page_of_its_causes() {
        let page = |kind, tenant: Option<&str>| {
            OpenAlertRow::new(alert(kind, 2), tenant.map(str::to_owned)).page
        };
        assert_eq!(page("deaf-bot", Some("a b")).as_deref(), Some("/t/a%20b/bots"));
        assert_eq!(page("failing-wake", Some("ann")).as_deref(), Some("/t/ann?state=needed"));
        assert_eq!(page("quota", Some("ann")), None);
        assert_eq!(page("disk", None), None);
    }

    #[test]
    fn subjects_without_a_sample_are_counted() {
        let more = |subjects| OpenAlertRow::new(alert("parked", subjects), None).more;
        assert_eq!((more(2), more(12), more(0)), (0, 10, 0));
    }
}
