//! Only fires that the desk signed just now for this agent run.

use nightdesk_testkit::fire::cases;
use uuid::Uuid;

use super::desk::SIGNER;
use super::*;

/// Returns a stage with a due job.
async fn due() -> Stage {
    let stage = Stage::new().await;
    stage.provider.set(every("tick", 20)).await.unwrap();
    stage.clock.let_pass(Duration::from_secs(20));
    stage
}

fn body(stage: &Stage) -> String {
    json!({"job_id": "tick", "fire_at": format_time(stage.now())}).to_string()
}

#[tokio::test]
async fn no_forged_token_runs_anything() {
    let mut stage = due().await;
    let before = stage.store.read().await.unwrap();
    let (between, fire) = (stage.desk.between(), Uuid::from_u128(0xabc).to_string());
    let cases = cases(&SIGNER, &between, &fire, stage.now().as_second());
    let invalid = (StatusCode::UNAUTHORIZED, json!({"error": "invalid fire token"}));

    for case in cases.iter().filter(|case| !case.good) {
        assert_eq!(stage.post(&case.token, &body(&stage)).await, invalid, "{}", case.name);
    }
    assert_eq!(stage.store.read().await.unwrap(), before, "nothing was claimed");
    assert!(stage.desk.asked("jwks.json") <= 2, "keys are not read for every forgery");
    for case in cases.iter().filter(|case| case.good) {
        let answer = stage.post(&case.token, &body(&stage)).await;
        assert_eq!(answer.0, StatusCode::ACCEPTED, "{}", case.name);
    }
    stage.run().await;
    assert!(!stage.has_run(), "good ones of one fire are one fire");
}

#[tokio::test]
async fn a_token_is_shown_in_one_way() {
    let mut stage = due().await;
    let good = stage.desk.token(1, stage.now());
    let cases: [(&str, Vec<String>); 6] = [
        ("none", vec![]),
        ("bare", vec![good.clone()]),
        ("another scheme", vec![format!("Basic {good}")]),
        ("small letters", vec![format!("bearer {good}")]),
        ("two blanks", vec![format!("Bearer  {good}")]),
        ("twice", vec![format!("Bearer {good}"), format!("Bearer {good}")]),
    ];
    for (name, shown) in cases {
        let mut request = Request::post("/api/cron/fire");
        for shown in shown {
            request = request.header(header::AUTHORIZATION, shown);
        }
        let answer = stage.call(request.body(Body::from(body(&stage))).unwrap()).await;
        assert_eq!(answer.0, StatusCode::UNAUTHORIZED, "{name}");
    }
    assert!(!stage.has_run());
}

#[tokio::test]
async fn a_body_names_its_job_in_few_words() {
    let mut stage = due().await;
    let padded = |bytes: usize| {
        let body = json!({"job_id": "none", "pad": ""}).to_string();
        body.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - body.len())))
    };
    let most = limits::FIRE_BYTES_MAX;
    let missing = StatusCode::BAD_REQUEST;
    let cases = [
        ("nothing", String::new(), missing),
        ("noise", "noise".to_owned(), missing),
        ("another shape", "[]".to_owned(), missing),
        ("no job", json!({"fire_at": "x"}).to_string(), missing),
        ("an empty name", json!({"job_id": ""}).to_string(), missing),
        ("a number", json!({"job_id": 7}).to_string(), missing),
        ("nobody's job", json!({"job_id": "none"}).to_string(), StatusCode::OK),
        ("as long as can be", padded(most), StatusCode::OK),
        ("longer", padded(most + 1), StatusCode::PAYLOAD_TOO_LARGE),
    ];
    let good = stage.desk.token(1, stage.now());
    for (name, body, want) in cases {
        let (status, said) = stage.post(&good, &body).await;
        assert_eq!(status, want, "{name}");
        assert!(status != missing || said == json!({"error": "missing job_id"}), "{name}");
    }
    assert!(!stage.has_run());
    let (status, _) = stage.post(&good, &json!({"job_id": "tick"}).to_string()).await;
    assert_eq!(status, StatusCode::ACCEPTED, "a job is enough");
    stage.run().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let stage = Stage::new().await;
    let good = stage.desk.token(1, stage.now());
    // The keys are read first, so that the test waits only for the body.
    assert_eq!(stage.post(&good, "").await.0, StatusCode::BAD_REQUEST);
    tokio::time::pause();
    let silent = Body::from_stream(futures_util::stream::pending::<Result<Vec<u8>, String>>());
    let request = Request::post("/api/cron/fire")
        .header(header::AUTHORIZATION, format!("Bearer {good}"))
        .body(silent);

    assert_eq!(stage.call(request.unwrap()).await.0, StatusCode::REQUEST_TIMEOUT);
}

#[tokio::test]
async fn without_keys_the_desk_is_asked_to_come_again() {
    let mut stage = due().await;
    stage.desk.answers("jwks.json", StatusCode::BAD_GATEWAY);
    let good = stage.desk.token(1, stage.now());

    for _ in 0..5 {
        let answer = stage.post(&good, &body(&stage)).await;
        assert_eq!(answer.0, StatusCode::SERVICE_UNAVAILABLE);
    }
    assert_eq!(stage.desk.asked("jwks.json"), 1, "not at every turn");
    assert!(!stage.has_run());
}

#[tokio::test]
async fn nothing_runs_before_its_time() {
    let mut stage = Stage::new().await;
    stage.provider.set(every("tick", 3_600)).await.unwrap();

    let early = stage.fire("tick", stage.after(3_600), 1).await;
    assert_eq!(early.0, StatusCode::SERVICE_UNAVAILABLE);
    assert!(!stage.has_run());
    assert_eq!(
        stage.fire_after(3_600, "tick", 1).await.0,
        StatusCode::ACCEPTED,
        "it may come again"
    );
    stage.run().await;
}

#[tokio::test]
async fn there_is_one_door() {
    let stage = due().await;
    let good = format!("Bearer {}", stage.desk.token(1, stage.now()));
    for (method, path, want) in [("GET", "/api/cron/fire", 405), ("POST", "/api/cron", 404)] {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::AUTHORIZATION, &good).body(Body::empty()).unwrap();
        assert_eq!(stage.call(request).await.0.as_u16(), want, "{method} {path}");
    }
}
