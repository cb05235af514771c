//! Every route of users, called by each role, by a foreign tenant's admin, with limited tokens, and without a credential.
//! A route that is not in the tables has no case, and fails.

#[path = "office/alerts.rs"]
mod alerts;
#[path = "office/bots.rs"]
mod bots;
#[path = "office/overview.rs"]
mod overview;
#[path = "office/pages.rs"]
mod pages;
#[path = "office/reach.rs"]
mod reach;
#[path = "office/shelf.rs"]
mod shelf;
#[path = "office/tokens.rs"]
mod tokens;
#[path = "office/work.rs"]
mod work;

use std::collections::BTreeSet;

use nightdesk_testdesk::{Answered, Household, TestDesk, request, upgrade_token_at};
use nightdesk_types::{Actor, UserId};
use nightdesk_users::{
    NewUser, Right, Role, TenantRole, TokenCreation, TokenLimits, UserDirectory, Users,
};
use serde_json::{Value, json};

use crate::cases::Cases;

/// A route: method, path, and the roles that may call it, by their letters in [`ROLES`].
type OfficeRoute = (&'static str, &'static str, &'static str);

/// The routes of logins, users, tenants, agents and inboxes.
const PEOPLE: &[OfficeRoute] = &[
    ("POST", "/v1/login/link", PUBLIC),
    ("GET", "/v1/me", ANY),
    ("GET", "/v1/tokens", ANY),
    ("POST", "/v1/tokens", ANY),
    ("DELETE", "/v1/tokens/{id}", ANY),
    ("GET", "/v1/tenants", ANY),
    ("PUT", "/v1/admin/tenants/{name}", "O"),
    ("GET", "/v1/tenants/{tenant}/agents", "OAamu"),
    ("PUT", "/v1/tenants/{tenant}/agents/{name}", "Oa"),
    ("GET", "/v1/admin/users", "O"),
    ("POST", "/v1/admin/users", "O"),
    ("GET", "/v1/tenants/{tenant}/users", "Oa"),
    ("POST", "/v1/tenants/{tenant}/users", "Oa"),
    ("PUT", "/v1/admin/users/{user}/roles/{role}", "O"),
    ("DELETE", "/v1/admin/users/{user}/roles/{role}", "O"),
    ("PUT", "/v1/tenants/{tenant}/users/{user}/roles/{role}", "Oa"),
    ("DELETE", "/v1/tenants/{tenant}/users/{user}/roles/{role}", "Oa"),
    ("POST", "/v1/users/{user}/link", "Oa"),
    ("POST", "/v1/users/{user}/logout", "Oa"),
    ("GET", "/v1/admin/glass", "OA"),
    ("POST", "/v1/admin/glass/{id}/approve", "O"),
    ("DELETE", "/v1/admin/glass/{id}", "O"),
    ("GET", "/v1/tenants/{tenant}/glass", "OAamu"),
    ("POST", "/v1/tenants/{tenant}/glass", "O"),
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/inbox", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/inbox/{seq}", "OAamu"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/inbox/{seq}/resubmit", "Oam"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/inbox/{seq}/park", "Oam"),
];

/// Every route of users, from the tables of its files.
fn all_routes() -> Vec<OfficeRoute> {
    let tables = [
        PEOPLE,
        reach::ROUTES,
        bots::ROUTES,
        work::ROUTES,
        shelf::ROUTES,
        overview::ROUTES,
        alerts::ROUTES,
    ];
    tables.concat()
}

/// A route that needs no credential.
const PUBLIC: &str = "public";

/// A route for every user.
const ANY: &str = "OAamu";

/// A text of ann's message, which only its tenant may read.
const ANNS_WORDS: &str = "what-ann-wrote-to-her-agent";

/// True if a path is in the table.
pub(crate) fn is_of_users(path: &str) -> bool {
    all_routes().iter().any(|(_, of_users, _)| *of_users == path)
}

#[test]
fn every_route_has_a_case() {
    let mut described = BTreeSet::new();
    for (path, item) in nightdesk_api::openapi().paths.paths {
        let operations = [
            ("GET", item.get),
            ("PUT", item.put),
            ("POST", item.post),
            ("DELETE", item.delete),
            ("PATCH", item.patch),
        ];
        for (method, operation) in operations {
            let tags = operation.and_then(|operation| operation.tags).unwrap_or_default();
            if tags.iter().any(|tag| ["office", "users"].contains(&tag.as_str())) {
                described.insert((method.to_owned(), path.clone()));
            }
        }
    }
    let cases =
        all_routes().into_iter().map(|(method, path, _)| (method.to_owned(), path.to_owned()));

    assert_eq!(described, cases.collect());
}

