//! Tries to change every message of every agent as all other agents. Every try must be refused, and no call may reach
//! the platform. Afterwards each agent edits a message of its own, which must succeed.
//!
//! An agent with a bot of its own may react as that bot, so agents try reactions on messages of their own bot only.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nightdesk_gateway::{Line, Received, hello};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::play::PRIED;
use super::who::{self, ALL, ROOM};
use super::world::World;
use crate::ui;

/// Time limit of one response of the desk.
const ANSWER_WAIT: Duration = Duration::from_mins(1);

/// Discord's routes of changes that no agent of the play makes.
const DISCORD_CHANGES: [&str; 4] =
    ["/reactions/", "/pins/", "DELETE /channels", "PATCH /channels/{} "];

/// Telegram's methods of changes that no agent of the play makes.
const TELEGRAM_CHANGES: [&str; 4] =
    ["deleteMessage", "setMessageReaction", "editForumTopic", "pinChatMessage"];

/// The counts of the tries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meddled {
    /// Tries to change a message of another agent.
    pub(super) tried: u64,
    /// Tries that succeeded, and calls that reached a platform.
    pub(super) crossed: u64,
    /// Own messages that agents edited.
    pub(super) own: u64,
}

/// A message that an agent's send made.
#[derive(Debug)]
struct SentMessage {
    owner: usize,
    platform: &'static str,
    chat: String,
    id: String,
    word: String,
}

impl SentMessage {
    /// Returns all changes that an agent tries on it.
    fn changes(&self, agent: usize) -> Vec<Value> {
        let text = format!("{PRIED} {}", self.word);
        let mut changes = vec![
            json!({ "op": "edit", "content": text }),
            json!({ "op": "thread_rename", "thread_name": text }),
            json!({ "op": "pin" }),
            json!({ "op": "delete" }),
        ];
        if ALL[agent].bot == ALL[self.owner].bot {
            changes.push(json!({ "op": "react", "emoji": "👍" }));
            changes.push(json!({ "op": "react", "emoji": "👍", "remove": true }));
        }
        changes.into_iter().map(|change| self.at(change)).collect()
    }

    /// Returns an action on the message.
    fn at(&self, mut action: Value) -> Value {
        action["chat_id"] = json!(self.chat);
        action["message_id"] = json!(self.id);
        action
    }
}

/// Tries everything. The agents must have no lines.
pub(super) async fn meddle(world: &World) -> Result<Meddled> {
    let messages = sent_messages(world);
    ensure!(!messages.is_empty(), "no bot sent a message that another agent could change");
    let tries = (0..ALL.len()).map(|agent| meddle_as(world, agent, &messages));
    let mut sum = Meddled::default();
    for tried in futures_util::future::try_join_all(tries).await? {
        sum.tried += tried.tried;
        sum.crossed += tried.crossed;
    }
    for agent in 0..ALL.len() {
        sum.own += edit_own(world, agent, &messages).await?;
    }
    sum.crossed += calls_that_change(world);
    Ok(sum)
}

async fn meddle_as(world: &World, agent: usize, messages: &[SentMessage]) -> Result<Meddled> {
    let mut gateway = RawGateway::dial(world, agent, "meddle").await?;
    let mut sum = Meddled::default();
    for message in messages.iter().filter(|message| message.owner != agent) {
        for change in message.changes(agent) {
            sum.tried += 1;
            if gateway.ask(message.platform, &change).await?["success"] == true {
                sum.crossed += 1;
                ui::say(&format!("crossed: agent {agent} did {change} to {message:?}"));
            }
        }
    }
    gateway.line.close().await.ok();
    Ok(sum)
}

/// Edits the last message of an agent on each platform. Returns the number of edits.
async fn edit_own(world: &World, agent: usize, messages: &[SentMessage]) -> Result<u64> {
    let mut gateway = RawGateway::dial(world, agent, "own").await?;
    let mut edits = 0;
    for platform in ["discord", "telegram"] {
        let is_own = |one: &&SentMessage| one.owner == agent && one.platform == platform;
        let message = messages.iter().rfind(is_own).context("an agent sent nothing")?;
        let edit = message.at(json!({ "op": "edit", "content": message.word }));
        let result = gateway.ask(platform, &edit).await?;
        ensure!(result["success"] == true, "agent {agent} could not do {edit}: {result}");
        edits += 1;
    }
    gateway.line.close().await.ok();
    Ok(edits)
}

