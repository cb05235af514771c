//! Serves the callbacks at which agents receive their fires.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nightdesk_judge::Event;
use nightdesk_types::Timestamp;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::Diary;
use super::say::{Say, Says};
use crate::chance::Dice;
use crate::chaos::plan::Plan;

const REQUEST_BYTES_MAX: usize = 32 * 1024;

/// Parts of the callback's path before and after the agent's number.
const BEFORE: &str = "/agent/";
const AFTER: &str = "/api/cron/fire";

/// Returns the callback URL of this member's agent.
pub(super) fn callback(plan: &Plan, member: usize) -> String {
    format!("http://{}{BEFORE}{member}", plan.jobs.target)
}

/// A received fire.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    member: usize,
    audience: String,
    fire_id: String,
    job: String,
    fire_at_us: u64,
}

#[derive(Deserialize)]
struct Claims {
    jti: String,
    aud: String,
}

#[derive(Deserialize)]
struct Body {
    job_id: String,
    fire_at: Timestamp,
}

/// Records every call, and answers it as its fire requires.
pub(super) async fn listen(diary: Arc<Diary>) {
    // Without it no fire arrives, and the judge reports that.
    let Ok(listener) = TcpListener::bind(diary.plan.jobs.target).await else { return };
    let mut calls = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        calls.spawn(called(Arc::clone(&diary), stream));
        while calls.try_join_next().is_some() {}
    }
}

async fn called(diary: Arc<Diary>, mut stream: TcpStream) {
    // A node that dies before it has sent the whole request has fired nothing.
    let Some(told) = read(&mut stream).await else { return };
    let receipt = diary.name("receipt");
    let Told { member, fire_id, job, fire_at_us, .. } = &told;
    diary.notes.note(Event::FireRecv {
        receipt: receipt.clone(),
        agent: agent(&diary.plan, &told),
        job: job.clone(),
        fire_at_us: *fire_at_us,
        fire_id: fire_id.clone(),
    });
    let say = next(&diary, fire_id);
    if let Say::TakesLate(wait) = say {
        sleep(wait).await;
    }
    let (status, cut) = (say.status(), say.is_cut());
    diary.notes.note(Event::FireAnswer { receipt, status, cut });
    if !cut {
        answer(stream, say).await;
    }
    // Half of the agents continue once they took a fire, the others once the desk has the answer.
    if status < 300
        && (!cut || member.is_multiple_of(2))
        && let Some(taken) = diary.taken.get(*member)
    {
        taken.send_replace(*fire_at_us);
    }
}

/// Returns the agent that a fire is for. If its token is for another agent than its address, that is an unknown agent.
fn agent(plan: &Plan, told: &Told) -> String {
    let is_meant = plan.cast.members.get(told.member).is_some_and(|member| {
        told.audience.strip_prefix("agent:") == Some(&*member.agent.to_string())
    });
    let name = Plan::agent(told.member);
    if is_meant { name } else { format!("{} at {name}", told.audience) }
}

fn next(diary: &Diary, fire_id: &str) -> Say {
    if diary.is_stopping() {
        return Say::Takes;
    }
    let mut fires = diary.fires();
    let known = fires.len() as u64;
    let says = fires.entry(fire_id.to_owned()).or_insert_with(|| {
        let mut dice = Dice::of(diary.plan.seed, 9_000_000 + known);
        if diary.plan.jobs.is_odd { Says::thrown(&mut dice) } else { Says::POLITE }
    });
    says.next()
}

async fn answer(mut stream: TcpStream, say: Say) {
    let wait = match say {
        Say::Fails(Some(secs)) => format!("retry-after: {secs}\r\n"),
        Say::Fails(None) | Say::Takes | Say::TakesUnheard | Say::TakesLate(_) | Say::Doubts => {
            String::new()
        }
    };
    let status = say.status();
    let head =
        format!("HTTP/1.1 {status} .\r\n{wait}content-length: 2\r\nconnection: close\r\n\r\n{{}}");
    // The caller may be gone.
    stream.write_all(head.as_bytes()).await.ok();
}

/// Reads a call as soon as it is complete.
async fn read(stream: &mut TcpStream) -> Option<Told> {
    let mut request = Vec::new();
    while request.len() < REQUEST_BYTES_MAX {
        if stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
        if let Some(told) = told(&request) {
            return Some(told);
        }
    }
    None
}

/// Parses a request, if it is complete.
fn told(request: &[u8]) -> Option<Told> {
    let (head, body) = std::str::from_utf8(request).ok()?.split_once("\r\n\r\n")?;
    let Body { job_id, fire_at } = serde_json::from_str(body).ok()?;
    let path = head.split(' ').nth(1)?;
    let member = path.strip_prefix(BEFORE)?.strip_suffix(AFTER)?.parse().ok()?;
    let bearer = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("authorization").then(|| value.strip_prefix("Bearer "))?
    })?;
    let claims = URL_SAFE_NO_PAD.decode(bearer.split('.').nth(1)?).ok()?;
    let Claims { jti, aud } = serde_json::from_slice(&claims).ok()?;
    let fire_at_us = u64::try_from(fire_at.as_microsecond()).ok()?;
    Some(Told { member, audience: aud, fire_id: jti, job: job_id, fire_at_us })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, body: &str) -> String {
        let claims = URL_SAFE_NO_PAD.encode(r#"{"jti":"f1","aud":"agent:a1","exp":1}"#);
        format!("POST {path} HTTP/1.1\r\nAuthorization: Bearer e30.{claims}.x\r\n\r\n{body}")
    }

    #[test]
    fn a_fire_is_read_once_it_is_whole() {
        let body = r#"{"job_id":"tick","fire_at":"1970-01-01T00:00:07.5Z"}"#;
        let whole = request("/agent/17/api/cron/fire", body);
        let want = Told {
            member: 17,
            audience: "agent:a1".to_owned(),
            fire_id: "f1".to_owned(),
            job: "tick".to_owned(),
            fire_at_us: 7_500_000,
        };

        assert_eq!(told(whole.as_bytes()), Some(want));
        assert_eq!(told(&whole.as_bytes()[..whole.len() - 1]), None);
        assert_eq!(told(request("/elsewhere", body).as_bytes()), None);
    }
}