/// The letters of roles, in the desk or in ann's tenant.
const ROLES: &str = "OAamu";

struct Office {
    desk: TestDesk,
    ann: Household,
    bob: Household,
    users: Users,
    /// A member of ann's tenant, whom calls are about.
    member: UserId,
}

impl Office {
    async fn open() -> Self {
        let desk = TestDesk::open().await;
        let (ann, bob) = (desk.household("ann", "gw").await, desk.household("bob", "gw").await);
        assert_eq!(desk.says(&ann, "ann", ANNS_WORDS).await, 200);
        let users = Users::new(std::sync::Arc::new(desk.store.clone()));
        let mut office =
            Self { desk, ann, bob, users, member: UserId::from_uuid(uuid::Uuid::nil()) };
        office.member = office.user(&[office.role('m')]).await;
        office
    }

    /// The role of a letter.
    fn role(&self, letter: char) -> Role {
        let tenant = self.ann.scope.tenant();
        match letter {
            'O' => Role::Operator,
            'A' => Role::Auditor,
            'a' => Role::Tenant(tenant, TenantRole::Admin),
            'm' => Role::Tenant(tenant, TenantRole::Member),
            _ => Role::Tenant(tenant, TenantRole::Auditor),
        }
    }

    async fn user(&self, roles: &[Role]) -> UserId {
        let new = NewUser { name: "User".to_owned(), email: None, roles: roles.to_vec() };
        self.desk.store.create_user(Actor::Operator, &new).await.expect("create a user")
    }

    /// Returns a token of a user, with these limits.
    async fn limited_token(&self, user: UserId, limits: TokenLimits) -> String {
        let hour = std::time::Duration::from_hours(1);
        let created = self.users.create_token(Actor::User(user), user, "test", limits, hour).await;
        let created = created.expect("create a token");
        assert!(matches!(created.creation, TokenCreation::Created(_)));
        created.text.with(str::to_owned)
    }

    /// Returns a token with every right of a new user with these roles.
    async fn token(&self, roles: &[Role]) -> String {
        let limits = TokenLimits { rights: Right::ALL.into_iter().collect(), tenant: None };
        self.limited_token(self.user(roles).await, limits).await
    }

    /// Calls a route for ann's things.
    async fn ask(&self, (method, path): (&str, &str), bearer: Option<&str>) -> Answered {
        let nobody = uuid::Uuid::nil().to_string();
        let filled = path
            .replace("{tenant}", "ann")
            .replace("{agent}", "ann")
            .replace("{name}", "fresh")
            .replace("{user}", &self.member.to_string())
            .replace("{bot}", &self.ann.bot.to_string())
            .replace("{author}", "ann")
            .replace("{chat}", "99")
            .replace("{role}", "auditor")
            .replace("{seq}", "1")
            .replace("{reason}", "tries")
            .replace("{job}", "tidy-up")
            .replace("{event}", "k1")
            .replace("{peer_tenant}", "bob")
            .replace("{peer_agent}", "bob")
            .replace("{kid}", "k1")
            .replace("{session}", "s1")
            .replace("{id}", &nobody);
        self.call((method, &filled), bearer, &body(path)).await
    }

    async fn call(&self, call: (&str, &str), bearer: Option<&str>, body: &Value) -> Answered {
        let bearer = bearer.map(|bearer| format!("Bearer {bearer}"));
        let json = ("content-type", "application/json");
        let headers: Vec<(&str, &str)> =
            bearer.iter().map(|bearer| ("authorization", bearer.as_str())).chain([json]).collect();
        request(self.desk.address(), call, &headers, body.to_string().as_bytes()).await
    }

    /// The state of ann's tenant that a route could change.
    async fn state(&self) -> String {
        let store = self.desk.register.store();
        let acts = store.audit_records(self.ann.scope, 0, 1_000).await.expect("read the audit log");
        let head = self.desk.head_of(&self.ann).await;
        let operations = self.desk.custody.operations();
        format!("{} {head:?} {} {operations:?}", acts.len(), self.desk.acked(&self.ann).await)
    }

    /// True if a response names nothing of ann's tenant.
    fn is_silent(&self, answer: &Answered) -> bool {
        let names = [self.ann.agent.to_string(), self.ann.scope.tenant().to_string()];
        !answer.text.contains(ANNS_WORDS) && names.iter().all(|name| !answer.text.contains(name))
    }
}

