//! S7. Every route and its rows in the audit log. A route that is not in the table has no case, and fails.

use std::collections::BTreeSet;

use nightdesk_register::audit::{AuditRecord, Kind};
use nightdesk_testdesk::{Answered, Household, TestDesk, get, post, upgrade_token_at};
use nightdesk_types::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::isolation::served;
use crate::oauth::{access_token, invited};

/// Calls that change rights, in an order in which each succeeds, with their names in the log.
const ACTS: [(&str, Kind); 14] = [
    ("/manage/link", Kind::LinkMade),
    ("/manage/scope", Kind::Granted),
    ("/manage/principal", Kind::PrincipalOpened),
    ("/manage/allow-list", Kind::ListReplaced),
    ("/manage/dm-default", Kind::Preferred),
    ("/relay/policy", Kind::RelevanceDeclared),
    ("/manage/scope/release", Kind::Released),
    ("/manage/unlink", Kind::Unbound),
    ("/relay/enroll", Kind::GatewayEnrolled),
    ("/relay/provision", Kind::GatewayProvisioned),
    ("/v1/skills", Kind::SkillWritten),
    ("/v1/skills/{name}/status", Kind::SkillStatusSet),
    ("/v1/sessions/stop", Kind::TurnStopped),
    ("/manage/deprovision", Kind::AgentDeprovisioned),
];

/// Calls that change no rights. Messages have a record of their own.
const OTHERS: [&str; 45] = [
    "/api/agent-cron/provision",
    "/api/agent-cron/cancel",
    "/api/agent-cron/list",
    "/api/agent-cron/done",
    "/api/agent-cron/relay",
    "/v1/line/take",
    "/v1/line/ack",
    "/v1/line/send",
    "/v1/line/sessions",
    "/v1/line/stopped",
    "/v1/line/idle",
    "/v1/skill-query",
    "/v1/skills/{name}",
    "/v1/skills/{name}/versions",
    "/v1/data",
    "/v1/data/query",
    "/v1/data/{id}",
    "/relay/media",
    "/relay/media/{id}",
    "/manage",
    "/healthz",
    "/healthz/{question}",
    "/readyz",
    "/relay",
    "/v1/events/{id}/explanation",
    "/v1/letters",
    "/v1/letters/{id}",
    "/v1/letters/{id}/stop",
    "/v1/agents",
    "/v1/webhook/{secret}/deliver",
    "/v1/webhook/{secret}/wake",
    "/v1/webhook/{secret}/status",
    "/mcp",
    "/hooks/{path}",
    "/problems/{slug}",
    "/chat/{path}",
    "/chat/{path}/messages",
    "/chat/{path}/events",
    "/chat-assets/{name}",
    "/oauth/token",
    "/api/oauth/token",
    "/oauth/jwks.json",
    "/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server",
    "/openapi.json",
];

#[test]
fn every_route_has_a_case() {
    let acts = ACTS.iter().map(|(path, _)| *path);
    let cases: BTreeSet<String> = acts.chain(OTHERS).map(str::to_owned).collect();

    assert_eq!(served(), cases);
}

/// The credential of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Token,
    Gateway,
}

struct Street {
    desk: TestDesk,
    ann: Household,
    seen: i64,
}

impl Street {
    async fn open() -> Self {
        let desk = TestDesk::open().await;
        let ann = desk.household("ann", "gw").await;
        let mut street = Self { desk, ann, seen: 0 };
        street.new_deeds().await;
        street
    }

    /// The rows that were added since the last read.
    async fn new_deeds(&mut self) -> Vec<AuditRecord> {
        let store = self.desk.register.store();
        let deeds =
            store.audit_records(self.ann.scope, self.seen, 100).await.expect("read the audit log");
        self.seen = deeds.last().map_or(self.seen, |deed| deed.seq);
        deeds
    }

