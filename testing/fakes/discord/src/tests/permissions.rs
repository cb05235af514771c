//! Tests permissions.

use super::super::world::permissions::{SEND_MESSAGES, VIEW_CHANNEL};
use super::*;

const ROLE: u64 = GUILD + 20;
const OTHER_ROLE: u64 = GUILD + 21;

fn overwrite(id: u64, kind: u64, allow: u64, deny: u64) -> Value {
    json!({ "id": id.to_string(), "type": kind, "allow": allow.to_string(), "deny": deny.to_string() })
}

#[tokio::test]
async fn the_member_comes_after_the_role_and_the_role_after_everybody() {
    let fake = fake().await;
    fake.role(GUILD, &json!({ "id": ROLE.to_string(), "permissions": "0" }));
    fake.role(GUILD, &json!({ "id": OTHER_ROLE.to_string(), "permissions": "0" }));
    fake.member(GUILD, ANN, &[ROLE, OTHER_ROLE]);
    let no_one = overwrite(GUILD, 0, 0, SEND_MESSAGES);
    let this_role = overwrite(ROLE, 0, SEND_MESSAGES, 0);
    let not_that_role = overwrite(OTHER_ROLE, 0, 0, SEND_MESSAGES);
    let not_ann = overwrite(ANN, 1, 0, SEND_MESSAGES);
    let cases = [
        ("nothing is said", json!([]), true),
        ("nobody may", json!([no_one]), false),
        ("nobody but a role may", json!([this_role, no_one]), true),
        ("a role may not", json!([not_that_role]), false),
        ("one role may, another may not", json!([not_that_role, this_role]), true),
        ("nobody but a role, and of that not Ann", json!([not_ann, this_role, no_one]), false),
    ];
    for (name, overwrites, want) in cases {
        fake.channel(
            GUILD,
            &json!({ "id": GENERAL.to_string(), "permission_overwrites": overwrites }),
        );
        assert_eq!(fake.shared.world().may(ANN, GENERAL, SEND_MESSAGES), want, "{name}");
    }
}

#[tokio::test]
async fn an_administrator_may_all_and_a_stranger_nothing() {
    let fake = fake().await;
    assert!(!fake.shared.world().may(ANN, HIDDEN, VIEW_CHANNEL));

    fake.role(GUILD, &json!({ "id": ROLE.to_string(), "permissions": "8" }));
    fake.member(GUILD, ANN, &[ROLE]);
    assert!(fake.shared.world().may(ANN, HIDDEN, VIEW_CHANNEL));
    fake.leave(GUILD, ANN);
    assert!(!fake.shared.world().may(ANN, GENERAL, VIEW_CHANNEL));
}

#[tokio::test]
async fn a_private_thread_is_seen_by_who_is_in_it() {
    let fake = fake().await;
    let thread = fake.private_thread(GENERAL, ANN, "a");
    let path = format!("/channels/{thread}");
    assert_eq!(get(&fake, &path).await.0, 403);

    fake.thread_member(thread, BOT, true);
    assert_eq!(get(&fake, &path).await.0, 200);
    let (_, people) = get(&fake, &format!("{path}/thread-members")).await;
    assert_eq!(people.as_array().map(Vec::len), Some(2));
    let left = answer(call(&fake, Method::DELETE, &format!("{path}/thread-members/@me"))).await;
    assert_eq!((left.0, get(&fake, &path).await.0), (204, 403));
}

#[tokio::test]
async fn a_thread_is_seen_by_who_sees_its_channel() {
    let fake = fake().await;
    let (open, hidden) =
        (fake.thread(GENERAL, ANN, None, "a"), fake.thread(HIDDEN, ANN, None, "b"));

    assert_eq!(get(&fake, &format!("/channels/{open}")).await.0, 200);
    assert_eq!(get(&fake, &format!("/channels/{hidden}")).await.0, 403);
    let (_, active) = get(&fake, &format!("/guilds/{GUILD}/threads/active")).await;
    assert_eq!(active["threads"].as_array().map(Vec::len), Some(1));
}
