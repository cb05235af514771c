use nightdesk_types::send::{Op, PromptOption};
use serde_json::json;

use super::*;

fn read(wire: &Value) -> Action {
    serde_json::from_str::<RawAction<'_>>(&wire.to_string()).unwrap().into_action()
}

/// Every op of the newest client, with all its fields.
fn ops() -> Vec<(Value, Op)> {
    [ops_on_messages(), ops_besides()].concat()
}

fn ops_on_messages() -> Vec<(Value, Op)> {
    let (content, message_id) = ("hi".to_owned(), "m1".to_owned());
    vec![
        (
            json!({"op": "send", "content": "hi", "reply_to": "m0"}),
            Op::Send { content: content.clone(), reply_to: Some("m0".into()) },
        ),
        (
            json!({"op": "edit", "message_id": "m1", "content": "hi"}),
            Op::Edit { message_id: message_id.clone(), content: content.clone() },
        ),
        (
            json!({"op": "delete", "message_id": "m1"}),
            Op::Delete { message_id: message_id.clone() },
        ),
        (
            json!({"op": "draft", "draft_id": 3, "content": "hi", "final": true}),
            Op::Draft { draft_id: 3, content: content.clone(), is_final: true },
        ),
        (
            json!({
                "op": "send_media", "media_kind": "image", "source_url": "https://x/a.png",
                "content": "hi", "reply_to": null, "filename": "a.png",
            }),
            Op::SendMedia {
                media_kind: "image".into(),
                source_url: "https://x/a.png".into(),
                content,
                reply_to: None,
                filename: Some("a.png".into()),
            },
        ),
        (
            json!({"op": "react", "message_id": "m1", "emoji": "👍", "remove": false}),
            Op::React { message_id, emoji: "👍".into(), remove: false },
        ),
    ]
}

fn ops_besides() -> Vec<(Value, Op)> {
    let (card_id, thread_name) = ("turn:m1".to_owned(), "plans".to_owned());
    vec![
        (json!({"op": "typing"}), Op::Typing { content: None }),
        (json!({"op": "typing", "content": ""}), Op::Typing { content: Some(String::new()) }),
        (
            json!({"op": "task_card", "card_id": "turn:m1", "chunks": [{"a": 1}, 2]}),
            Op::TaskCard { card_id: card_id.clone(), chunks: vec![json!({"a": 1}), json!(2)] },
        ),
        (json!({"op": "task_card_stop", "card_id": "turn:m1"}), Op::TaskCardStop { card_id }),
        (
            json!({
                "op": "prompt", "content": "hi", "prompt_kind": "approval", "prompt_id": "ab.12",
                "options": [{"id": "once", "label": "Once", "style": "primary"}, {"id": "no"}, 7],
                "reply_to": "m0", "timeout_s": 60,
            }),
            Op::Prompt {
                content: "hi".into(),
                prompt_kind: "approval".into(),
                prompt_id: "ab.12".into(),
                options: vec![
                    PromptOption {
                        id: "once".into(),
                        label: "Once".into(),
                        style: Some("primary".into()),
                    },
                    PromptOption { id: "no".into(), label: "no".into(), style: None },
                ],
                reply_to: Some("m0".into()),
                timeout_s: Some(60.0),
            },
        ),
        (
            json!({"op": "thread_create", "thread_name": "plans"}),
            Op::ThreadCreate { thread_name: thread_name.clone() },
        ),
        (
            json!({"op": "thread_rename", "message_id": "m1", "thread_name": "plans"}),
            Op::ThreadRename { message_id: "m1".into(), thread_name },
        ),
        (json!({"op": "get_chat_info"}), Op::GetChatInfo),
    ]
}

#[test]
fn reads_every_op_in_our_words() {
    for (mut wire, op) in ops() {
        wire["chat_id"] = json!("c1");
        wire["metadata"] = json!({"scope_id": "g1"});

        let Action::Send(send) = read(&wire) else { panic!("{wire} goes to a chat") };
        assert_eq!(send.op, op);
        assert_eq!(send.op.name(), wire["op"]);
        assert_eq!((send.chat_id.as_str(), scope(&send.metadata).as_deref()), ("c1", Some("g1")));
    }
}

#[test]
fn what_the_sdk_writes_is_read_as_it_was_meant() {
    for (_, op) in ops() {
        let metadata = Map::from_iter([("k".to_owned(), json!([1, {"a": null}]))]);
        let action = Action::Send(Send { chat_id: "c1".to_owned(), op, metadata });

        assert_eq!(read(&serde_json::to_value(&action).unwrap()), action);
    }
}

#[test]
fn a_follow_up_names_a_session_and_no_chat() {
    let wire = json!({
        "op": "follow_up", "session_key": "agent:main:discord:dm:c1",
        "kind": "discord.interaction_token", "content": "done", "metadata": {"profile": "p"},
    });

    let Action::FollowUp(follow_up) = read(&wire) else { panic!("a follow-up") };
    assert_eq!(follow_up.session_key.as_str(), "agent:main:discord:dm:c1");
    assert_eq!(follow_up.platform(), Some("discord"));
    assert_eq!(profile(&follow_up.metadata).as_deref(), Some("p"));
    assert_eq!(serde_json::to_value(Action::FollowUp(follow_up)).unwrap(), wire);
}

#[test]
fn a_scope_is_found_under_either_name() {
    let cases = [
        (json!({"scope_id": "g1"}), Some("g1")),
        (json!({"guild_id": "g1"}), Some("g1")),
        (json!({"scope_id": "g1", "guild_id": "g2"}), Some("g1")),
        (json!({"scope_id": "", "guild_id": "g2"}), Some("g2")),
        (json!({"scope_id": 7}), Some("7")),
        (json!({"scope_id": ["g1"]}), None),
        (json!({}), None),
    ];
    for (metadata, want) in cases {
        let metadata = metadata.as_object().unwrap();
        assert_eq!(scope(metadata).as_deref(), want, "{metadata:?}");
    }
}

#[test]
fn the_conditions_of_a_rename_are_kept() {
    let wire = json!({
        "op": "thread_rename", "chat_id": "c1", "message_id": "t1", "thread_name": "plans",
        "only_if_connector_created": true, "only_if_current_name": "old",
    });

    let Action::Send(send) = read(&wire) else { panic!("it goes to a chat") };
    assert_eq!(send.metadata["only_if_connector_created"], true);
    assert_eq!(send.metadata["only_if_current_name"], "old");
}

#[test]
fn nul_is_taken_out_of_what_is_said() {
    let Action::Send(send) = read(&json!({"op": "send", "chat_id": "c", "content": "a\0b"})) else {
        panic!("a send")
    };
    assert_eq!(send.op, Op::Send { content: "ab".to_owned(), reply_to: None });
}
