//! The URLs of agents, which a test answers.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use nightdesk_desk::{Desk, posting};
use nightdesk_line::{AgentPost, AgentPoster, LineContext, PostOutcome, PostedLines};
use nightdesk_wake::{NewWebhook, WakeAdmin as _, WebhookCall};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use crate::{Household, TestDesk};

type Answer = Box<dyn FnMut(&AgentPost) -> PostOutcome + Send>;

/// Records the posts to agents. Without an answer, no URL can be reached.
#[derive(Default)]
pub struct TestPosts {
    posts: Mutex<Vec<String>>,
    answer: Mutex<Option<Answer>>,
}

impl TestPosts {
    /// Answers every later post.
    pub fn answer(&self, answer: impl FnMut(&AgentPost) -> PostOutcome + Send + 'static) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(answer));
    }

    /// Returns the lines whose agents answer here, and opens those of agents that are woken.
    pub(crate) fn open_lines(
        self: &Arc<Self>,
        room: &Arc<LineContext>,
        desk: &Desk,
        calls: mpsc::Receiver<WebhookCall>,
        street: &TaskTracker,
    ) -> Arc<PostedLines> {
        let agents = Arc::<Self>::clone(self);
        let lines = Arc::new(PostedLines::new(Arc::clone(room), agents, street.clone()));
        let (line, opened) = (Arc::clone(&desk.line), Arc::clone(&lines));
        street.spawn(posting::open_lines(calls, line, opened, room.drain.clone()));
        lines
    }

    /// Returns the ids of the posts so far, in order.
    pub fn ids(&self) -> Vec<String> {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl AgentPoster for TestPosts {
    async fn post(&self, post: AgentPost) -> PostOutcome {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner).push(post.id.clone());
        let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer.as_mut().map_or_else(
            || PostOutcome::Unreachable("no test answers".to_owned()),
            |answer| answer(&post),
        )
    }
}

impl TestDesk {
    /// Sets the URL to which the entries of a household are posted.
    pub async fn is_posted_at(&self, household: &Household, url: &str) {
        let webhook = NewWebhook { url: url.to_owned(), salt: "salt".to_owned() };
        let set = self.store.set_webhook(household.scope, household.agent, Some(&webhook)).await;
        set.expect("set a webhook");
    }
}
