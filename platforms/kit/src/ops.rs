//! The ops of chat platforms.

/// Returns the names of the ops of a platform with threads, files, buttons and reactions, and one op that others lack.
pub fn chat_ops(own: &'static str) -> Vec<&'static str> {
    vec![
        "send",
        "edit",
        "typing",
        "delete",
        own,
        "send_media",
        "prompt",
        "react",
        "thread_create",
        "thread_rename",
        "get_chat_info",
    ]
}