/// Returns the messages that agents sent, the oldest first.
fn sent_messages(world: &World) -> Vec<SentMessage> {
    let in_room =
        world.discord.messages(ROOM).into_iter().filter(|one| one["author"]["bot"] == true);
    let on_discord = in_room.filter_map(|one| {
        let (owner, text) = who::words(one["content"].as_str()?).next()?;
        let (chat, id) = (ROOM.to_string(), one["id"].as_str()?.to_owned());
        Some(SentMessage { owner, platform: "discord", chat, id, word: text.to_owned() })
    });
    let sent = world.telegram.calls().into_iter().filter(|call| call.method.starts_with("send"));
    let on_telegram = sent.filter_map(|call| {
        let text = call.asked.get("text")?.as_str()?.replace('\\', "");
        let (owner, text) = who::words(&text).next()?;
        let made = call.answered.ok()?;
        let (chat, id) = (made["chat"]["id"].to_string(), made["message_id"].as_i64()?.to_string());
        Some(SentMessage { owner, platform: "telegram", chat, id, word: text.to_owned() })
    });
    on_discord.chain(on_telegram).collect()
}

/// Returns the number of calls that changed a message of another agent.
fn calls_that_change(world: &World) -> u64 {
    let is_foreign = |call: &nightdesk_fake_discord::Called| {
        // The last route has no further part.
        let route = format!("{} ", call.route);
        DISCORD_CHANGES.iter().any(|change| route.contains(change))
            || call.asked["content"].as_str().is_some_and(|text| text.contains(PRIED))
    };
    let on_discord = world.discord.calls().into_iter().filter(is_foreign).count();
    let is_foreign = |call: &nightdesk_fake_telegram::Called| {
        let text = call.asked.get("text").and_then(Value::as_str).unwrap_or_default();
        TELEGRAM_CHANGES.contains(&call.method.as_str()) || text.contains(PRIED)
    };
    let on_telegram = world.telegram.calls().into_iter().filter(is_foreign).count();
    (on_discord + on_telegram) as u64
}

/// A gateway that sends any frame.
struct RawGateway {
    line: Line<TcpStream>,
    handle: String,
    /// Prefix of its requests' ids.
    purpose: &'static str,
    asked: u64,
}

impl RawGateway {
    async fn dial(world: &World, agent: usize, purpose: &'static str) -> Result<Self> {
        let node = world.nodes[0].address();
        let stream = TcpStream::connect(node).await.context("could not connect")?;
        let mut line = Line::open(stream, &node.to_string(), &world.token(agent)).await?;
        let handle = who::handle(ALL[agent].bot);
        for platform in ["discord", "telegram"] {
            line.send_frame(&hello(platform, &handle)).await?;
        }
        Ok(Self { line, handle, purpose, asked: 0 })
    }

    /// Sends an action, and returns the desk's result.
    async fn ask(&mut self, platform: &str, action: &Value) -> Result<Value> {
        self.asked += 1;
        let id = format!("{}-{}", self.purpose, self.asked);
        let frame = json!({
            "type": "outbound", "requestId": id, "platform": platform, "botId": self.handle,
            "action": action,
        });
        self.line.send_frame(&frame).await?;
        let result = timeout(ANSWER_WAIT, self.result(&id)).await;
        result.with_context(|| format!("the desk did not answer {action}"))?
    }

    async fn result(&mut self, id: &str) -> Result<Value> {
        loop {
            match self.line.receive().await {
                Received::Text(text) => {
                    let frame: Value = serde_json::from_str(&text).context("not a frame")?;
                    if frame["requestId"] == id {
                        return Ok(frame["result"].clone());
                    }
                }
                Received::Other => {}
                Received::Closed(closed) => bail!("{closed}"),
            }
        }
    }
}
