//! Arbitrary values of the desk's types.

use nightdesk_types::event::{
    ChatType, Content, ContextLine, Draft, FireEvent, LetterEvent, LetterOrigin, Media, Message,
    MessageKind, Passthrough, PromptResponse, ReplyTo, Source,
};
use nightdesk_types::{AgentId, EntryId, Event, Incarnation, Seq};
use proptest::prelude::*;
use uuid::Uuid;

/// Texts with many characters that break lines, JSON and keys.
pub(crate) fn texts() -> impl Strategy<Value = String> {
    const ODD: [char; 18] = [
        'a', '"', '\\', '\n', '\r', '\0', '\u{1b}', '\u{7f}', '\u{85}', '\u{2028}', '\u{fffd}',
        '😀', 'é', ':', '%', '=', '{', '}',
    ];
    prop::collection::vec(prop::sample::select(&ODD[..]), 0..8)
        .prop_map(|chars| chars.into_iter().collect())
}

fn names() -> impl Strategy<Value = Option<String>> {
    prop::option::of(texts())
}

fn ids() -> impl Strategy<Value = String> {
    const PLAIN: [char; 14] =
        ['a', 'B', '1', '@', '.', '+', '-', ':', ' ', '%', '=', '/', 'é', '😀'];
    prop::collection::vec(prop::sample::select(&PLAIN[..]), 1..8)
        .prop_map(|chars| chars.into_iter().collect())
}

fn chat_types() -> impl Strategy<Value = ChatType> {
    prop::sample::select(vec![
        ChatType::Dm,
        ChatType::Group,
        ChatType::Channel,
        ChatType::Thread,
        ChatType::Forum,
    ])
}

fn platforms() -> impl Strategy<Value = String> {
    let known = ["discord", "slack", "telegram", "whatsapp", "whatsapp_cloud", "webchat", "x-1"];
    prop::sample::select(known.map(str::to_owned).to_vec())
}

prop_compose! {
    pub(crate) fn sources()(
        platform in platforms(),
        chat_id in ids(),
        chat_type in chat_types(),
        names in prop::array::uniform5(names()),
        ids in prop::array::uniform9(prop::option::of(ids())),
        is_bot in any::<bool>(),
    ) -> Source {
        let [chat_name, user_name, user_display_name, user_handle, chat_topic] = names;
        let [user_id, thread_id, user_id_alt, chat_id_alt, scope_id, parent_chat_id, message_id,
            profile, prospective_thread_id] = ids;
        Source {
            platform, chat_id, chat_type, chat_name, user_id, user_name, user_display_name,
            user_handle, thread_id, chat_topic, user_id_alt, chat_id_alt, scope_id,
            parent_chat_id, message_id, profile, prospective_thread_id, is_bot,
        }
    }
}

prop_compose! {
    fn replies()(
        message_id in prop::option::of(ids()),
        text in names(),
        author in names(),
        is_own in any::<bool>(),
    ) -> ReplyTo {
        ReplyTo { message_id, text, author, is_own }
    }
}

prop_compose! {
    fn media()(
        url in ids(),
        texts in prop::array::uniform4(names()),
        size in prop::option::of(any::<u64>()),
    ) -> Media {
        let [mime, kind, filename, caption] = texts;
        Media { url, mime, kind, size, filename, caption }
    }
}

prop_compose! {
    fn said()(text in texts(), user_name in names(), user_id in names()) -> ContextLine {
        ContextLine { text, user_name, user_id }
    }
}

prop_compose! {
    fn presses()(
        prompt_id in texts(),
        option_id in texts(),
        label in names(),
        prompt_message_id in names(),
    ) -> PromptResponse {
        PromptResponse { prompt_id, option_id, label, prompt_message_id }
    }
}

fn kinds() -> impl Strategy<Value = MessageKind> {
    prop::sample::select(vec![
        MessageKind::Text,
        MessageKind::Location,
        MessageKind::Photo,
        MessageKind::Video,
        MessageKind::Audio,
        MessageKind::Voice,
        MessageKind::Document,
        MessageKind::Sticker,
        MessageKind::Command,
    ])
}

prop_compose! {
    fn fires()(job_id in texts(), fire_at in texts(), fire_id in texts()) -> FireEvent {
        FireEvent { job_id, fire_at, fire_id }
    }
}

prop_compose! {
    fn origins()(
        skill_name in texts(),
        entry_skill_name in prop::option::of(ids()),
        trigger_kind in texts(),
        caller_agent_id in prop::option::of(ids()),
    ) -> LetterOrigin {
        LetterOrigin { skill_name, entry_skill_name, trigger_kind, caller_agent_id }
    }
}

prop_compose! {
    fn letters()(
        letter_id in texts(),
        from in texts(),
        dispatch_id in texts(),
        kind in texts(),
        session_id in prop::option::of(ids()),
        event_type in prop::option::of(ids()),
        correlation_id in prop::option::of(ids()),
        origin in prop::option::of(origins()),
    ) -> LetterEvent {
        LetterEvent { letter_id, from, dispatch_id, kind, session_id, event_type, correlation_id, origin }
    }
}

prop_compose! {
    fn messages()(
        text in texts(),
        kind in kinds(),
        message_id in prop::option::of(ids()),
        reply_to in prop::option::of(replies()),
        media in prop::collection::vec(media(), 0..3),
        context in prop::collection::vec(said(), 0..3),
        context_failed in any::<bool>(),
        prompt_response in prop::option::of(presses()),
        (fire, letter) in (prop::option::of(fires()), prop::option::of(letters())),
        is_edit in any::<bool>(),
    ) -> Message {
        // The mention of the bot is not on the wire.
        let mentions_bot = false;
        Message {
            text,
            kind,
            message_id,
            reply_to,
            media,
            context,
            context_failed,
            prompt_response,
            fire,
            letter,
            is_edit,
            mentions_bot,
        }
    }
}

prop_compose! {
    fn passthroughs()(
        method in texts(),
        path in texts(),
        headers in prop::collection::vec((texts(), texts()), 0..3),
        body in prop::collection::vec(any::<u8>(), 0..64),
    ) -> Passthrough {
        Passthrough { method, path, headers, body }
    }
}

fn contents() -> impl Strategy<Value = Content> {
    prop_oneof![
        3 => messages().prop_map(|message| Content::Message(Box::new(message))),
        1 => passthroughs().prop_map(Content::Passthrough),
    ]
}

prop_compose! {
    fn drafts()(source in sources(), content in contents()) -> Draft {
        Draft { key: "k".to_owned(), source, content }
    }
}

/// Every event that the desk could accept.
pub(crate) fn events() -> impl Strategy<Value = Event> {
    drafts().prop_filter_map("no client could take it", |draft| Event::normalise(draft).ok())
}

pub(crate) fn entry_ids() -> impl Strategy<Value = EntryId> {
    (any::<u128>(), any::<i64>(), any::<i64>()).prop_map(|(agent, incarnation, seq)| EntryId {
        incarnation: Incarnation::new(incarnation),
        agent: AgentId::from_uuid(Uuid::from_u128(agent)),
        seq: Seq::new(seq),
    })
}
