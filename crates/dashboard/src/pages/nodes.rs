//! `/nodes`: the nodes of the desk.

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use nightdesk_office::{NodeView, OfficeError};
use nightdesk_pages::render_page;
use nightdesk_users::{Access, Place, Right};

use crate::assets::ASSETS;
use crate::clock::PageClock;
use crate::layout::{Layout, Section};
use crate::live::{LiveFragment, LiveRequest};
use crate::place::DeskPlace;
use crate::refusal::{Refusal, rendered};
use crate::state::Dashboard;

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/nodes", get(show)).route("/nodes/live", get(live))
}

#[derive(Template)]
#[template(path = "nodes.html")]
struct NodesPage {
    layout: Layout,
    fragment: String,
}

/// The part that changes: the nodes.
#[derive(Template)]
#[template(path = "nodes_live.html")]
struct NodeRows {
    clock: PageClock,
    nodes: Vec<NodeView>,
}

struct NodesFragment;

impl LiveFragment for NodesFragment {
    async fn render(&self, desk: &Dashboard, access: &Access) -> Result<String, Refusal> {
        access.check(Place::Desk, Right::Read).map_err(OfficeError::from)?;
        rendered(&NodeRows { clock: desk.page_clock(), nodes: desk.office().nodes().await? })
    }
}

async fn show(State(desk): State<Dashboard>, place: DeskPlace) -> Result<Response, Refusal> {
    Ok(render_page(&NodesPage {
        fragment: NodesFragment.render(&desk, &place.access).await?,
        layout: place.layout(Section::Nodes),
    }))
}

async fn live(request: LiveRequest) -> Response {
    request.stream(NodesFragment)
}
