//! `GET /openapi.json`: the description of the routes. It is generated from the routes, so that the two cannot differ;
//! `docs/openapi.json` is a copy.

use std::sync::{Arc, LazyLock};

use axum::Json;
use nightdesk_desk::Desk;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::mcp::McpState;
use crate::state::ApiState;
use crate::{
    agent_cron, events, health, hooks, letters, manage, mcp, oauth, office, polling, problem,
    relay, shelf, stops,
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Nightdesk",
        description = "The desk that stays awake while agents sleep. Agents dial the WebSocket at `/relay`; \
                       these are the HTTP calls beside it.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    modifiers(&Credentials),
    components(schemas(problem::ProblemBody)),
    tags(
        (name = "reach", description = "The people, chats and scopes that reach an agent. A gateway's credential may narrow \
                                        the reach, and not widen it."),
        (name = "gateways", description = "Requests of gateways besides their line."),
        (name = "line", description = "A line over HTTP requests, for agents that keep no WebSocket open."),
        (name = "time", description = "Jobs of an agent, which the desk fires when they are due."),
        (name = "letters", description = "Letters between agents, also while one of them sleeps."),
        (name = "stops", description = "Stops of running turns, with their results."),
        (name = "shelf", description = "Skills and data that the agents of a tenant share."),
        (name = "tools", description = "The same tasks for agents that speak MCP."),
        (name = "issuer", description = "Tokens of the desk's own issuer."),
        (name = "events", description = "The fate of an event."),
        (name = "office", description = "The tenants, agents and entries that an operator or a tenant sees and manages."),
        (name = "users", description = "Users, their roles and their tokens."),
        (name = "desk", description = "The desk itself."),
    )
)]
struct ApiDescription;

/// The credentials of callers.
struct Credentials;

impl Modify for Credentials {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let bearer = |description: &str| {
            let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
            SecurityScheme::Http(scheme.description(Some(description)).build())
        };
        let components = openapi.components.get_or_insert_default();
        components.add_security_scheme(
            "agent",
            bearer(
                "A token of a trusted issuer for `agent:{id}`, or the upgrade token of its gateway.",
            ),
        );
        components.add_security_scheme(
            "user",
            bearer("An API token of a user, from `nightdesk login` or the dashboard."),
        );
        let signature = ApiKeyValue::with_description(
            "Nightdesk-Signature",
            "`t=SECONDS,v1=HEX`, an HMAC-SHA256 over `SECONDS.BODY` by a secret of the operator.",
        );
        components.add_security_scheme("relay", SecurityScheme::ApiKey(ApiKey::Header(signature)));
        components.add_security_scheme(
            "letter_hook",
            bearer(
                "The secret of a webhook for letters, which is also in its path; or `X-Signature: \
                 sha256=HEX`, an HMAC-SHA256 over the body by it.",
            ),
        );
        components.add_security_scheme(
            "access_token",
            bearer("An access token of this desk, from `/oauth/token`, or of an issuer that the desk trusts."),
        );
    }
}

/// The description of the routes.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut openapi = ApiDescription::openapi();
    let described = [
        desk_routes().into_openapi(),
        api_routes().into_openapi(),
        mcp::routes().into_openapi(),
        public_routes().into_openapi(),
    ];
    for routes in described {
        openapi.merge(routes);
    }
    openapi
}

/// Every route that is described, with its state.
pub(crate) fn described_routes(api: ApiState) -> OpenApiRouter {
    desk_routes()
        .with_state(Arc::clone(&api.desk))
        .merge(api_routes().with_state(api.clone()))
        .merge(mcp::routes().with_state(McpState::new(api)))
        .merge(public_routes())
}

fn desk_routes() -> OpenApiRouter<Arc<Desk>> {
    health::routes().merge(hooks::routes())
}

fn api_routes() -> OpenApiRouter<ApiState> {
    oauth::routes()
        .merge(manage::routes())
        .merge(agent_cron::routes())
        .merge(letters::routes())
        .merge(events::routes())
        .merge(shelf::routes())
        .merge(relay::routes())
        .merge(polling::routes())
        .merge(stops::routes())
        .merge(office::routes())
        .merge(health::question_routes())
}

fn public_routes() -> OpenApiRouter {
    OpenApiRouter::new().routes(routes!(description)).routes(routes!(problem::page))
}

/// The description of the routes.
#[utoipa::path(get, path = "/openapi.json", tag = "desk", responses(
    (status = 200, description = "This description", content_type = "application/json", body = serde_json::Value),
))]
async fn description() -> Json<&'static utoipa::openapi::OpenApi> {
    static DESCRIPTION: LazyLock<utoipa::openapi::OpenApi> = LazyLock::new(openapi);
    Json(&DESCRIPTION)
}
