//! Implements the methods of the Bot API except `getUpdates`, which may wait.

use serde_json::{Map, Value, json};

use super::markdown;
use super::request::Asked;
use super::world::{FakeBot, Webhook, World};

pub(super) mod files;
mod sent;

/// A result, or the status and description of a refusal.
pub(super) type Answered = Result<Value, (u16, String)>;

/// Returns a refusal.
pub(super) fn refused(status: u16, description: &str) -> (u16, String) {
    (status, description.to_owned())
}

fn bad(what: &str) -> (u16, String) {
    (400, format!("Bad Request: {what}"))
}

/// Executes a bot's call. Names of methods are case-insensitive.
pub(super) fn answer(world: &mut World, token: &str, method: &str, asked: &Asked) -> Answered {
    let bot = world.bot_mut(token).ok_or_else(|| refused(401, "Unauthorized"))?;
    match method.to_ascii_lowercase().as_str() {
        "getme" => Ok(me(bot)),
        "setwebhook" => set_webhook(bot, asked),
        "deletewebhook" => {
            bot.webhook = None;
            Ok(drop_pending(bot, asked))
        }
        "getwebhookinfo" => Ok(webhook_info(bot)),
        "sendmessage" => sent::message(world, token, asked),
        "sendmessagedraft" => sent::draft(world, asked),
        "editmessagetext" => sent::edit(world, token, asked),
        "deletemessage" => sent::delete(world, asked),
        "setmessagereaction" => sent::react(world, asked),
        "sendchataction" => chat(world, asked).map(|_| json!(true)),
        "getchat" => chat(world, asked).map(whole),
        "createforumtopic" => sent::topic(world, token, asked),
        "editforumtopic" => sent::rename(world, asked),
        "answercallbackquery" => {
            let id = asked.text("callback_query_id").unwrap_or_default();
            let late = "query is too old and response timeout expired or query ID is invalid";
            if world.let_go(id) { Ok(json!(true)) } else { Err(bad(late)) }
        }
        "getfile" => files::find(asked),
        "sendphoto" => files::send(world, token, asked, "photo"),
        "senddocument" => files::send(world, token, asked, "document"),
        "sendvoice" => files::send(world, token, asked, "voice"),
        "sendaudio" => files::send(world, token, asked, "audio"),
        "sendvideo" => files::send(world, token, asked, "video"),
        _ => Err(refused(404, "Not Found: method not found")),
    }
}

fn me(bot: &FakeBot) -> Value {
    let mut me = bot.user();
    me["can_join_groups"] = json!(true);
    me["can_read_all_group_messages"] = json!(false);
    me["supports_inline_queries"] = json!(false);
    me
}

fn set_webhook(bot: &mut FakeBot, asked: &Asked) -> Answered {
    let secret = asked.text("secret_token").map(str::to_owned);
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if secret.as_ref().is_some_and(|secret| secret.len() > 256 || !secret.bytes().all(is_plain)) {
        return Err(bad("secret token contains unallowed characters"));
    }
    let url = asked.text("url").unwrap_or_default().to_owned();
    let webhook = Webhook { url, secret, last_error: None };
    bot.webhook = Some(webhook).filter(|webhook| !webhook.url.is_empty());
    Ok(drop_pending(bot, asked))
}

fn drop_pending(bot: &mut FakeBot, asked: &Asked) -> Value {
    if asked.is("drop_pending_updates") {
        bot.updates.clear();
    }
    json!(true)
}

fn webhook_info(bot: &FakeBot) -> Value {
    let webhook = bot.webhook.as_ref();
    let mut info = json!({
        "url": webhook.map_or("", |webhook| &webhook.url),
        "has_custom_certificate": false,
        "pending_update_count": bot.updates.len(),
        "max_connections": 40,
    });
    if let Some(error) = webhook.and_then(|webhook| webhook.last_error.as_ref()) {
        info["last_error_message"] = json!(error);
        info["last_error_date"] = json!(1_800_000_000);
    }
    info
}

/// Returns the chat of a call, if the bot may write there.
fn chat(world: &World, asked: &Asked) -> Answered {
    let id = asked.number("chat_id").ok_or_else(|| bad("chat_id is empty"))?;
    let chat = world.chat(id).cloned().ok_or_else(|| bad("chat not found"))?;
    if world.blocked.contains(&id) {
        return Err(refused(403, "Forbidden: bot was blocked by the user"));
    }
    Ok(chat)
}

/// Adds the fields that only `getChat` returns.
fn whole(mut chat: Value) -> Value {
    chat["accent_color_id"] = json!(0);
    chat["max_reaction_count"] = json!(11);
    chat["accepted_gift_types"] = json!({
        "unlimited_gifts": false, "limited_gifts": false, "unique_gifts": false,
        "premium_subscription": false, "gifts_from_channels": false,
    });
    chat
}

/// Returns the visible text without the markup, which must be well-formed.
fn shown(asked: &Asked, field: &str, utf16_max: usize) -> Result<String, (u16, String)> {
    let text = asked.text(field).unwrap_or_default();
    let text = match asked.text("parse_mode") {
        Some("MarkdownV2") => {
            markdown::plain(text).map_err(|what| bad(&format!("can't parse entities: {what}")))?
        }
        Some(_) => return Err(bad("unsupported parse_mode")),
        None => text.to_owned(),
    };
    if text.encode_utf16().count() > utf16_max {
        return Err(bad("message is too long"));
    }
    Ok(text.trim().to_owned())
}

/// Returns the common fields of a bot's message: author, chat, topic and reply.
fn begun(world: &World, token: &str, asked: &Asked) -> Result<Map<String, Value>, (u16, String)> {
    let chat = chat(world, asked)?;
    let id = chat["id"].as_i64().unwrap_or_default();
    let mut message = Map::new();
    if let Some(topic) = asked.number("message_thread_id") {
        let opened =
            world.message(id, topic).is_some_and(|one| one.get("forum_topic_created").is_some());
        if !opened {
            return Err(bad("message thread not found"));
        }
        message.insert("message_thread_id".to_owned(), json!(topic));
        message.insert("is_topic_message".to_owned(), json!(true));
    }
    if let Some(reply) = asked.json("reply_parameters") {
        match reply["message_id"].as_i64().and_then(|answered| world.message(id, answered)) {
            Some(answered) => drop(message.insert("reply_to_message".to_owned(), answered.clone())),
            None if reply["allow_sending_without_reply"] == json!(true) => {}
            None => return Err(bad("message to be replied not found")),
        }
    }
    if let Some(markup) = asked.json("reply_markup") {
        message.insert("reply_markup".to_owned(), markup);
    }
    message.insert("chat".to_owned(), chat);
    message.insert("from".to_owned(), world.bot(token).map(FakeBot::user).unwrap_or_default());
    Ok(message)
}
