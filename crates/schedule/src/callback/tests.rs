//! Tests calls to an agent on loopback that returns a set response.

use std::sync::Mutex;
use std::time::Duration;

use nightdesk_outside::Rules;
use nightdesk_types::{AgentId, FireId, TenantId, TenantScope};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use uuid::Uuid;

use super::*;
use crate::job::{FireAt, JobId, Target};

/// An instant in Python's notation.
const FIRE_AT: &str = "2026-06-18T12:34:56.000001+02:00";

/// Creates tokens that name their fire, or fails.
struct Mint(bool);

#[async_trait]
impl FireTokenMinter for Mint {
    async fn mint_token(
        &self,
        fire: &FireClaim,
        now: Timestamp,
    ) -> Result<SecretString, Box<dyn Error + Send + Sync>> {
        if self.0 { Ok(format!("{}@{now}", fire.fire).into()) } else { Err("no key".into()) }
    }
}

/// Test server of an agent: sends the same response to each request and records the requests.
struct Agent {
    callback: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Agent {
    async fn answering(says: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let callback = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&heard);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !request.ends_with(b"}") {
                    assert!(socket.read_buf(&mut request).await.unwrap() > 0);
                }
                notes.lock().unwrap().push(String::from_utf8(request).unwrap());
                let answer = format!("HTTP/1.1 {says}\r\ncontent-length: 0\r\n\r\n");
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Self { callback, heard }
    }
}

fn callbacks(agent: &Agent, minting: Mint) -> HttpFireCaller {
    let port = agent.callback.rsplit(':').next().unwrap().parse().unwrap();
    let ranges = vec!["127.0.0.0/8".parse().unwrap()];
    let rules = Rules { http: true, ports: [port].into(), ranges, ..Rules::default() };
    HttpFireCaller::new(Outside::new(rules).unwrap(), Arc::new(minting))
}

fn fire(callback: &str) -> FireClaim {
    FireClaim {
        scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1))),
        agent: AgentId::from_uuid(Uuid::from_u128(2)),
        job: JobId::new("ab \"12\"").unwrap(),
        fire: FireId::from_uuid(Uuid::from_u128(3)),
        fire_at: FireAt::parse(FIRE_AT).unwrap(),
        to: Target::Callback(callback.to_owned()),
        tries: 1,
        outcome: None,
    }
}

async fn called(callbacks: &HttpFireCaller, callback: &str) -> FireOutcome {
    callbacks.call(&fire(callback), callback, Timestamp::UNIX_EPOCH).await
}

#[tokio::test]
async fn an_agent_is_told_job_and_instant_as_it_wrote_them() {
    let agent = Agent::answering("202 Accepted").await;
    let callbacks = callbacks(&agent, Mint(true));

    let outcome = called(&callbacks, &format!("{}/", agent.callback)).await;
    assert!(matches!(&outcome, FireOutcome::Taken(words) if words.starts_with("202 in ")));
    let heard = agent.heard.lock().unwrap().concat();
    assert!(heard.starts_with("POST /api/cron/fire HTTP/1.1\r\n"), "{heard}");
    let bearer = "\r\nauthorization: Bearer 00000000-0000-0000-0000-000000000003@1970";
    assert!(heard.contains(bearer), "{heard}");
    let body = format!(r#"{{"job_id":"ab \"12\"","fire_at":"{FIRE_AT}"}}"#);
    assert!(heard.ends_with(&body), "{heard}");
}

#[tokio::test]
async fn what_an_agent_answers_says_whether_it_is_asked_again() {
    let secs = |secs| Some(Duration::from_secs(secs));
    let again = |status, after| FireOutcome::Again(format!("answered with status {status}"), after);
    let refused = "the agent says that the fire is not for it (status 400)".to_owned();
    let cases = [
        ("400 Bad Request", FireOutcome::Refused(refused)),
        ("401 Unauthorized", FireOutcome::Unauthorised),
        ("403 Forbidden", again(403, None)),
        ("404 Not Found", again(404, None)),
        ("408 Request Timeout", again(408, None)),
        ("425 Too Early", again(425, None)),
        ("429 Too Many\r\nretry-after: 7", again(429, secs(7))),
        ("500 Oh", again(500, None)),
        ("503 Draining\r\nretry-after: 60", again(503, secs(60))),
    ];
    for (head, want) in cases {
        let agent = Agent::answering(head).await;
        assert_eq!(called(&callbacks(&agent, Mint(true)), &agent.callback).await, want, "{head}");
    }
    for head in ["200 OK", "202 Accepted", "204 None", "299 Odd"] {
        let agent = Agent::answering(head).await;
        let outcome = called(&callbacks(&agent, Mint(true)), &agent.callback).await;
        assert!(matches!(outcome, FireOutcome::Taken(_)), "{head}: {outcome:?}");
    }
    let agent = Agent::answering("302 Found\r\nlocation: http://127.0.0.1/").await;
    let outcome = called(&callbacks(&agent, Mint(true)), &agent.callback).await;
    assert!(matches!(outcome, FireOutcome::Again(_, None)), "{outcome:?}");
}

#[tokio::test]
async fn nobody_is_called_twice_in_a_second_or_without_a_token() {
    let agent = Agent::answering("200 OK").await;
    let often = callbacks(&agent, Mint(true));
    assert!(matches!(called(&often, &agent.callback).await, FireOutcome::Taken(_)));
    assert!(matches!(called(&often, &agent.callback).await, FireOutcome::PutOff(_)), "too soon");

    let none = callbacks(&agent, Mint(false));
    assert!(matches!(called(&none, &agent.callback).await, FireOutcome::PutOff(_)), "no token");
    assert_eq!(agent.heard.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn whoever_is_not_there_is_tried_again() {
    let agent = Agent::answering("200 OK").await;
    let callbacks = callbacks(&agent, Mint(true));

    let outcome = called(&callbacks, "http://192.168.0.1").await;
    assert!(matches!(outcome, FireOutcome::Again(_, None)), "{outcome:?}");
}

#[tokio::test]
async fn a_callback_is_kept_in_one_form() {
    let outside = Outside::new(Rules::default()).unwrap();
    let callbacks = HttpFireCaller::new(outside, Arc::new(Mint(true)));
    let good = [
        ("https://Agent.Example.org", "https://agent.example.org"),
        ("https://agent.example.org/", "https://agent.example.org"),
        ("https://agent.example.org:443/a/b//", "https://agent.example.org/a/b"),
    ];
    for (callback, want) in good {
        assert_eq!(callbacks.may_call(callback).as_deref(), Ok(want));
        assert_eq!(callbacks.may_call(want).as_deref(), Ok(want), "it stays as it is");
    }
    let bad = [
        "http://agent.example.org",
        "https://127.0.0.1",
        "https://agent.example.org?next=",
        "https://agent.example.org/#",
        "agent.example.org",
        "",
    ];
    for callback in bad {
        assert!(callbacks.may_call(callback).is_err(), "{callback}");
    }
}
