//! The keys that any client may compute for the session of one event.

use std::collections::BTreeSet;

use nightdesk_types::Event;
use nightdesk_types::event::{Content, Source};

use super::{KeySource, Part, SessionKey, Sharing, newest_key, stock_key};

/// Returns the keys by which clients of both generations may name the session of an event, under any sharing
/// configuration. Only its gateway knows the keys of a profile.
///
/// A capability of a session is bound under each of them, because clients differ and this module does not know which
/// one an agent runs.
pub fn of_any_client(event: &Event) -> Vec<SessionKey> {
    let source = KeySource::from(event.source());
    let mut sources = vec![source.clone()];
    if matches!(event.content(), Content::Passthrough(_)) {
        sources.extend(as_read_from_a_request(&source));
    }
    let mut keys = BTreeSet::new();
    for source in &sources {
        for sharing in sharings() {
            keys.extend(stock_key(source, &sharing).ok());
            keys.extend(newest_key(source, &sharing).ok());
        }
    }
    keys.into_iter().collect()
}

/// Returns the keys by which clients of both generations may name the session of a message from this source.
pub fn keys_of_source(source: &Source) -> Vec<SessionKey> {
    let source = KeySource::from(source);
    let keys = sharings().into_iter().flat_map(|sharing| {
        stock_key(&source, &sharing).ok().into_iter().chain(newest_key(&source, &sharing).ok())
    });
    keys.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns the key by which the SDKs name the session of a message from this source.
pub fn key_of_sdk(source: &Source) -> Option<SessionKey> {
    let key = newest_key(&KeySource::from(source), &Sharing::default()).ok();
    key.or_else(|| SessionKey::new(format!("chat:{}:{}", source.platform, source.chat_id)))
}

/// Returns the sources that clients derive from a forwarded platform request: 0.19.0 does not know its platform, and
/// the newest client calls every shared room a group.
fn as_read_from_a_request<'a>(source: &KeySource<'a>) -> [KeySource<'a>; 2] {
    let read = |platform: Part<'a>, room: &'static str| KeySource {
        platform,
        chat_type: Part::text(if source.scope_id.is_truthy() { room } else { "dm" }),
        thread_id: Part::None,
        user_id_alt: Part::None,
        prospective_thread_id: Part::None,
        ..source.clone()
    };
    [read(Part::text("relay"), "channel"), read(source.platform.clone(), "group")]
}

fn sharings() -> [Sharing; 3] {
    let shared = |group_sessions_per_user, thread_sessions_per_user| Sharing {
        group_sessions_per_user,
        thread_sessions_per_user,
        profile: None,
    };
    [shared(true, false), shared(true, true), shared(false, false)]
}

#[cfg(test)]
mod tests {
    use nightdesk_types::event::{ChatType, Draft, Passthrough, Source};

    use super::*;

    fn keys(source: Source, content: Content) -> Vec<String> {
        let draft = Draft { key: "k1".to_owned(), source, content };
        let event = Event::normalise(draft).unwrap();
        of_any_client(&event).iter().map(|key| key.as_str().to_owned()).collect()
    }

    fn room(platform: &str) -> Source {
        Source {
            platform: platform.to_owned(),
            chat_id: "ch9".to_owned(),
            chat_type: ChatType::Channel,
            user_id: Some("u9".to_owned()),
            scope_id: Some("T1".to_owned()),
            ..Source::default()
        }
    }

    #[test]
    fn both_generations_and_every_sharing_are_meant() {
        let written = Content::Message(Box::default());

        assert_eq!(
            keys(room("slack"), written),
            [
                "agent:main:slack:channel:T1:ch9",
                "agent:main:slack:channel:T1:ch9:u9",
                "agent:main:slack:channel:ch9",
                "agent:main:slack:channel:ch9:u9",
            ]
        );
    }

    #[test]
    fn a_forwarded_request_is_named_as_clients_read_it() {
        let (method, path) = ("POST".to_owned(), "/interactions".to_owned());
        let forwarded = Passthrough { method, path, headers: Vec::new(), body: Vec::new() };
        let keys = keys(room("discord"), Content::Passthrough(forwarded));

        for want in ["agent:main:relay:channel:ch9:u9", "agent:main:discord:group:ch9:u9"] {
            assert!(keys.iter().any(|key| key == want), "{want} is not in {keys:?}");
        }
    }
}
