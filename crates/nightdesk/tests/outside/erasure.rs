//! The credentials of an erased tenant, at every route that takes one.

use nightdesk_protocol::upgrade_token;
use nightdesk_types::{Clock as _, SystemClock};
use serde_json::Value;

use crate::desk::{Desk, ask, wait_until};
use crate::docs::{Variables, entered_on};
use crate::webchat::opened;

/// The routes and the credentials that each takes.
const OPENAPI: &str = include_str!("../../../../docs/openapi.json");

const OF: &str = "--tenant acme --agent helper";

/// A method and a path, with the name of the kind of credential that it takes.
struct Route {
    method: String,
    path: String,
    scheme: String,
}

/// A credential of the tenant's agent, by the name of its kind.
struct Credential {
    scheme: &'static str,
    name: &'static str,
    bearer: String,
}

/// Returns every described route that takes an agent's credential, and the line's.
fn routes() -> Vec<Route> {
    let described: Value = serde_json::from_str(OPENAPI).expect("JSON");
    let mut routes = Vec::new();
    for (path, methods) in described["paths"].as_object().expect("the paths") {
        for (method, route) in methods.as_object().expect("the methods") {
            let schemes = route["security"].as_array().into_iter().flatten();
            let schemes = schemes.flat_map(|scheme| scheme.as_object().expect("a scheme").keys());
            routes.extend(schemes.map(|scheme| Route {
                method: method.to_uppercase(),
                path: path.replace("{id}", "00000000-0000-4000-8000-000000000007"),
                scheme: scheme.clone(),
            }));
        }
    }
    let dial = |scheme: &str| Route {
        method: "GET".to_owned(),
        path: "/relay".to_owned(),
        scheme: scheme.to_owned(),
    };
    routes.push(dial("agent"));
    routes
}

fn post_form(desk: &Desk, path: &str, header: &str, form: &str) -> String {
    let rest = format!(
        "{header}content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
        form.len()
    );
    ask(desk.port, "POST", path, &rest)
}

/// Refreshes a session as the stock client does.
fn refresh(desk: &Desk, token: &str) -> String {
    let header = format!("x-nous-refresh-token: {token}\r\n");
    post_form(desk, "/api/oauth/token", &header, "grant_type=refresh_token&client_id=nightdesk")
}

fn client_token(desk: &Desk, client: &Value) -> String {
    let text = |name: &str| client[name].as_str().expect("a text").to_owned();
    let (id, secret) = (text("client_id"), text("client_secret"));
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    post_form(desk, "/oauth/token", "", &form)
}

fn hook_status(desk: &Desk, secret: &str) -> String {
    let rest = format!("authorization: Bearer {secret}\r\n\r\n");
    ask(desk.port, "GET", &format!("/v1/webhook/{secret}/status"), &rest)
}

fn json_of(answer: &str) -> Value {
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
    serde_json::from_str(body).expect(answer)
}

fn command(desk: &Desk, line: &str) -> Value {
    serde_json::from_str(&desk.run(&format!("nightdesk {line} --json"), &[])).expect("JSON")
}

fn upgrade_token(entered: &Variables) -> String {
    let (secret, now) = (entered.get("SECRET"), SystemClock::start().now());
    upgrade_token::make("gw-helper", secret.as_bytes(), 300, now).expose().to_owned()
}

/// Calls a route with a credential. Returns true if the desk does not accept the credential.
fn is_refused(desk: &Desk, route: &Route, credential: &Credential) -> bool {
    let rest = format!(
        "authorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}",
        credential.bearer
    );
    let answer = ask(desk.port, &route.method, &route.path, &rest);
    // Many refusals in a minute from one address get the second response.
    answer.contains(" 401 ") || answer.contains("too many bad tokens")
}

/// Returns the calls with the given credentials that the desk refuses, or those that it accepts.
fn calls(desk: &Desk, credentials: &[Credential], refused: bool) -> Vec<String> {
    let mut found = Vec::new();
    for route in routes() {
        let fitting = credentials.iter().filter(|credential| credential.scheme == route.scheme);
        for credential in fitting {
            // This one ends the agent's credentials.
            let ends_them = route.path == "/manage/deprovision" && refused;
            if !ends_them && is_refused(desk, &route, credential) == refused {
                found.push(format!("{} {} with {}", route.method, route.path, credential.name));
            }
        }
    }
    found
}

#[test]
fn credentials_of_an_erased_tenant_are_refused_at_every_door() {
    let (mut desk, mut entered) = entered_on("");
    let page = opened(&desk, &mut entered);
    let session = command(&desk, &format!("issuer session {OF}"));
    let tokens = &session["auth"]["providers"]["nous"];
    let client = command(&desk, &format!("gateway token {OF}"));
    let hook = command(&desk, &format!("letter hook {OF} runtime"));
    let hook = hook["secret"].as_str().expect("its secret");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let credentials = [
        ("access_token", "a session's token", text(&tokens["access_token"])),
        (
            "access_token",
            "a machine identity's token",
            text(&json_of(&client_token(&desk, &client))["access_token"]),
        ),
        ("agent", "a token for the agent", {
            text(&command(&desk, &format!("issuer token {OF}"))["token"])
        }),
        ("agent", "an upgrade token", upgrade_token(&entered)),
    ];
    let credentials = credentials.map(|(scheme, name, bearer)| Credential { scheme, name, bearer });
    let traded = refresh(&desk, tokens["refresh_token"].as_str().expect("a token"));
    let next = text(&json_of(&traded)["refresh_token"]);
    assert_eq!(calls(&desk, &credentials, true), [""; 0], "before the erasure");
    assert!(hook_status(&desk, hook).contains(" 204 "), "before the erasure");

    desk.run("nightdesk tenant erase acme --yes", &[]);

    assert!(refresh(&desk, &next).contains("invalid_grant"));
    assert!(client_token(&desk, &client).contains("invalid_client"));
    assert!(hook_status(&desk, hook).contains(" 401 "), "{}", hook_status(&desk, hook));
    assert_eq!(calls(&desk, &credentials, false), [""; 0]);
    wait_until("the page is gone", || desk.get(&page).contains(" 404 "));
    desk.stop();
}
