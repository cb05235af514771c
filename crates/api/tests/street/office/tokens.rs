//! Tokens with limits, login links, and the approval to read messages.

use std::collections::BTreeSet;

use nightdesk_types::Actor;
use nightdesk_users::{Right, Role, TenantRole, TokenLimits};
use serde_json::json;

use super::{ANNS_WORDS, ANY, Office, PUBLIC, all_routes, end};
use crate::cases::Cases;

#[tokio::test]
async fn a_token_without_the_right_does_not_have_its_users_rights() {
    let office = Office::open().await;
    let operator = office.user(&[Role::Operator]).await;
    let nothing = TokenLimits { rights: BTreeSet::new(), tenant: None };
    let token = office.limited_token(operator, nothing).await;
    let (mut cases, before) = (Cases::default(), office.state().await);
    let of_rights =
        all_routes().into_iter().filter(|(_, _, allowed)| ![ANY, PUBLIC].contains(allowed));
    for (method, path, _) in of_rights {
        let answer = office.ask((method, path), Some(&token)).await;
        let is_right = [403, 404].contains(&answer.status)
            && office.is_silent(&answer)
            && office.state().await == before;
        cases.note(is_right, format!("{method} {path}: {}", answer.text));
    }
    end(cases);
}

#[tokio::test]
async fn a_token_of_one_tenant_reaches_no_other() {
    let office = Office::open().await;
    let operator = office.user(&[Role::Operator]).await;
    let rights = Right::ALL.into_iter().collect();
    let limits = TokenLimits { rights, tenant: Some(office.bob.scope.tenant()) };
    let token = office.limited_token(operator, limits).await;

    let anns = office.ask(("GET", "/v1/tenants/{tenant}/agents"), Some(&token)).await;
    assert_eq!(anns.status, 404, "{}", anns.text);
    let bobs = office.call(("GET", "/v1/tenants/bob/agents"), Some(&token), &json!({})).await;
    assert_eq!((bobs.status, &bobs.json()[0]["name"]), (200, &json!("bob")));
    let desk = office.ask(("GET", "/v1/admin/users"), Some(&token)).await;
    assert_eq!(desk.status, 403, "{}", desk.text);
    let more = json!({ "name": "more", "rights": ["operate"], "tenant": "ann" });
    let more = office.call(("POST", "/v1/tokens"), Some(&token), &more).await;
    assert_eq!(more.status, 404, "it makes no token for another tenant: {}", more.text);
}

// T62: an operator reads no messages without a second operator's approval.
#[tokio::test]
async fn an_operator_reads_messages_only_with_a_second_operators_approval() {
    let office = Office::open().await;
    let entry = ("GET", "/v1/tenants/ann/agents/ann/inbox/1?body=true");
    let read = async |token: &str| office.call(entry, Some(token), &json!({})).await;
    let (one, two) = (office.token(&[Role::Operator]).await, office.token(&[Role::Operator]).await);
    let member = office.token(&[office.role('m')]).await;
    assert!(read(&member).await.text.contains(ANNS_WORDS));
    assert_eq!(read(&office.token(&[office.role('u')]).await).await.status, 403);
    let refused = read(&one).await;
    assert!(refused.status == 403 && office.is_silent(&refused), "{}", refused.text);

    let asked = ("POST", "/v1/tenants/ann/glass");
    let asked =
        office.call(asked, Some(&one), &json!({ "reason": "ticket 7", "minutes": 5 })).await;
    let id = asked.json()["request_id"].as_str().expect("an id").to_owned();
    let approve = format!("/v1/admin/glass/{id}/approve");
    let approved =
        async |token: &str| office.call(("POST", &approve), Some(token), &json!({})).await;
    assert_eq!(approved(&one).await.status, 409, "not by the same operator");
    assert_eq!(read(&one).await.status, 403);
    assert_eq!(approved(&two).await.status, 200);
    assert!(read(&one).await.text.contains(ANNS_WORDS));
    assert_eq!(read(&two).await.status, 403, "only the operator that asked");
    let seen = office.call(("GET", "/v1/tenants/ann/glass"), Some(&member), &json!({})).await;
    assert_eq!(
        (&seen.json()[0]["state"], &seen.json()[0]["reason"]),
        (&json!("open"), &json!("ticket 7"))
    );
    let end = format!("/v1/admin/glass/{id}");
    assert_eq!(office.call(("DELETE", &end), Some(&two), &json!({})).await.status, 204);
    assert_eq!(read(&one).await.status, 403);
}