    /// The caller with that credential, and its name in the log.
    async fn bearer(&mut self, path: &str, by: By) -> (String, String, Value) {
        let Household { scope, agent, .. } = self.ann;
        if ["/relay/enroll", "/relay/provision"].contains(&path) {
            // Only a machine identity may do that.
            let invited = invited(&self.desk, &self.ann).await;
            self.new_deeds().await;
            let token = json!(invited.token.with(str::to_owned));
            let bearer = access_token(&self.desk, &invited).await;
            return (bearer, format!("client:{}", invited.client), token);
        }
        let (bearer, actor) = match by {
            By::Gateway => (
                upgrade_token_at(&self.ann.name, &self.ann.secret, 300),
                format!("gateway:{}", self.ann.gateway),
            ),
            By::Token => {
                let now = SystemClock::start().now();
                let token =
                    self.desk.desk.stops.issuers.own_issuer().agent_token(scope, agent, now).await;
                (token.expect("a token").with(str::to_owned), format!("agent:{agent}"))
            }
        };
        (bearer, actor, Value::Null)
    }

    async fn ask(&self, path: &str, bearer: &str, enrolment: &Value) -> Answered {
        let bearer = format!("Bearer {bearer}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let status = if path.ends_with("/status") { "Approved" } else { "Draft" };
        let body = json!({
            "platform": "discord", "botId": "bot-ann", "userId": "ann", "userIds": ["bob"],
            "scopeId": "guild", "chatId": "c9", "chat_id": "c9", "principal": "any", "requireAddress": true,
            "gatewayId": "gw-new", "enrollmentToken": enrolment,
            "name": "brief", "source": "# Status: Draft\n", "status": status,
        });
        let path = path.replace("{name}", "brief");
        post(self.desk.address(), &path, &headers, body.to_string().as_bytes()).await
    }
}

#[tokio::test]
async fn each_act_is_told_once_by_who_did_it() {
    for by in [By::Token, By::Gateway] {
        let mut street = Street::open().await;
        let widened = street.desk.register.store().let_gateways_widen(street.ann.scope, true).await;
        widened.expect("let gateways widen");
        street.new_deeds().await;
        for (path, kind) in ACTS {
            let (bearer, actor, enrolment) = street.bearer(path, by).await;
            let answer = street.ask(path, &bearer, &enrolment).await;
            assert!((200..300).contains(&answer.status), "{by:?} {path}: {}", answer.text);

            let told = street.new_deeds().await;
            let told: Vec<_> = told.iter().map(|deed| (&*deed.kind, &*deed.actor)).collect();
            assert_eq!(told, [(kind.slug(), actor.as_str())], "{by:?} {path}");
        }
    }
}

/// Calls that a gateway's secret does not permit, or that cannot succeed.
const REFUSED: [&str; 7] = [
    "/manage/link",
    "/manage/scope",
    "/manage/principal",
    "/manage/allow-list",
    "/manage/dm-default",
    "/manage/scope/release",
    "/relay/enroll",
];

#[tokio::test]
async fn what_is_refused_is_not_told() {
    let mut street = Street::open().await;
    let as_nobody = ACTS.iter().map(|(path, _)| (*path, false));
    for (path, is_known) in as_nobody.chain(REFUSED.map(|path| (path, true))) {
        let (bearer, ..) = street.bearer(path, By::Gateway).await;
        let bearer = if is_known { bearer.as_str() } else { "nobody" };
        let answer = street.ask(path, bearer, &json!("guess")).await;

        assert!((400..500).contains(&answer.status), "{path}: {}", answer.text);
        assert_eq!(street.new_deeds().await, [], "{path}");
    }
}

#[tokio::test]
async fn who_looks_is_not_told() {
    let mut street = Street::open().await;
    let (bearer, ..) = street.bearer("/manage", By::Token).await;
    let bearer = format!("Bearer {bearer}");
    let answer = get(street.desk.address(), "/manage", &[("authorization", &bearer)]).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    street.desk.says(&street.ann, "ann", "k1").await;

    assert_eq!(street.new_deeds().await, []);
}
