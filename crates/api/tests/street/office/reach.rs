//! Links, bindings, grants and gateways.

use nightdesk_register::AgentOnBot;
use nightdesk_testdesk::Answered;
use nightdesk_types::TenantScope;
use nightdesk_users::Role;
use serde_json::{Value, json};

use super::Office;

/// The routes of an agent's reach and of gateways.
pub(super) const ROUTES: &[super::OfficeRoute] = &[
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/reach", "OAamu"),
    ("PUT", "/v1/tenants/{tenant}/agents/{agent}/reach", "Oa"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/link-codes", "Oa"),
    ("PUT", "/v1/tenants/{tenant}/agents/{agent}/bindings/{bot}/{author}", "Oa"),
    ("DELETE", "/v1/tenants/{tenant}/agents/{agent}/bindings/{bot}/{author}", "Oa"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/bindings/{bot}/{author}/prefer", "Oa"),
    ("PUT", "/v1/tenants/{tenant}/agents/{agent}/grants/{bot}/{chat}", "Oa"),
    ("DELETE", "/v1/tenants/{tenant}/agents/{agent}/grants/{bot}/{chat}", "Oa"),
    ("PUT", "/v1/tenants/{tenant}/agents/{agent}/grants/{bot}/{chat}/moderation", "Oa"),
    ("GET", "/v1/tenants/{tenant}/gateways", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/gateways/{name}/fronts", "OAamu"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/gateways", "Oa"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/invitations", "Oa"),
    ("POST", "/v1/tenants/{tenant}/gateways/{name}/rotate", "Oa"),
    ("POST", "/v1/tenants/{tenant}/gateways/{name}/revoke", "Oa"),
    ("PUT", "/v1/tenants/{tenant}/gateway-trust", "Oa"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/deprovision", "Oa"),
];

/// An admin of ann's tenant.
struct Admin<'a> {
    office: &'a Office,
    token: String,
}

impl<'a> Admin<'a> {
    async fn of(office: &'a Office) -> Self {
        Self { office, token: office.token(&[office.role('a')]).await }
    }

    /// Calls a route of ann's tenant.
    async fn call(&self, method: &str, rest: &str, body: Value) -> Answered {
        let path = format!("/v1/tenants/ann/{rest}");
        self.office.call((method, &path), Some(&self.token), &body).await
    }

    /// Calls a route of ann's agent.
    async fn of_agent(&self, method: &str, rest: &str, body: Value) -> Answered {
        self.call(method, &format!("agents/ann/{rest}"), body).await
    }
}

#[tokio::test]
async fn a_person_is_bound_until_the_binding_is_removed() {
    let office = Office::open().await;
    let admin = Admin::of(&office).await;
    let bot = office.ann.bot;
    let eve = format!("bindings/{bot}/eve%2F1");

    let absent = admin.of_agent("POST", &format!("{eve}/prefer"), json!({})).await;
    assert!(absent.status == 404 && absent.text.contains("binding create"), "{}", absent.text);
    for _ in 0..2 {
        let bound = admin.of_agent("PUT", &eve, json!({})).await;
        assert_eq!((bound.status, &bound.json()["author"]), (200, &json!("eve/1")));
    }
    assert_eq!(admin.of_agent("POST", &format!("{eve}/prefer"), json!({})).await.status, 200);
    let reach = admin.of_agent("GET", "reach", json!({})).await.json();
    assert_eq!(
        reach["people"],
        json!([{ "author": "ann", "bot_id": bot }, { "author": "eve/1", "bot_id": bot }])
    );
    assert_eq!(admin.of_agent("DELETE", &eve, json!({})).await.status, 200);
    assert_eq!(admin.of_agent("DELETE", &eve, json!({})).await.status, 404);
    assert_eq!(admin.of_agent("PUT", &format!("bindings/{bot}/%00"), json!({})).await.status, 400);
}

#[tokio::test]
async fn the_same_grant_again_changes_nothing_and_another_is_refused() {
    let office = Office::open().await;
    let admin = Admin::of(&office).await;
    let other = office.desk.register.store().create_agent(office.ann.scope, "owl").await;
    other.expect("create an agent");
    let chat = format!("grants/{}/-99", office.ann.bot);
    let open = json!({ "open_to": "any" });

    for _ in 0..2 {
        let granted = admin.of_agent("PUT", &chat, open.clone()).await;
        assert_eq!((granted.status, &granted.json()["chat"]), (200, &json!("-99")));
    }
    assert_eq!(admin.of_agent("PUT", &chat, json!({})).await.status, 409, "open to others");
    let taken = admin.call("PUT", &format!("agents/owl/{chat}"), open).await;
    assert!(taken.status == 409 && taken.text.contains("another agent"), "{}", taken.text);
    let moderated = admin.of_agent("PUT", &format!("{chat}/moderation"), json!({})).await;
    assert_eq!(moderated.status, 200, "{}", moderated.text);
    let reach = admin.of_agent("PUT", "reach", json!({ "open_to": "allow-list" })).await.json();
    assert_eq!(
        (&reach["open_to"], &reach["granted"]),
        (
            &json!("allow-list"),
            &json!([{ "bot_id": office.ann.bot, "scope": null, "chat": "-99", "open_to": "allow-list" }])
        )
    );
    let elsewhere = admin.of_agent("DELETE", &format!("{chat}?scope=77"), json!({})).await;
    assert_eq!(elsewhere.status, 404, "{}", elsewhere.text);
    assert_eq!(admin.of_agent("DELETE", &chat, json!({})).await.status, 200);
    assert_eq!(admin.of_agent("DELETE", &chat, json!({})).await.status, 404);
    assert_eq!(admin.of_agent("PUT", &format!("{chat}/moderation"), json!({})).await.status, 404);
}

#[tokio::test]
async fn a_whole_scope_is_granted_and_not_moderated() {
    let office = Office::open().await;
    let admin = Admin::of(&office).await;
    let chat = format!("grants/{}/*", office.ann.bot);

    let granted = admin.of_agent("PUT", &format!("{chat}?scope=77"), json!({})).await;
    assert_eq!(granted.status, 200, "{}", granted.text);
    let moderated = admin.of_agent("PUT", &format!("{chat}/moderation?scope=77"), json!({})).await;
    assert_eq!(moderated.status, 400, "{}", moderated.text);
}

// A tenant could otherwise take over the people and the chats of another tenant's bot.
#[tokio::test]
async fn a_tenants_admin_opens_no_bot_of_another_tenant() {
    let office = Office::open().await;
    let admin = Admin::of(&office).await;
    let operator = office.token(&[Role::Operator]).await;
    let (bob, store) = (&office.bob, office.desk.register.store());
    let foreign = [
        format!("bindings/{}/bob", bob.bot),
        format!("grants/{}/99", bob.bot),
        format!("grants/{}/*", bob.bot),
        format!("grants/{}/99/moderation", bob.bot),
    ];

    for rest in &foreign {
        let refused = admin.of_agent("PUT", rest, json!({})).await;
        assert_eq!(refused.status, 404, "{rest}: {}", refused.text);
    }
    assert!(store.share(bob.scope, bob.bot, true).await.expect("share a bot"));
    for rest in &foreign {
        let refused = admin.of_agent("PUT", rest, json!({})).await;
        assert_eq!(refused.status, 403, "{rest}: {}", refused.text);
        assert!(refused.text.contains("nightdesk link create"), "{}", refused.text);
    }
    assert_eq!(reach_on(&office, office.ann.scope, bob.bot).await, 0);
    for rest in &foreign {
        let path = format!("/v1/tenants/ann/agents/ann/{rest}");
        let done = office.call(("PUT", &path), Some(&operator), &json!({})).await;
        assert_eq!(done.status, 200, "{rest}: {}", done.text);
    }
    assert_eq!(reach_on(&office, office.ann.scope, bob.bot).await, 3);
}

/// Returns the number of people and grants of ann's agent on a bot.
async fn reach_on(office: &Office, scope: TenantScope, bot: nightdesk_types::BotId) -> usize {
    let on = AgentOnBot { scope, agent: office.ann.agent, bot };
    let reach = office.desk.register.store().reach_of(on.scope, on.agent).await;
    let reach = reach.expect("read an agent's reach");
    let people = reach.people.iter().filter(|(bot, _)| *bot == on.bot).count();
    people + reach.grants.iter().filter(|(bot, ..)| *bot == on.bot).count()
}

#[tokio::test]
async fn a_gateway_is_created_once_rotated_and_revoked() {
    let office = Office::open().await;
    let admin = Admin::of(&office).await;
    let new = json!({ "name": "gw-new" });

    let created = admin.of_agent("POST", "gateways", new.clone()).await;
    assert_eq!(created.status, 201, "{}", created.text);
    let again = admin.of_agent("POST", "gateways", new).await;
    assert!(again.status == 409 && again.text.contains("gateway rotate"), "{}", again.text);
    let rotated = admin.call("POST", "gateways/gw-new/rotate", json!({})).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text);
    assert_ne!(rotated.json()["secret"], created.json()["secret"]);
    let long = json!({ "overlap_secs": u64::MAX });
    assert_eq!(admin.call("POST", "gateways/gw-new/rotate", long).await.status, 400);
    assert_eq!(admin.call("GET", "gateways/gw-new/fronts", json!({})).await.json(), json!([]));
    let page = admin.call("GET", "gateways?after=gw", json!({})).await.json();
    assert_eq!(
        (&page[0]["name"], &page[0]["agent"], &page[0]["line"], &page[0]["revoked_at"]),
        (&json!("gw-new"), &json!("ann"), &json!("never"), &json!(null))
    );
    assert_eq!(page[0]["secrets"].as_array().map(Vec::len), Some(2), "{page}");
    for _ in 0..2 {
        let revoked = admin.call("POST", "gateways/gw-new/revoke", json!({})).await;
        assert_eq!((revoked.status, &revoked.json()["revoked"]), (200, &json!(true)));
    }
    let late = admin.call("POST", "gateways/gw-new/rotate", json!({})).await;
    assert!(late.status == 404 && late.text.contains("no live gateway"), "{}", late.text);
}

#[tokio::test]
async fn another_tenants_gateway_is_unknown() {
    let office = Office::open().await;
    let admin = Admin::of(&office).await;
    let (bob, register) = (&office.bob, &office.desk.register);
    let (_, secret) =
        register.create_gateway(bob.scope, bob.agent, "gw-bob").await.expect("a gateway");

    for (method, act) in [("GET", "fronts"), ("POST", "rotate"), ("POST", "revoke")] {
        let answer = admin.call(method, &format!("gateways/gw-bob/{act}"), json!({})).await;
        assert_eq!(answer.status, 404, "{act}: {}", answer.text);
    }
    let own = admin.of_agent("POST", "gateways", json!({ "name": "gw-bob" })).await;
    assert_eq!(own.status, 201, "a name is taken within a tenant: {}", own.text);
    assert_ne!(own.json()["secret"], json!(secret.with(str::to_owned)));
}

#[tokio::test]
async fn an_invitation_enrols_a_gateway_within_a_day() {
    let office = Office::open().await;
    let admin = Admin::of(&office).await;

    let invited = admin.of_agent("POST", "invitations", json!({})).await;
    assert_eq!(invited.status, 201, "{}", invited.text);
    let invitation = invited.json();
    assert_eq!(
        (&invitation["gateway"], &invitation["platforms"], &invitation["expires_in_secs"]),
        (&json!("gw-ann"), &json!("discord"), &json!(600))
    );
    assert!(invitation["client_secret"].is_string() && invitation["token"].is_string());
    for bad in [
        json!({ "expires_in_secs": 0 }),
        json!({ "expires_in_secs": 86_401 }),
        json!({ "name": "no name" }),
        json!({ "agent": "owl" }),
    ] {
        let refused = admin.of_agent("POST", "invitations", bad).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
    }
}

#[tokio::test]
async fn a_link_code_names_the_bots_that_accept_it() {
    let office = Office::open().await;
    let admin = Admin::of(&office).await;

    let code = admin.of_agent("POST", "link-codes", json!({})).await;
    assert_eq!(code.status, 201, "{}", code.text);
    let code = code.json();
    assert!(code["say"].as_str().is_some_and(|say| say.starts_with("/link ")), "{code}");
    assert_eq!(
        code["to"],
        json!([{ "bot_id": office.ann.bot, "platform": "discord", "handle": "bot-ann", "own": true }])
    );
}

#[tokio::test]
async fn a_deprovisioned_agent_is_neither_reached_nor_dials_in() {
    let office = Office::open().await;
    let admin = Admin::of(&office).await;
    let trust = json!({ "gateways_may_widen": true });
    let trusting = admin.call("PUT", "gateway-trust", trust).await.json();
    assert_eq!(trusting["gateways_may_widen"], true);

    let taken = admin.of_agent("POST", "deprovision", json!({})).await;
    assert_eq!((taken.status, &taken.json()["gateways_revoked"]), (200, &json!(1)));
    assert_eq!(reach_on(&office, office.ann.scope, office.ann.bot).await, 0);
    let gateways = admin.call("GET", "gateways", json!({})).await.json();
    assert!(gateways[0]["revoked_at"].is_string(), "{gateways}");
}
