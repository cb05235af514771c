//! Every route, called without a credential and by a foreign tenant. A route that is not in the table has no case, and fails.

#[path = "isolation/transports.rs"]
mod transports;

use std::collections::BTreeSet;
use std::path::Path;

use nightdesk_desk::shelf::SkillWrite;
use nightdesk_letters::Party;
use nightdesk_schedule::{ArmRequest, FireAt, JobId, Policies, Target};
use nightdesk_shelf::{DataWrite, QueryFilters};
use nightdesk_testdesk::{Answered, Household, TestDesk, get, post, upgrade_token_at};
use nightdesk_types::{EntryId, Incarnation, Seq};
use serde_json::{Value, json};

use crate::cases::Cases;

/// The access rule of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    /// Public, and without information about any tenant.
    Open,
    /// A caller without a credential gets a 401 and nothing else.
    Proof,
}
use Guard::{Open, Proof};

/// Every route with its request and its access rule.
const ROUTES: [(&str, &str, Guard); 59] = [
    ("GET", "/manage", Proof),
    ("POST", "/manage/link", Proof),
    ("POST", "/manage/unlink", Proof),
    ("POST", "/manage/dm-default", Proof),
    ("POST", "/manage/scope", Proof),
    ("POST", "/manage/scope/release", Proof),
    ("POST", "/manage/principal", Proof),
    ("POST", "/manage/allow-list", Proof),
    ("POST", "/manage/deprovision", Proof),
    ("GET", "/healthz", Open),
    ("GET", "/healthz/{question}", Open),
    ("GET", "/readyz", Open),
    ("GET", "/relay", Proof),
    ("POST", "/relay/enroll", Proof),
    ("POST", "/relay/media", Proof),
    ("GET", "/relay/media/{id}", Proof),
    ("POST", "/relay/policy", Proof),
    ("POST", "/relay/provision", Proof),
    ("POST", "/api/agent-cron/provision", Proof),
    ("POST", "/api/agent-cron/cancel", Proof),
    ("GET", "/api/agent-cron/list", Proof),
    ("POST", "/api/agent-cron/done", Proof),
    ("POST", "/api/agent-cron/relay", Proof),
    ("GET", "/v1/events/{id}/explanation", Proof),
    ("POST", "/v1/line/take", Proof),
    ("POST", "/v1/line/ack", Proof),
    ("POST", "/v1/line/send", Proof),
    ("POST", "/v1/line/sessions", Proof),
    ("POST", "/v1/line/stopped", Proof),
    ("POST", "/v1/line/idle", Proof),
    ("POST", "/v1/sessions/stop", Proof),
    ("POST", "/v1/skills", Proof),
    ("POST", "/v1/skill-query", Proof),
    ("GET", "/v1/skills/{name}", Proof),
    ("GET", "/v1/skills/{name}/versions", Proof),
    ("POST", "/v1/skills/{name}/status", Proof),
    ("POST", "/v1/data", Proof),
    ("POST", "/v1/data/query", Proof),
    ("GET", "/v1/data/{id}", Proof),
    ("POST", "/v1/letters", Proof),
    ("GET", "/v1/letters/{id}", Proof),
    ("POST", "/v1/letters/{id}/stop", Proof),
    ("GET", "/v1/agents", Proof),
    ("POST", "/v1/webhook/{secret}/deliver", Proof),
    ("POST", "/v1/webhook/{secret}/wake", Proof),
    ("GET", "/v1/webhook/{secret}/status", Proof),
    ("POST", "/mcp", Proof),
    ("POST", "/hooks/{path}", Proof),
    ("GET", "/problems/{slug}", Open),
    ("GET", "/openapi.json", Open),
    ("GET", "/chat/{path}", Open),
    ("POST", "/chat/{path}/messages", Open),
    ("GET", "/chat/{path}/events", Open),
    ("GET", "/chat-assets/{name}", Open),
    ("POST", "/oauth/token", Proof),
    ("POST", "/api/oauth/token", Proof),
    ("GET", "/oauth/jwks.json", Open),
    ("GET", "/.well-known/openid-configuration", Open),
    ("GET", "/.well-known/oauth-authorization-server", Open),
];