// T62: an operator does not become a reader by a role, a user or a link of its own making.
#[tokio::test]
async fn an_operator_lets_nobody_read_the_messages_of_a_tenant_with_users_of_its_own() {
    let office = Office::open().await;
    let operator = office.token(&[Role::Operator]).await;
    let calls = async |token: &str| {
        let me = office.call(("GET", "/v1/me"), Some(token), &json!({})).await.json();
        let own = me["user_id"].as_str().expect("an id").to_owned();
        let (member, nothing) = (json!({ "name": "New", "role": "member" }), json!({}));
        let give = format!("/v1/tenants/ann/users/{own}/roles/member");
        let link = format!("/v1/users/{}/link", office.member);
        [
            office.call(("POST", "/v1/tenants/ann/users"), Some(token), &member).await.status,
            office.call(("PUT", &give), Some(token), &nothing).await.status,
            office.call(("POST", &link), Some(token), &nothing).await.status,
        ]
    };
    let first = office.user(&[office.role('a')]).await;
    let link = ("POST", format!("/v1/users/{first}/link"));
    let link = office.call((link.0, &link.1), Some(&operator), &json!({})).await;
    assert_eq!(link.status, 201, "an operator enters the first user: {}", link.text);
    let url = link.json()["url"].as_str().expect("a link").to_owned();
    let code = json!({ "code": url.split("code=").nth(1).expect("a code") });
    let logged_in = office.call(("POST", "/v1/login/link"), None, &code).await;
    let admin = logged_in.json()["token"].as_str().expect("a token").to_owned();

    assert_eq!(calls(&operator).await, [403; 3]);
    let auditor = json!({ "name": "New", "role": "auditor" });
    let auditor = office.call(("POST", "/v1/tenants/ann/users"), Some(&operator), &auditor).await;
    assert!(auditor.status < 300, "an auditor reads no messages: {}", auditor.text);
    assert!(calls(&admin).await.iter().all(|status| *status < 300));
}

#[tokio::test]
async fn a_login_link_gives_a_token_once() {
    let office = Office::open().await;
    let operator = office.user(&[Role::Operator]).await;
    let code = office.users.create_link(Actor::Operator, operator).await.expect("make a link");
    let code = json!({ "code": code.expect("the user exists").with(str::to_owned) });

    let first = office.call(("POST", "/v1/login/link"), None, &code).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let token = first.json()["token"].as_str().expect("a token").to_owned();
    let me = office.call(("GET", "/v1/me"), Some(&token), &json!({})).await.json();
    assert_eq!(
        (&me["user_id"], &me["roles"][0]["role"]),
        (&json!(operator.to_string()), &json!("operator"))
    );
    let again = office.call(("POST", "/v1/login/link"), None, &code).await;
    assert_eq!(again.status, 401, "{}", again.text);
    let id = first.json()["token_id"].as_str().expect("an id").to_owned();
    let revoked =
        office.call(("DELETE", &format!("/v1/tokens/{id}")), Some(&token), &json!({})).await;
    assert_eq!(revoked.status, 204, "{}", revoked.text);
    assert_eq!(office.call(("GET", "/v1/me"), Some(&token), &json!({})).await.status, 401);
}

#[tokio::test]
async fn a_tenants_admin_makes_no_link_for_a_user_with_more_rights() {
    let office = Office::open().await;
    let admin = office.token(&[office.role('a')]).await;
    let of_bob = Role::Tenant(office.bob.scope.tenant(), TenantRole::Member);
    for more in [Role::Operator, Role::Auditor, of_bob] {
        let both = office.user(&[office.role('m'), more]).await;
        for act in ["link", "logout"] {
            let path = format!("/v1/users/{both}/{act}");
            let answer = office.call(("POST", &path), Some(&admin), &json!({})).await;
            assert!([403, 404].contains(&answer.status), "{more} {act}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn the_audit_log_names_the_token_of_an_act() {
    let office = Office::open().await;
    let admin = office.token(&[office.role('a')]).await;
    let before = office.desk.register.store().audit_records(office.ann.scope, 0, 1_000).await;
    let seen = before.expect("read the audit log").len();
    let create = ("PUT", "/v1/tenants/{tenant}/agents/{name}");
    assert_eq!(office.ask(create, Some(&admin)).await.status, 201);
    assert_eq!(office.ask(create, Some(&admin)).await.status, 200, "the same call changes nothing");

    let acts = office.desk.register.store().audit_records(office.ann.scope, 0, 1_000).await;
    let acts = acts.expect("read the audit log").split_off(seen);
    assert_eq!((acts.len(), acts[0].kind.as_str()), (1, "agent-created"));
    assert!(acts[0].actor.starts_with("token:"), "{}", acts[0].actor);
}
