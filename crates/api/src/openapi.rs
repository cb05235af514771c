//! `GET /openapi.json`: what the desk says of its own routes. It is made of the routes themselves, so that the two
//! cannot differ; `docs/openapi.json` is the same.

use std::sync::{Arc, LazyLock};

use axum::Json;
use nightdesk_desk::Desk;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateways::Gateways;
use crate::{
    agent_cron, events, health, hooks, letters, manage, mcp, oauth, problem, relay, shelf,
};

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
        (name = "time", description = "Jobs of an agent: the desk tells it when they are due."),
        (name = "letters", description = "What agents send to each other, also while one of them sleeps."),
        (name = "shelf", description = "Skills and data that the agents of a tenant share."),
        (name = "tools", description = "The same for agents that speak MCP."),
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
        let signature = ApiKeyValue::with_description(
            "Nightdesk-Signature",
            "`t=SECONDS,v1=HEX`, an HMAC-SHA256 over `SECONDS.BODY` by a secret of the operator's.",
        );
        components.add_security_scheme("relay", SecurityScheme::ApiKey(ApiKey::Header(signature)));
        components.add_security_scheme(
            "letter_hook",
            bearer(
                "The secret of a webhook for letters, which also stands in its path; or `X-Signature: \
                 sha256=HEX`, an HMAC-SHA256 over the body by it.",
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
    let described =
        [by_desk().into_openapi(), by_gateways().into_openapi(), by_nobody().into_openapi()];
    for routes in described {
        openapi.merge(routes);
    }
    openapi
}

/// Every route that is described, over what it stands in front of.
pub(crate) fn described(desk: Arc<Desk>, gateways: Arc<Gateways>) -> OpenApiRouter {
    by_desk().with_state(desk).merge(by_gateways().with_state(gateways)).merge(by_nobody())
}

fn by_desk() -> OpenApiRouter<Arc<Desk>> {
    health::routes().merge(hooks::routes())
}

fn by_gateways() -> OpenApiRouter<Arc<Gateways>> {
    oauth::routes()
        .merge(manage::routes())
        .merge(agent_cron::routes())
        .merge(letters::routes())
        .merge(events::routes())
        .merge(shelf::routes())
        .merge(mcp::routes())
        .merge(relay::routes())
}

fn by_nobody() -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(description)).routes(routes!(problem::page))
}

/// What the desk says of its routes.
#[utoipa::path(get, path = "/openapi.json", tag = "desk", responses(
    (status = 200, description = "This description", content_type = "application/json", body = serde_json::Value),
))]
async fn description() -> Json<&'static utoipa::openapi::OpenApi> {
    static DESCRIPTION: LazyLock<utoipa::openapi::OpenApi> = LazyLock::new(openapi);
    Json(&DESCRIPTION)
}
