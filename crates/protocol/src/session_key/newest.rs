//! The key of clients after 0.19.0.

use std::borrow::Cow;

use super::stock::{dm_parts, join_parts, participant};
use super::{KeySource, Part, SessionKey, Sharing, Unkeyable, platforms};

/// Returns the key that the newest client computes for a source.
///
/// It differs from [`stock_key`](super::stock_key()) in three points: on Slack the scope precedes the chat; a message that will
/// open a thread already has the key of that thread; and a profile named `main` is not the default one.
///
/// Before it computes a key, the newest client also treats a Slack message outside a thread as the first of its own
/// thread. A caller that needs that key sets the thread accordingly.
pub fn newest_key(source: &KeySource<'_>, sharing: &Sharing) -> Result<SessionKey, Unkeyable> {
    let namespace = match sharing.named_profile() {
        Some("main") => "main~",
        Some(profile) => profile,
        None => "main",
    };
    let platform = platforms::client_platform(&source.platform);
    let is_dm = source.chat_type.as_text() == Some("dm");
    let chat_type = if is_dm { "dm" } else { chat_type(source)? };
    let scope = if platform == "slack" { source.scope_id.python_text()? } else { None };
    let rest =
        if is_dm { dm_parts(source, platform)? } else { shared_parts(source, platform, sharing)? };
    let mut parts = vec!["agent", namespace, platform, chat_type];
    parts.extend(scope);
    join_parts(&parts, &rest)
}

fn chat_type<'a>(source: &'a KeySource<'_>) -> Result<&'a str, Unkeyable> {
    if opens_thread(source) {
        return Ok("thread");
    }
    match &source.chat_type {
        Part::Text(chat_type) => Ok(chat_type),
        Part::Number(chat_type) => Ok(chat_type),
        // The client writes any value.
        Part::None => Ok("None"),
        Part::Falsy | Part::Other => Err(Unkeyable),
    }
}

const fn opens_thread(source: &KeySource<'_>) -> bool {
    !source.thread_id.is_truthy() && source.prospective_thread_id.is_truthy()
}

fn shared_parts<'a>(
    source: &'a KeySource<'_>,
    platform: &str,
    sharing: &Sharing,
) -> Result<Vec<Cow<'a, str>>, Unkeyable> {
    let thread =
        if opens_thread(source) { &source.prospective_thread_id } else { &source.thread_id };
    let thread = thread.python_text()?;
    let participant = participant(source, platform)?;
    let participant = participant.filter(|_| sharing.isolates(thread.is_some()));
    let chat = source.chat_id.python_text()?;
    Ok(chat.into_iter().chain(thread).map(Cow::Borrowed).chain(participant).collect())
}
