//! Wakes, jobs, stops, explanations, notices and the audit log.

use nightdesk_register::AgentOnBot;
use nightdesk_types::{Clock as _, EntryId, Incarnation, Seq, SystemClock};
use nightdesk_users::{Role, TenantRole};
use serde_json::{Value, json};

use super::Office;

/// The routes of this file's subjects.
pub(super) const ROUTES: &[super::OfficeRoute] = &[
    ("GET", "/v1/tenants/{tenant}/wakes", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/wake", "OAamu"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/wake", "Oam"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/wake/trial", "Oam"),
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/wake-urls", "Oa"),
    ("PUT", "/v1/tenants/{tenant}/agents/{agent}/wake-urls", "Oa"),
    ("GET", "/v1/tenants/{tenant}/jobs", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/fires", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/agents/{agent}/jobs/{job}", "OAamu"),
    ("PUT", "/v1/tenants/{tenant}/agents/{agent}/jobs/{job}", "Oam"),
    ("DELETE", "/v1/tenants/{tenant}/agents/{agent}/jobs/{job}", "Oam"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/jobs/{job}/fire", "Oam"),
    ("POST", "/v1/tenants/{tenant}/agents/{agent}/stop", "Oam"),
    ("PUT", "/v1/tenants/{tenant}/agents/{agent}/stop-permission", "Oa"),
    ("GET", "/v1/tenants/{tenant}/events/{event}/explanation", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/events/prediction", "OAamu"),
    ("GET", "/v1/admin/events/prediction", "OA"),
    ("GET", "/v1/tenants/{tenant}/notices", "OAamu"),
    ("GET", "/v1/tenants/{tenant}/audit", "OAau"),
    ("GET", "/v1/tenants/{tenant}/audit/chain", "OAau"),
    ("POST", "/v1/tenants/{tenant}/audit/verify", "OAau"),
    ("GET", "/v1/admin/audit", "OA"),
    ("GET", "/v1/admin/audit/chains", "OA"),
    ("POST", "/v1/admin/audit/chains/{id}/verify", "OA"),
    ("GET", "/v1/admin/doctor", "O"),
    ("POST", "/v1/admin/doctor", "O"),
];

/// A path below ann's agent.
fn of_ann(rest: &str) -> String {
    format!("/v1/tenants/ann/agents/ann/{rest}")
}

#[tokio::test]
async fn an_agent_is_called_once_and_the_result_is_returned() {
    let office = Office::open().await;
    let admin = office.token(&[office.role('a')]).await;
    office.desk.settled().await;
    let call = async |method: &str, rest: &str, body: Value| {
        office.call((method, &of_ann(rest)), Some(&admin), &body).await
    };
    let no_url = call("POST", "wake", json!({})).await;
    assert_eq!(no_url.status, 409, "{}", no_url.text);
    assert!(no_url.text.contains("nightdesk agent wake-url"), "{}", no_url.text);

    let urls = json!({ "urls": ["https://agents.example/ann"] });
    let set = call("PUT", "wake-urls", urls.clone()).await;
    assert_eq!((set.status, &set.json()["urls"]), (200, &urls["urls"]));
    let called = call("POST", "wake", json!({})).await;
    assert_eq!((called.status, &called.json()["outcome"]), (200, &json!("200 in 1 ms")));
    assert_eq!(office.desk.calls.urls(), ["https://agents.example/ann"]);
    let early = call("POST", "wake", json!({})).await;
    assert_eq!(early.status, 409);
    assert!(early.text.contains("within the last 15 seconds"), "{}", early.text);
    let status = call("GET", "wake", json!({})).await.json();
    assert_eq!((&status["line"], &status["calls"]), (&json!("none"), &json!(1)), "{status}");
}

#[tokio::test]
async fn a_trial_puts_an_entry_and_calls_the_agent() {
    let office = Office::open().await;
    let member = office.token(&[office.role('m')]).await;
    office.desk.settled().await;
    office.desk.is_called_at(&office.ann, &["https://agents.example/ann"]).await;

    let trial = office.call(("POST", &of_ann("wake/trial")), Some(&member), &json!({})).await;
    let trial = trial.json();
    assert_eq!((&trial["seq"], &trial["called"]), (&json!(2), &json!(true)), "{trial}");
    assert_eq!(office.desk.head_of(&office.ann).await.get(), 2);
    let mut awake = office.desk.dial(&office.ann).await;
    awake.hello("discord").await;
    awake.hear_frame("descriptor").await;
    let refused = office.call(("POST", &of_ann("wake/trial")), Some(&member), &json!({})).await;
    assert!(refused.text.contains("the agent is awake"), "{}", refused.text);
    drop(awake);
}

#[tokio::test]
async fn a_resubmitted_entry_reaches_an_open_line_at_once() {
    let office = Office::open().await;
    let member = office.token(&[office.role('m')]).await;
    let call = async |rest: &str| {
        let answer = office.call(("POST", &of_ann(rest)), Some(&member), &json!({})).await;
        assert!(answer.status < 300, "{rest}: {}", answer.text);
    };
    call("inbox/1/park").await;
    let mut awake = office.desk.dial(&office.ann).await;
    awake.hello("discord").await;
    awake.hear_frame("descriptor").await;
    // A line that has just opened holds entries back.
    assert_eq!(office.desk.says(&office.ann, "ann", "k2").await, 200);
    assert_eq!(awake.hear_frame("inbound").await["event"]["text"], "k2");

    call("inbox/1/resubmit").await;
    assert_eq!(awake.hear_frame("inbound").await["event"]["text"], super::ANNS_WORDS);
    call("inbox/3/park").await;
    let group = ("POST", "/v1/tenants/ann/parked/operator/resubmit");
    let group = office.call(group, Some(&member), &json!({})).await;
    assert_eq!(group.json()["changed"], 1, "{}", group.text);
    assert_eq!(awake.hear_frame("inbound").await["event"]["text"], super::ANNS_WORDS);
}

#[tokio::test]
async fn a_job_is_armed_once_and_its_text_is_a_message() {
    let office = Office::open().await;
    let (member, auditor) =
        (office.token(&[office.role('m')]).await, office.token(&[office.role('u')]).await);
    let call =
        async |call: (&str, &str), body: Value| office.call(call, Some(&member), &body).await;
    let job = of_ann("jobs/tidy%2Fup");
    let arm = json!({ "fire_at": "2090-01-01T00:00:00Z", "say": "Tidy up." });
    assert_eq!(call(("PUT", &job), arm.clone()).await.status, 201);
    assert_eq!(call(("PUT", &job), arm).await.status, 200, "the same call changes nothing");
    let other = json!({ "in_seconds": 60, "say": "Tidy up." });
    assert_eq!(call(("PUT", &job), other).await.status, 409);

    let jobs = call(("GET", "/v1/tenants/ann/jobs?agent=ann"), json!({})).await.json();
    assert_eq!((&jobs[0]["job"], &jobs[0]["state"]), (&json!("tidy/up"), &json!("armed")));
    let words = async |token: &str| {
        office.call(("GET", &job), Some(token), &json!({})).await.json()["words"].clone()
    };
    assert_eq!((words(&member).await, words(&auditor).await), (json!("Tidy up."), Value::Null));
    assert_eq!(call(("DELETE", &job), json!({})).await.json()["cancelled"], true);
    let again = call(("DELETE", &job), json!({})).await;
    assert_eq!(again.status, 404, "{}", again.text);
    let bobs = call(("GET", "/v1/tenants/ann/agents/bob/jobs/x"), json!({})).await;
    assert_eq!(bobs.status, 404, "{}", bobs.text);
}

#[tokio::test]
async fn a_bad_job_is_refused_with_the_reason() {
    let office = Office::open().await;
    let member = office.token(&[office.role('m')]).await;
    let both = json!({ "fire_at": "2090-01-01T00:00:00Z", "in_seconds": 1, "say": "x" });
    for (job, body, reason) in [
        ("letter:1", json!({ "in_seconds": 1, "say": "x" }), "choose another"),
        ("a", json!({ "in_seconds": 1 }), "say or callback"),
        ("a", both, "fire_at or in_seconds"),
        ("a", json!({ "in_seconds": u64::MAX, "say": "x" }), "too far in the future"),
        ("a", json!({ "fire_at": "soon", "say": "x" }), "fire_at must be an instant"),
    ] {
        let path = of_ann(&format!("jobs/{job}"));
        let refused = office.call(("PUT", &path), Some(&member), &body).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        assert!(refused.text.contains(reason), "{reason}: {}", refused.text);
    }
}

#[tokio::test]
async fn a_turn_is_stopped_by_a_user() {
    let office = Office::open().await;
    let admin = office.token(&[office.role('a')]).await;
    let (stop, permit) = (of_ann("stop"), of_ann("stop-permission"));
    let session = json!({ "platform": "discord", "chat_id": "c1" });
    let stopped = office.call(("POST", &stop), Some(&admin), &session).await.json();
    assert_eq!(stopped["outcome"], "undelivered", "it has no line: {stopped}");
    let of_bob = json!({ "platform": "discord", "chat_id": "c1", "agent": "bob" });
    assert_eq!(office.call(("POST", &stop), Some(&admin), &of_bob).await.status, 400);

    let store = office.desk.register.store();
    for stops_others in [true, false] {
        let permission = json!({ "stops_others": stops_others });
        let set = office.call(("PUT", &permit), Some(&admin), &permission).await;
        assert_eq!((set.status, &set.json()["stops_others"]), (200, &json!(stops_others)));
        let may = store.may_stop_others(office.ann.scope, office.ann.agent).await;
        assert_eq!(may.expect("read the permission"), stops_others);
    }
}

#[tokio::test]
async fn an_explanation_shows_states_and_no_texts() {
    let office = Office::open().await;
    let auditor = office.token(&[office.role('u')]).await;
    let (agent, incarnation) = (office.ann.agent, Incarnation::default());
    let entry = EntryId { agent, incarnation, seq: Seq::new(1) };
    let path = format!("/v1/tenants/ann/events/{entry}/explanation");
    let told = office.call(("GET", &path), Some(&auditor), &json!({})).await;
    assert_eq!((told.status, &told.json()["outcome"]), (200, &json!("held")));
    assert!(!told.text.contains(super::ANNS_WORDS), "{}", told.text);

    let bobs = format!("/v1/tenants/bob/events/{entry}/explanation");
    let operator = office.token(&[Role::Operator]).await;
    let foreign = office.call(("GET", &bobs), Some(&operator), &json!({})).await;
    assert_eq!(foreign.status, 404, "not in the tenant of the path: {}", foreign.text);
}

#[tokio::test]
async fn a_tenants_prediction_hides_the_agents_of_others() {
    let office = Office::open().await;
    let (ann, bob) = (&office.ann, &office.bob);
    let on = AgentOnBot { scope: bob.scope, agent: bob.agent, bot: ann.bot };
    office.desk.register.store().bind(on, "bob").await.expect("bind the author");
    let of_bob = Role::Tenant(bob.scope.tenant(), TenantRole::Admin);
    let tokens = (office.token(&[office.role('a')]).await, office.token(&[of_bob]).await);
    let operator = office.token(&[Role::Operator]).await;
    let event = format!("events/prediction?bot={}&author=bob&chat=c1", ann.bot);
    let predict = async |place: &str, token: &str| {
        let path = format!("/v1/{place}/{event}");
        office.call(("GET", &path), Some(token), &json!({})).await.json()
    };

    let all = predict("admin", &operator).await;
    assert_eq!(all["agents"][0]["agent"], json!(bob.agent), "{all}");
    let bobs = predict("tenants/bob", &tokens.1).await;
    assert_eq!(bobs["delivered"], true, "{bobs}");
    let anns = predict("tenants/ann", &tokens.0).await;
    assert_eq!((&anns["delivered"], &anns["agents"]), (&json!(false), &json!([])), "{anns}");
}

#[tokio::test]
async fn a_chain_is_verified_with_its_anchors() {
    let office = Office::open().await;
    let auditor = office.token(&[office.role('u')]).await;
    let rows = office.call(("GET", "/v1/tenants/ann/audit"), Some(&auditor), &json!({})).await;
    assert_eq!(rows.json()[0]["kind"], "tenant-created", "{}", rows.text);
    let chain = ("GET", "/v1/tenants/ann/audit/chain");
    let chain = office.call(chain, Some(&auditor), &json!({})).await.json();
    let anchor = chain["anchor"].as_str().expect("a line").to_owned();
    let verify = async |anchors: Value| {
        let path = ("POST", "/v1/tenants/ann/audit/verify");
        office.call(path, Some(&auditor), &json!({ "anchors": anchors })).await
    };

    let whole = verify(json!([anchor])).await.json();
    assert_eq!((&whole["rows"], &whole["fault"]), (&chain["head"], &Value::Null), "{whole}");
    let hash = anchor.rsplit(' ').next().expect("a hash");
    let other = anchor.replace(hash, &"0".repeat(hash.len()));
    let rebuilt = verify(json!([other])).await.json();
    assert!(rebuilt["fault"].as_str().is_some_and(|fault| fault.contains("differs")), "{rebuilt}");
    assert_eq!(verify(json!(["no anchor"])).await.status, 400);
}

#[tokio::test]
async fn an_examination_names_its_faults_and_repairs_them_on_request() {
    let office = Office::open().await;
    let operator = office.token(&[Role::Operator]).await;
    let call = async |method: &str| {
        office.call((method, "/v1/admin/doctor"), Some(&operator), &json!({})).await.json()
    };
    let of = |report: &Value, check: &str| {
        let findings = report["findings"].as_array().expect("a list").iter();
        findings.filter(|finding| finding["check"] == check).cloned().collect::<Vec<_>>()
    };

    let report = call("GET").await;
    assert_eq!((&report["node"], &report["faults"]), (&json!("test"), &json!(3)), "{report}");
    assert_eq!(of(&report, "retention")[0]["next_step"], "create it");
    let bots = of(&report, "bots");
    assert_eq!(bots.len(), 2, "{report}");
    assert!(bots[0]["text"].as_str().is_some_and(|text| text.contains("posts elsewhere")));
    assert_eq!(of(&report, "wakes")[0]["severity"], "ok", "{report}");

    let repaired = call("POST").await;
    assert_eq!(repaired["faults"], 0, "{repaired}");
    assert!(of(&repaired, "retention").iter().all(|finding| finding["fixed"] == true));
}

#[tokio::test]
async fn the_desk_answers_its_own_question_and_no_other() {
    let office = Office::open().await;
    // The time of the routes.
    let now = SystemClock::start().now();
    let ask = async |question: &str| {
        office.call(("GET", &format!("/healthz/{question}")), None, &json!({})).await
    };
    let key = nightdesk_testdesk::question_key();
    let question = key.create_question(now);
    let answer = ask(&question).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let body = answer.text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
    assert!(key.is_answer(&question, body.expect("a body").as_bytes()));

    let foreign = nightdesk_office::DeskQuestionKey::new(&[1; 32]).create_question(now);
    for wrong in [foreign, "0".to_owned(), "9".repeat(2_000)] {
        assert_eq!(ask(&wrong).await.status, 404);
    }
}