/// The routes of agents and of the public: all but those of users, which have a table of their own. Metrics are served
/// elsewhere.
pub(crate) fn served() -> BTreeSet<String> {
    let crates = Path::new("..");
    let mut served: BTreeSet<String> = nightdesk_api::openapi().paths.paths.into_keys().collect();
    let mut folders = vec![crates.join("api/src"), crates.join("line/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(path).expect("a source");
            let routes = text.split(".route(\"").skip(1);
            served.extend(routes.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
    }
    // They have addresses of their own.
    served.remove("/metrics");
    served.remove("/access-token");
    served.retain(|path| !crate::office::is_of_users(path));
    served
}

#[test]
fn every_route_has_a_case() {
    let cases: BTreeSet<String> = ROUTES.iter().map(|(_, path, _)| (*path).to_owned()).collect();

    assert_eq!(served(), cases);
    assert_eq!(cases.len(), ROUTES.len(), "none twice");
}

/// The key of one of ann's events. It is so long that no signing key contains it by chance.
const ANNS_EVENT: &str = "what-ann-said";

/// A job of ann's agent, and its time.
const ANNS_JOB: &str = "what-ann-does";

fn anns_job() -> ArmRequest {
    ArmRequest {
        job: JobId::new(ANNS_JOB).expect("a name"),
        fire_at: FireAt::parse("2096-01-01T00:00:00Z").expect("an instant"),
        to: Target::Callback("https://agents.example/ann".to_owned()),
        recurring: false,
        reports: false,
        policies: Policies::default(),
    }
}

/// Two households that know nothing of each other.
struct Street {
    desk: TestDesk,
    ann: Household,
    bob: Household,
}

async fn street() -> Street {
    let desk = TestDesk::open().await;
    let (ann, bob) = (desk.household("ann", "gw").await, desk.household("bob", "gw").await);
    desk.says(&ann, "ann", ANNS_EVENT).await;
    desk.desk.stops.schedule.arm(ann.scope, ann.agent, &anns_job()).await.expect("arm a job");
    share(&desk, &ann).await;
    Street { desk, ann, bob }
}

/// Stores a skill and an entry of data of ann's agent.
async fn share(desk: &TestDesk, ann: &Household) {
    let caller = Party { scope: ann.scope, agent: ann.agent };
    let shelf = &desk.desk.stops.shelf;
    let (name, source) = ("none".to_owned(), ANNS_EVENT.to_owned());
    let skill = SkillWrite { name, source, ..SkillWrite::default() };
    shelf.skill_write(caller, &skill).await.expect("write a skill");
    let entry = DataWrite { content: ANNS_EVENT.to_owned(), ..DataWrite::default() };
    shelf.data_write(caller, &entry).await.expect("write an entry");
}

impl Street {
    /// Calls a route for ann's things.
    async fn ask(&self, (method, path): (&str, &str), bearer: Option<&str>) -> Answered {
        let (agent, incarnation) = (self.ann.agent, Incarnation::default());
        let entry = EntryId { agent, incarnation, seq: Seq::new(1) }.to_string();
        let path = path
            .replace("{id}", &entry)
            .replace("{path}", &self.ann.path)
            .replace("{slug}", "taken")
            .replace("{secret}", "none")
            .replace("{name}", "none");
        let bearer = bearer.map(|bearer| format!("Bearer {bearer}"));
        let json = ("content-type", "application/json");
        let headers: Vec<(&str, &str)> =
            bearer.iter().map(|bearer| ("authorization", bearer.as_str())).chain([json]).collect();
        if method == "GET" {
            return get(self.desk.address(), &path, &headers).await;
        }
        let body = self.anns().to_string();
        post(self.desk.address(), &path, &headers, body.as_bytes()).await
    }

    /// A body that names ann's things in every field that any route reads.
    fn anns(&self) -> Value {
        let (agent, incarnation) = (self.ann.agent, Incarnation::default());
        let entry = EntryId { agent, incarnation, seq: Seq::new(1) }.to_string();
        json!({
            "wait_seconds": 0,
            "buffer_ids": [entry],
            "tenant": self.ann.scope.tenant().to_string(),
            "instanceId": self.ann.agent.to_string(),
            "agentId": self.ann.agent.to_string(),
            "gatewayId": "gw",
            "enrollmentToken": "guess",
            "platform": "discord",
            "botId": "bot-ann",
            "userId": "ann",
            "userIds": ["bob"],
            "chatId": "c1",
            "chat_id": "c1",
            "drop_waiting": true,
            "principal": "any",
            "requireAddress": true,
            "agent_id": self.ann.agent.to_string(),
            "agent": self.ann.agent.to_string(),
            "job_id": ANNS_JOB,
            "fire_at": "2097-01-01T00:00:00Z",
            "agent_callback_url": "https://agents.example/ann",
            "fire_id": self.ann.agent.to_string(),
            "name": "none",
            "source": "what bob wrote",
            "overwrite": true,
            "status": "Disabled",
            "content": "what bob wrote",
            "query": ANNS_EVENT,
            "permissive_filters": true,
        })
    }

    /// True if a response names nothing of ann's.
    fn is_silent(&self, answer: &Answered) -> bool {
        let names = [self.ann.agent.to_string(), self.ann.scope.tenant().to_string()];
        names.iter().all(|name| !answer.text.contains(name))
    }

    /// The skills and data of ann's agent.
    async fn shared(&self) -> String {
        let caller = Party { scope: self.ann.scope, agent: self.ann.agent };
        let on = &self.desk.desk.stops.shelf;
        let versions = on.skill_versions(caller, "none").await.expect("read a skill's past");
        let everything = QueryFilters::default();
        let data = on.data_query(caller, &everything).await.expect("read data");
        format!("{versions:?} {data:?}")
    }

    /// The state of ann's that a route could change.
    async fn state(&self) -> String {
        let (scope, agent) = (self.ann.scope, self.ann.agent);
        let store = self.desk.register.store();
        let reach = store.reach_of(scope, agent).await.expect("read an agent's reach");
        let gateways = store.gateways(scope, "").await.expect("list gateways");
        let acked = self.desk.acked(&self.ann).await;
        let armed =
            self.desk.desk.stops.schedule.armed_jobs(scope, agent).await.expect("list jobs");
        let head = self.desk.head_of(&self.ann).await;
        let shared = self.shared().await;
        format!("{reach:?} {gateways:?} {acked} {head:?} {armed:?} {shared}")
    }
}

/// Ends the cases of a test, with their number for `just isolation`.
fn end(cases: Cases) {
    cases.end("NIGHTDESK_CASES", "");
}

#[tokio::test]
async fn nobody_is_told_or_changes_anything() {
    let street = street().await;
    let (mut cases, before) = (Cases::default(), street.state().await);
    for (method, path, guard) in ROUTES {
        let answer = street.ask((method, path), None).await;
        let is_right = match guard {
            Proof => [400, 401, 429].contains(&answer.status),
            Open => answer.status != 500,
        };
        let is_right = is_right && street.is_silent(&answer) && street.state().await == before;
        cases.note(is_right, format!("{method} {path}: {}", answer.text));
    }
    end(cases);
}

#[tokio::test]
async fn a_foreign_tenant_is_told_nothing_and_changes_nothing() {
    let street = street().await;
    let (mut cases, before) = (Cases::default(), street.state().await);
    let bearer = upgrade_token_at(&street.bob.name, &street.bob.secret, 300);
    // The last one, because it revokes bob's own credential.
    let (last, others): (Vec<_>, Vec<_>) =
        ROUTES.into_iter().partition(|(_, path, _)| *path == "/manage/deprovision");
    for (method, path, _) in others.into_iter().chain(last) {
        let answer = street.ask((method, path), Some(&bearer)).await;
        let is_right = answer.status != 500
            && street.is_silent(&answer)
            && !answer.text.contains(ANNS_EVENT)
            && !answer.text.contains("2096-")
            && street.state().await == before;
        cases.note(is_right, format!("{method} {path}: {}", answer.text));
    }
    end(cases);
}
