//! The key of the stock client, 0.19.0.

use std::borrow::Cow;

use super::{KeySource, SessionKey, Sharing, Unkeyable, platforms, whatsapp};

/// Returns the key that 0.19.0 computes for a source.
///
/// It contains neither the scope nor the kind of server, and escapes nothing, so two sources may share a key.
pub fn stock_key(source: &KeySource<'_>, sharing: &Sharing) -> Result<SessionKey, Unkeyable> {
    let namespace = sharing.named_profile().unwrap_or("main");
    let platform = platforms::client_platform(&source.platform);
    if source.chat_type.as_text() == Some("dm") {
        let parts = dm_parts(source, platform)?;
        return join_parts(&["agent", namespace, platform, "dm"], &parts);
    }
    let chat_type = source.chat_type.as_text().ok_or(Unkeyable)?;
    let parts = shared_parts(source, platform, sharing)?;
    join_parts(&["agent", namespace, platform, chat_type], &parts)
}

/// Returns the parts that identify a direct conversation.
pub(super) fn dm_parts<'a>(
    source: &'a KeySource<'_>,
    platform: &str,
) -> Result<Vec<Cow<'a, str>>, Unkeyable> {
    let chat = match source.chat_id.python_text()? {
        Some(chat) if platform == whatsapp::WHATSAPP => Some(whatsapp::stable_part(chat)?.into()),
        chat => chat.map(Cow::Borrowed),
    };
    let who = match chat.filter(|chat: &Cow<'_, str>| !chat.is_empty()) {
        Some(chat) => Some(chat),
        None => participant(source, platform)?,
    };
    Ok(who.into_iter().chain(source.thread_id.python_text()?.map(Cow::Borrowed)).collect())
}

fn shared_parts<'a>(
    source: &'a KeySource<'_>,
    platform: &str,
    sharing: &Sharing,
) -> Result<Vec<Cow<'a, str>>, Unkeyable> {
    let chat = source.chat_id.joinable_text()?;
    let thread = source.thread_id.joinable_text()?;
    let participant = participant(source, platform)?;
    let participant = participant.filter(|_| sharing.isolates(thread.is_some()));
    Ok(chat.into_iter().chain(thread).map(Cow::Borrowed).chain(participant).collect())
}

/// Returns the participant.
pub(super) fn participant<'a>(
    source: &'a KeySource<'_>,
    platform: &str,
) -> Result<Option<Cow<'a, str>>, Unkeyable> {
    let Some(participant) = source.participant().python_text()? else { return Ok(None) };
    if platform != whatsapp::WHATSAPP {
        return Ok(Some(Cow::Borrowed(participant)));
    }
    let reduced = whatsapp::stable_part(participant)?;
    let kept = if reduced.is_empty() { participant.into() } else { reduced.into() };
    Ok(Some(kept))
}

pub(super) fn join_parts(first: &[&str], rest: &[Cow<'_, str>]) -> Result<SessionKey, Unkeyable> {
    let parts: Vec<&str> = first.iter().copied().chain(rest.iter().map(AsRef::as_ref)).collect();
    SessionKey::from_parts(&parts)
}
