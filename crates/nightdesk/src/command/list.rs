//! Formats objects for lists.

use nightdesk_register::{LastLine, ListedGateway, LiveSecret, Named, OpenBot, ReachOf};
use nightdesk_types::{BotId, Granted, Principal, Timestamp};
use nightdesk_wake::{About, Notice, Status};
use serde_json::{Value, json};

/// Formats a tenant or an agent.
pub(super) fn named<Id: serde::Serialize>(one: &Named<Id>) -> Value {
    json!({ "name": one.name, "id": one.id, "created_at": second(one.created_at) })
}

/// Formats a gateway.
pub(super) fn gateway(gateway: &ListedGateway) -> Value {
    json!({
        "name": gateway.name,
        "agent": gateway.agent,
        "created_at": second(gateway.created_at),
        "revoked_at": gateway.revoked_at.map(second),
        "line": line(gateway.line),
        "secrets": gateway.secrets.iter().map(secret).collect::<Vec<_>>(),
    })
}

fn line(line: LastLine) -> String {
    match line {
        LastLine::None => "never".to_owned(),
        LastLine::Open { since } => format!("open since {}", second(since)),
        LastLine::Closed { at: Some(at) } => format!("closed at {}", second(at)),
        LastLine::Closed { at: None } => "closed with its node".to_owned(),
    }
}

fn secret(secret: &LiveSecret) -> Value {
    json!({
        "created_at": second(secret.created_at),
        "expires_at": secret.expires_at.map(second),
    })
}

/// Formats a bot on which agents may be linked.
pub(super) fn open_bot(bot: &OpenBot) -> Value {
    let OpenBot { id, platform, handle, is_own } = bot;
    json!({ "bot_id": id, "platform": platform, "handle": handle, "own": is_own })
}

/// Formats an agent's reach.
pub(super) fn reach(reach: &ReachOf) -> Value {
    let person = |(bot, author): &(BotId, String)| format!("{author} on {bot}");
    let grant = |(bot, place, to): &(BotId, Granted, Principal)| granted(*bot, place, *to);
    json!({
        "open_to": reach.principal.slug(),
        "people": reach.people.iter().map(person).collect::<Vec<_>>(),
        "granted": reach.grants.iter().map(grant).collect::<Vec<_>>(),
        "allow_list": reach.listed.iter().map(person).collect::<Vec<_>>(),
        "policies": reach.relevance.iter().map(|(platform, _)| platform).collect::<Vec<_>>(),
    })
}

fn granted(bot: BotId, place: &Granted, principal: Principal) -> String {
    let what = match place {
        Granted::Chat { chat, scope: None } => format!("chat {chat}"),
        Granted::Chat { chat, scope: Some(scope) } => format!("chat {chat} in {scope}"),
        Granted::Scope(scope) => format!("all of {scope}"),
        Granted::Bot => "every chat".to_owned(),
    };
    format!("{what} on {bot}, open to {}", principal.slug())
}

/// Formats a notice to a tenant.
pub(super) fn notice(notice: &Notice) -> Value {
    let mut shown = json!({ "at": second(notice.at), "kind": notice.kind.slug() });
    match notice.about {
        About::Agent(agent) => {
            shown["agent_id"] = json!(agent);
            shown["calls"] = json!(notice.calls);
        }
        About::Bot(bot) => shown["bot_id"] = json!(bot),
    }
    shown["text"] = notice.text().into();
    shown
}

/// Formats an agent's wake status.
pub(super) fn status(status: &Status) -> Value {
    let wake = status.wake.as_ref();
    json!({
        "agent": status.name,
        "agent_id": status.agent,
        "line": status.line_since.map_or_else(|| "none".to_owned(), |at| format!("open since {}", second(at))),
        "awake_because": status.awake_because(),
        "client_rules": status.rules.slug(),
        "waiting": status.waiting,
        "urls": status.urls,
        "wake": wake.map_or("never needed", |wake| wake.state.as_str()),
        "since": wake.map(|wake| second(wake.since)),
        "calls": wake.map(|wake| wake.calls),
        "called_at": wake.and_then(|wake| wake.called_at).map(second),
        "outcome": wake.and_then(|wake| wake.outcome.clone()),
        "next_at": wake.and_then(|wake| wake.due_at).map(second),
        "woken_at": wake.and_then(|wake| wake.woken_at).map(second),
    })
}

/// Formats a time for people, in whole seconds.
pub(super) fn second(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}
