//! Pages for operators and tenants.
//!
//! # Promise
//!
//! The pages show what the API shows, because both call the functions of the office, which check the user's rights. Every
//! page can be read and used without a script. A page never changes anything; a form does, and only one of this desk.
//!
//! Begin with [`routes`]. [`session`] finds the user of a request, [`place`] finds the tenant or the agent of an address,
//! [`login`] begins and ends sessions, [`live`] sends the rows that change, and each file of `pages` has the pages of one
//! noun.

mod assets;
mod chart;
mod clock;
mod confirm;
mod cookie;
mod diff;
mod ids;
mod layout;
mod live;
mod login;
mod notice;
mod pages;
mod place;
mod refusal;
mod secret;
mod session;
mod state;

use axum::Router;
use axum::extract::Path;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::get;
use nightdesk_pages::{add_security_headers, serve_asset};

pub use state::DashboardParts;

use assets::ASSETS;
use state::Dashboard;

/// Returns the routes of the pages.
pub fn routes(parts: DashboardParts) -> Router {
    let dashboard = Dashboard::new(parts);
    let pages = Router::new()
        .merge(login::routes())
        .merge(pages::routes())
        .with_state(dashboard)
        .layer(map_response(add_security_headers));
    pages.merge(Router::new().route("/desk-assets/{name}", get(serve_file)))
}

/// `GET /desk-assets/{name}`: the style, the scripts and the icon of the pages.
async fn serve_file(Path(name): Path<String>) -> Response {
    serve_asset(ASSETS.all(), &name)
}
