//! The requests of an agent without a connection, each to a random node.

use std::sync::Arc;
use std::time::Duration;

use nightdesk_gateway::token;
use nightdesk_types::Clock;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::cast::Login;
use crate::chance::Chance;
use crate::http::{HttpPost, post};
use crate::time::SimClock;
use crate::world::World;

/// Time limit of a request: longer than a take waits, and than a send may take.
const REQUEST_WAIT: Duration = Duration::from_secs(40);

/// Range of the delay before a request is repeated.
const AGAIN_MS: (u64, u64) = (100, 900);

/// Maximum number of repeats.
const REPEATS_MAX: usize = 300;

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Done(Value),
    /// The line is gone.
    Gone,
    /// The gateway was revoked.
    Revoked,
    /// No clear response: the same request may be made again.
    Unclear,
}

/// Makes requests as one gateway.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) world: Arc<World>,
    pub(super) login: Login,
    pub(super) chance: Chance,
}

impl Caller {
    /// Returns a caller whose choices do not affect those of this one.
    pub(super) fn fork(&mut self) -> Self {
        Self { chance: self.chance.fork(), ..self.clone() }
    }

    /// Makes a request once.
    pub(super) async fn ask(&mut self, path: &str, body: &Value) -> Reply {
        let node = self.chance.one_of(&self.world.plan.nodes).clone();
        let token = token(&self.login.name, &self.login.secret, SimClock::default().now());
        let bearer = format!("Bearer {}", token.expose());
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let body = body.to_string();
        let request = HttpPost { path, headers: &headers, body: body.as_bytes() };
        let Ok(Ok(response)) = timeout(REQUEST_WAIT, post(&node, request)).await else {
            return Reply::Unclear;
        };
        match response.status {
            200 | 204 => Reply::Done(serde_json::from_slice(&response.body).unwrap_or_default()),
            410 => Reply::Gone,
            403 => Reply::Revoked,
            _ => Reply::Unclear,
        }
    }

    /// Makes a request at one node after the other, until its outcome is clear.
    pub(super) async fn until_clear(&mut self, path: &str, body: &Value) -> Reply {
        for _ in 0..REPEATS_MAX {
            let reply = self.ask(path, body).await;
            if reply != Reply::Unclear {
                return reply;
            }
            self.rest().await;
        }
        Reply::Gone
    }

    /// Waits before a repeat.
    pub(super) async fn rest(&mut self) {
        sleep(self.chance.millis(AGAIN_MS.0, AGAIN_MS.1)).await;
    }
}
