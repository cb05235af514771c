//! Formats objects for lists.

use nightdesk_register::{
    AgentReach, LastLine, ListedGateway, ListedIdentity, LiveSecret, OpenBot,
};
use nightdesk_types::{BotId, GrantTarget, Principal, Timestamp, Transport};
use nightdesk_wake::{AgentWakeStatus, NoticeSubject, OwnerNotice};
use serde_json::{Value, json};

/// Formats a tenant or an agent.
pub(super) fn identity_json<Id: serde::Serialize>(one: &ListedIdentity<Id>) -> Value {
    json!({ "name": one.name, "id": one.id, "created_at": format_second(one.created_at) })
}

/// Formats a gateway.
pub(super) fn gateway(gateway: &ListedGateway) -> Value {
    json!({
        "name": gateway.name,
        "agent": gateway.agent,
        "created_at": format_second(gateway.created_at),
        "revoked_at": gateway.revoked_at.map(format_second),
        "line": line_text(gateway.line),
        "secrets": gateway.secrets.iter().map(secret).collect::<Vec<_>>(),
    })
}

fn line_text(line: LastLine) -> String {
    match line {
        LastLine::None => "never".to_owned(),
        LastLine::Open { since } => format!("open since {}", format_second(since)),
        LastLine::Closed { at: Some(at) } => format!("closed at {}", format_second(at)),
        LastLine::Closed { at: None } => "closed with its node".to_owned(),
    }
}

fn secret(secret: &LiveSecret) -> Value {
    json!({
        "created_at": format_second(secret.created_at),
        "expires_at": secret.expires_at.map(format_second),
    })
}

/// Formats a bot on which agents may be linked.
pub(super) fn open_bot(bot: &OpenBot) -> Value {
    let OpenBot { id, platform, handle, is_own } = bot;
    json!({ "bot_id": id, "platform": platform, "handle": handle, "own": is_own })
}

/// Formats an agent's reach.
pub(super) fn reach(reach: &AgentReach) -> Value {
    let person = |(bot, author): &(BotId, String)| format!("{author} on {bot}");
    let grant = |(bot, place, to): &(BotId, GrantTarget, Principal)| grant_text(*bot, place, *to);
    json!({
        "open_to": reach.principal.slug(),
        "people": reach.people.iter().map(person).collect::<Vec<_>>(),
        "granted": reach.grants.iter().map(grant).collect::<Vec<_>>(),
        "allow_list": reach.listed.iter().map(person).collect::<Vec<_>>(),
        "policies": reach.relevance.iter().map(|(platform, _)| platform).collect::<Vec<_>>(),
    })
}

fn grant_text(bot: BotId, place: &GrantTarget, principal: Principal) -> String {
    let what = match place {
        GrantTarget::Chat { chat, scope: None } => format!("chat {chat}"),
        GrantTarget::Chat { chat, scope: Some(scope) } => format!("chat {chat} in {scope}"),
        GrantTarget::Scope(scope) => format!("all of {scope}"),
        GrantTarget::Bot => "every chat".to_owned(),
    };
    format!("{what} on {bot}, open to {}", principal.slug())
}

/// Formats a notice to a tenant.
pub(super) fn notice(notice: &OwnerNotice) -> Value {
    let mut shown = json!({ "at": format_second(notice.at), "kind": notice.kind.slug() });
    match notice.about {
        NoticeSubject::Agent(agent) => {
            shown["agent_id"] = json!(agent);
            shown["calls"] = json!(notice.calls);
        }
        NoticeSubject::Bot(bot) => shown["bot_id"] = json!(bot),
    }
    shown["text"] = notice.text().into();
    shown
}

/// Formats an agent's wake status.
pub(super) fn status(status: &AgentWakeStatus) -> Value {
    let wake = status.wake.as_ref();
    json!({
        "agent": status.name,
        "agent_id": status.agent,
        "line": status.line_since.map_or_else(|| "none".to_owned(), |at| format!("open since {}", format_second(at))),
        "transport": status.transport.map(Transport::slug),
        "awake_because": status.awake_because(),
        "client_rules": status.rules.slug(),
        "waiting": status.waiting,
        "urls": status.urls,
        "wake": wake.map_or("never needed", |wake| wake.state.as_str()),
        "since": wake.map(|wake| format_second(wake.since)),
        "calls": wake.map(|wake| wake.calls),
        "called_at": wake.and_then(|wake| wake.called_at).map(format_second),
        "outcome": wake.and_then(|wake| wake.outcome.clone()),
        "next_at": wake.and_then(|wake| wake.due_at).map(format_second),
        "woken_at": wake.and_then(|wake| wake.woken_at).map(format_second),
    })
}

/// Formats a time for people, in whole seconds.
pub(super) fn format_second(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}
