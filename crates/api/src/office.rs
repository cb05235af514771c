//! `/v1/tenants/…` and `/v1/admin/…`: what operators and tenants see and do.

mod alerts;
mod audit;
mod bots;
mod doctor;
mod explain;
mod gateways;
mod identities;
mod inbox;
mod issuer;
mod jobs;
mod letters;
mod login;
mod notices;
mod overview;
mod reach;
mod shelf;
mod stops;
mod stuck;
mod tenants;
mod usage;
mod users;
mod wakes;
mod webhooks;

use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;

use crate::extract::QueryParameters;
use crate::state::ApiState;

pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .merge(login::routes())
        .merge(users::routes())
        .merge(identities::routes())
        .merge(tenants::routes())
        .merge(reach::routes())
        .merge(gateways::routes())
        .merge(bots::routes())
        .merge(issuer::routes())
        .merge(inbox::routes())
        .merge(wakes::routes())
        .merge(webhooks::routes())
        .merge(jobs::routes())
        .merge(stops::routes())
        .merge(letters::routes())
        .merge(shelf::routes())
        .merge(explain::routes())
        .merge(notices::routes())
        .merge(alerts::routes())
        .merge(audit::routes())
        .merge(doctor::routes())
        .merge(overview::routes())
        .merge(stuck::routes())
        .merge(usage::routes())
}

/// A page of a list, in the order of names.
#[derive(Default, Deserialize)]
struct NamePage {
    #[serde(default)]
    after: String,
}

impl QueryParameters for NamePage {
    const EXPECTED: &'static str = "after is the name of the last row of the previous page";
}
