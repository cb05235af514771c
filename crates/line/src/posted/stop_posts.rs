//! Posts of stops, each on its own beside the posts of entries that are under way.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use nightdesk_protocol::frame::InterruptResult;
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::StopId;
use nightdesk_types::limits::{STOP_POST_WAIT, STOP_POSTS_MAX};
use tokio::time::timeout;

use super::{AgentPost, AgentPoster, PostOutcome};
use crate::stop_id::random_stop_id;
use crate::store::AuthenticatedGateway;
use crate::transport::TransportEvent;

/// Prefix of the id of a stop's post, so that it is not the id of an entry.
const ID: &str = "stop_";

/// The stops that are being posted.
pub(super) struct StopPosts {
    caller: AuthenticatedGateway,
    poster: Arc<dyn AgentPoster>,
    posts: FuturesUnordered<BoxFuture<'static, Option<TransportEvent>>>,
}

impl StopPosts {
    pub(super) fn new(caller: AuthenticatedGateway, poster: Arc<dyn AgentPoster>) -> Self {
        Self { caller, poster, posts: FuturesUnordered::new() }
    }

    /// Returns true if no stop is being posted.
    pub(super) fn is_empty(&self) -> bool {
        self.posts.is_empty()
    }

    /// Begins to post a stop. Above the limit it fails at once.
    pub(super) fn begin(&self, stop_id: Option<StopId>, frame: &Frame) {
        if self.posts.len() >= STOP_POSTS_MAX {
            let failed = stop_id.map(TransportEvent::StopFailed);
            self.posts.push(Box::pin(std::future::ready(failed)));
            return;
        }
        let AuthenticatedGateway { scope, agent, .. } = self.caller;
        let id = stop_id.clone().unwrap_or_else(random_stop_id);
        let body = frame.as_str().trim_end().to_owned();
        let id = format!("{ID}{id}");
        let post = AgentPost { scope, agent, id, body, withdrawn: Arc::default() };
        let poster = Arc::clone(&self.poster);
        self.posts.push(Box::pin(async move {
            let outcome = timeout(STOP_POST_WAIT, poster.post(post)).await.ok();
            stop_id.and_then(|stop_id| result_event(stop_id, outcome))
        }));
    }

    /// Waits for the end of a post, and returns the event for the session, if there is one. Without posts it never
    /// returns.
    pub(super) async fn next_end(&mut self) -> Option<TransportEvent> {
        match self.posts.next().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }
}

/// Returns the event of a post's end. An agent that took the stop and reported nothing leaves the stop delivered.
fn result_event(stop_id: StopId, outcome: Option<PostOutcome>) -> Option<TransportEvent> {
    match outcome {
        Some(PostOutcome::Handled(answer)) => {
            let stopped = answer.stopped?;
            let answer = FromGateway::InterruptResult(InterruptResult { stop_id, stopped });
            Some(TransportEvent::Frame(Box::new(answer)))
        }
        Some(PostOutcome::Later) => None,
        Some(PostOutcome::Failed(_) | PostOutcome::Unreachable(_)) | None => {
            Some(TransportEvent::StopFailed(stop_id))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PostAnswer;
    use super::*;

    #[test]
    fn a_response_says_whether_the_turn_stops() {
        let stop = || StopId::new("s1").unwrap();
        let answer =
            |stopped| PostOutcome::Handled(PostAnswer { stopped, ..PostAnswer::default() });
        let cases = [
            (Some(answer(Some(true))), "stopped: true"),
            (Some(answer(Some(false))), "stopped: false"),
            (Some(answer(None)), "None"),
            (Some(PostOutcome::Later), "None"),
            (Some(PostOutcome::Failed("500".to_owned())), "StopFailed"),
            (Some(PostOutcome::Unreachable("no".to_owned())), "StopFailed"),
            (None, "StopFailed"),
        ];
        for (outcome, expected) in cases {
            let event = format!("{:?}", result_event(stop(), outcome));
            assert!(event.contains(expected), "{event}");
        }
    }
}
