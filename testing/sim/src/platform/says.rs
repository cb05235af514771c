//! Posts people's messages, and repeats each until the desk accepts it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use nightdesk_inbox::InboxAdmin;
use nightdesk_judge::Event;
use nightdesk_testkit::scripted::{SIGNATURE_HEADER, sign};
use nightdesk_types::Seq;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::cast::{Agent, BOT, BOT_KEY, PATH};
use crate::chance::Chance;
use crate::http::{self, HttpPost};
use crate::notes::Notes;
use crate::time;
use crate::world::World;

/// Time limit of a response.
const ANSWER_WAIT: Duration = Duration::from_secs(3);

/// Range of the delay before the next attempt.
const AGAIN_MS: (u64, u64) = (300, 2_500);

/// A person's message.
#[derive(Clone, Debug)]
pub struct Say {
    /// The time.
    pub at: Duration,
    /// Index of the agent in the cast. `None` if the author has no binding.
    pub to: Option<usize>,
    /// The id of the event, which is its text.
    pub id: String,
    /// True if it is posted to two nodes at once.
    pub doubled: bool,
}

/// Runs the platform's host: it posts all planned messages.
pub async fn live(world: Arc<World>, notes: Notes, mut chance: Chance) -> turmoil::Result {
    let mut tasks = JoinSet::new();
    for say in &world.plan.says {
        for _ in 0..=u8::from(say.doubled) {
            let (world, notes, chance) = (Arc::clone(&world), notes.clone(), chance.fork());
            tasks.spawn_local(Sender { world, notes, chance }.say(say.clone()));
        }
    }
    while tasks.join_next().await.is_some() {}
    std::future::pending().await
}

struct Sender {
    world: Arc<World>,
    notes: Notes,
    chance: Chance,
}

impl Sender {
    async fn say(mut self, say: Say) {
        sleep(say.at.saturating_sub(time::elapsed())).await;
        let to = say.to.map(|place| self.world.cast.agents[place].clone());
        let author = to.as_ref().map_or_else(|| "stranger".to_owned(), |to| to.author.clone());
        self.notes.note(Event::PlatSend {
            id: say.id.clone(),
            bot: BOT.0.to_owned(),
            chat: chat_of(&author),
            user: author.clone(),
            nonce: say.id.clone(),
            expect: to.iter().map(|to| to.name.clone()).collect(),
            order: None,
        });
        let body = body(&say.id, &author);
        for attempt in 1.. {
            let node = self.chance.one_of(&self.world.plan.nodes).clone();
            let status = timeout(ANSWER_WAIT, post(&node, &body)).await.ok().flatten();
            let status = status.unwrap_or(0);
            if status == 200 {
                self.look(to.as_ref(), &say.id);
            }
            self.notes.note(Event::PlatAck { id: say.id.clone(), attempt, status });
            if status == 200 {
                break;
            }
            sleep(self.chance.millis(AGAIN_MS.0, AGAIN_MS.1)).await;
        }
        self.world.told();
    }

    /// Looks the event up in the database, independent of the desk.
    fn look(&self, to: Option<&Agent>, id: &str) {
        let found = to.is_none_or(|to| self.world.has(to, id));
        self.notes.note(Event::PlatLook { id: id.to_owned(), found });
    }
}

impl World {
    /// Returns true if an agent's inbox has or had an event.
    fn has(&self, agent: &Agent, id: &str) -> bool {
        let (scope, agent) = (agent.scope, agent.id);
        let overview = self.memory.overview(scope, agent, Seq::default()).now_or_never();
        let Some(Ok(Some(overview))) = overview else { return false };
        let shows = |seq: i64| {
            let shown = self.memory.show_entry(scope, agent, Seq::new(seq)).now_or_never();
            let shown = shown.and_then(Result::ok).flatten();
            shown.is_some_and(|shown| contains(&shown.body, id.as_bytes()))
        };
        (1..=overview.head.get()).rev().any(shows)
    }
}

fn contains(body: &[u8], text: &[u8]) -> bool {
    let quoted = [b"\"", text, b"\""].concat();
    body.windows(quoted.len()).any(|window| window == quoted)
}

/// Returns the chat of a person.
pub(crate) fn chat_of(author: &str) -> String {
    format!("chat-{author}")
}

fn body(id: &str, author: &str) -> Vec<u8> {
    let source = json!({ "chat_id": chat_of(author), "user_id": author });
    json!({ "id": id, "event": { "text": id, "source": source } }).to_string().into_bytes()
}

/// Posts to a node. `None` if it did not respond.
async fn post(node: &str, body: &[u8]) -> Option<u16> {
    let signature = sign(BOT_KEY, body);
    let headers = [(SIGNATURE_HEADER, signature.as_str())];
    let post = HttpPost { path: &format!("/hooks/{PATH}"), headers: &headers, body };
    http::post(node, post).await.ok().map(|response| response.status)
}