/// The body that a route expects.
fn body(path: &str) -> Value {
    if let Some(body) = bots::body(path) {
        return body;
    }
    let by_ending = [
        ("/tokens", json!({ "name": "script", "rights": ["read"] })),
        ("/users", json!({ "name": "New", "role": "auditor" })),
        ("/glass", json!({ "reason": "ticket 7", "minutes": 5 })),
        ("/reach", json!({ "open_to": "any" })),
        ("/gateways", json!({ "name": "gw-new" })),
        ("/gateway-trust", json!({ "gateways_may_widen": true })),
        ("/letters", json!({ "to": "ann", "text": "hello" })),
        ("/letter-hooks", json!({ "name": "runtime" })),
        ("/skills/{name}", json!({ "source": "t:\n" })),
        ("/status", json!({ "status": "Draft" })),
        ("/approval", json!({ "version": "0", "signature": "v3:AA" })),
        ("/data", json!({ "content": "The kettle is blue." })),
        ("/alert-ways", json!({ "webhook": "https://ops.example/alerts" })),
        ("/wake-urls", json!({ "urls": ["https://agents.example/wake"] })),
        ("/jobs/{job}", json!({ "in_seconds": 3_600, "say": "Tidy up." })),
        ("/stop", json!({ "platform": "discord", "chat_id": "c1" })),
        ("/stop-permission", json!({ "stops_others": true })),
        ("/inbox/{seq}/drop", json!({ "confirm": "1" })),
        ("/parked/{reason}/drop", json!({ "confirm": "tries" })),
        ("/login/link", json!({ "code": "ndl_guess" })),
    ];
    let found = by_ending.into_iter().find(|(ending, _)| path.ends_with(ending));
    found.map_or_else(|| json!({}), |(_, body)| body)
}

/// Ends the cases of a test, with the number of routes for `just office`.
fn end(cases: Cases) {
    cases.end("NIGHTDESK_OFFICE_CASES", &format!("{} ", all_routes().len()));
}

#[tokio::test]
async fn each_role_calls_what_it_may() {
    let mut cases = Cases::default();
    for letter in ROLES.chars() {
        for (method, path, allowed) in all_routes() {
            // Each call has a desk of its own, so that no call depends on the one before.
            let office = Office::open().await;
            let (token, before) =
                (office.token(&[office.role(letter)]).await, office.state().await);
            let answer = office.ask((method, path), Some(&token)).await;
            let is_right = if allowed == PUBLIC {
                answer.status == 401
            } else if allowed.contains(letter) {
                ![401, 403, 500].contains(&answer.status)
            } else {
                answer.status == 403 && office.state().await == before
            };
            cases.note(is_right, format!("{letter} {method} {path}: {}", answer.text));
        }
    }
    end(cases);
}

#[tokio::test]
async fn a_foreign_tenants_admin_is_told_nothing_and_changes_nothing() {
    let office = Office::open().await;
    let of_bob = Role::Tenant(office.bob.scope.tenant(), TenantRole::Admin);
    let token = office.token(&[of_bob]).await;
    let (mut cases, before) = (Cases::default(), office.state().await);
    for (method, path, _) in all_routes() {
        let answer = office.ask((method, path), Some(&token)).await;
        let is_refused = !path.contains("{tenant}") || answer.status == 404;
        let is_right = is_refused && office.is_silent(&answer) && office.state().await == before;
        cases.note(is_right, format!("{method} {path}: {}", answer.text));
    }
    end(cases);
}

#[tokio::test]
async fn without_a_users_credential_nothing_is_told_or_changed() {
    let office = Office::open().await;
    let gateways = upgrade_token_at(&office.ann.name, &office.ann.secret, 300);
    let forged = format!("ndt_{}", "0".repeat(64));
    let (mut cases, before) = (Cases::default(), office.state().await);
    for bearer in [None, Some(gateways.as_str()), Some(&forged), Some("ndt_"), Some("x")] {
        for (method, path, _) in all_routes() {
            let answer = office.ask((method, path), bearer).await;
            let is_refused = [401, 429].contains(&answer.status);
            let is_right =
                is_refused && office.is_silent(&answer) && office.state().await == before;
            cases.note(is_right, format!("{bearer:?} {method} {path}: {}", answer.text));
        }
    }
    end(cases);
}
