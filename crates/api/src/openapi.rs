//! `GET /openapi.json`: what the desk says of its own routes. It is made of the routes themselves, so that the two
//! cannot differ; `docs/openapi.json` is the same.

use std::sync::LazyLock;

use axum::{Json, Router};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::{events, health, hooks, manage, oauth, problem, relay};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Nightdesk",
        description = "The desk that stays awake while agents sleep. Agents dial the WebSocket at `/relay`; \
                       these are the plain calls beside it.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    modifiers(&Proofs),
    components(schemas(problem::Said)),
    tags(
        (name = "reach", description = "Whom an agent can be reached by. A gateway's own proof may narrow it, \
                                        and not widen it."),
        (name = "gateways", description = "What gateways post besides their line."),
        (name = "issuer", description = "Tokens of the desk's own issuer."),
        (name = "events", description = "What became of an event."),
        (name = "desk", description = "The desk itself."),
    )
)]
struct Head;

/// How callers prove who they are.
struct Proofs;

impl Modify for Proofs {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let bearer = |description: &str| {
            let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
            SecurityScheme::Http(scheme.description(Some(description)).build())
        };
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme(
            "agent",
            bearer(
                "A token of a trusted issuer for `agent:{id}`, or a gateway's own upgrade token.",
            ),
        );
        components.add_security_scheme(
            "access_token",
            bearer("An access token of this desk, from `/oauth/token`, or of an issuer that it trusts."),
        );
    }
}

/// What the desk says of its routes.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut openapi = Head::openapi();
    let by_desk = hooks::routes().merge(health::routes());
    let by_gateways =
        oauth::routes().merge(manage::routes()).merge(events::routes()).merge(relay::routes());
    for routes in [by_desk.into_openapi(), by_gateways.into_openapi(), alone().into_openapi()] {
        openapi.merge(routes);
    }
    openapi
}

/// The routes that stand in front of nothing.
fn alone() -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(description)).routes(routes!(problem::page))
}

pub(crate) fn route() -> Router {
    alone().into()
}

/// What the desk says of its routes.
#[utoipa::path(get, path = "/openapi.json", tag = "desk", responses(
    (status = 200, description = "This description", content_type = "application/json", body = serde_json::Value),
))]
async fn description() -> Json<&'static utoipa::openapi::OpenApi> {
    static DESCRIPTION: LazyLock<utoipa::openapi::OpenApi> = LazyLock::new(openapi);
    Json(&DESCRIPTION)
}
