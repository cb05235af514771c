//! People link themselves to an agent.

use nightdesk_testdesk::{Household, TestDesk, TestPlatform};
use serde_json::json;

/// A household whose platform accepts sends.
async fn house() -> (TestDesk, TestPlatform, Household) {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
    (desk, platform, ann)
}

/// A code for a household's agent.
async fn code(desk: &TestDesk, household: &Household) -> String {
    let code = desk.register.link_code(household.scope, household.agent).await;
    code.expect("enter a link code").expect("it had none before").with(str::to_owned)
}

/// The number of entries of an agent.
async fn entries(desk: &TestDesk, household: &Household) -> i64 {
    desk.head_of(household).await.get()
}

/// The last message of the desk.
async fn answered(desk: &TestDesk, platform: &TestPlatform) -> String {
    desk.settled().await;
    let said = platform.calls().pop().expect("somebody was answered");
    assert_eq!((&said["op"], &said["chat_id"]), (&json!("send"), &json!("c1")));
    said["content"].as_str().expect("a text").to_owned()
}

#[tokio::test]
async fn a_person_is_linked_by_the_code_they_send() {
    let (desk, platform, ann) = house().await;
    let code = code(&desk, &ann).await;
    assert_eq!(desk.says(&ann, "newcomer", "hello?").await, 200);
    assert_eq!(entries(&desk, &ann).await, 0, "nobody knows them yet");

    assert_eq!(desk.says(&ann, "newcomer", &format!("/link {code}")).await, 200);
    assert_eq!(
        answered(&desk, &platform).await,
        "You are linked to ann. From now on it receives your messages to me."
    );
    assert_eq!(entries(&desk, &ann).await, 0, "a code is nobody's to read");
    assert_eq!(desk.says(&ann, "newcomer", "hello!").await, 200);
    assert_eq!(entries(&desk, &ann).await, 1, "at once");
}

#[tokio::test]
async fn a_code_links_nobody_twice_and_who_is_linked_hears_the_same_again() {
    let (desk, platform, ann) = house().await;
    let link = format!("/link {}", code(&desk, &ann).await);
    assert_eq!(desk.says(&ann, "newcomer", &link).await, 200);
    let first = answered(&desk, &platform).await;

    assert_eq!(desk.says(&ann, "newcomer", &link).await, 200);
    assert_eq!(answered(&desk, &platform).await, first);
    assert_eq!(desk.says(&ann, "thief", &link).await, 200);
    assert!(answered(&desk, &platform).await.starts_with("That code was already used."));
    assert_eq!(desk.says(&ann, "thief", "hello?").await, 200);
    assert_eq!(entries(&desk, &ann).await, 0);
}

#[tokio::test]
async fn who_is_known_already_can_be_linked_and_their_code_is_not_handed_over() {
    let (desk, platform, ann) = house().await;
    let link = format!("/link {}", code(&desk, &ann).await);

    assert_eq!(desk.says(&ann, "ann", &link).await, 200);
    assert!(answered(&desk, &platform).await.starts_with("You are linked to ann."));
    assert_eq!(desk.says(&ann, "ann", "/link nonsense").await, 200);
    assert!(answered(&desk, &platform).await.starts_with("I do not know that code."));
    assert_eq!(entries(&desk, &ann).await, 0, "neither of them");
}

#[tokio::test]
async fn a_bot_of_others_links_nobody_unless_it_is_shared() {
    let (desk, platform, ann) = house().await;
    let bob = desk.household("bob", "gw-2").await;
    let link = format!("/link {}", code(&desk, &bob).await);

    assert_eq!(desk.says(&ann, "newcomer", &link).await, 200);
    assert!(answered(&desk, &platform).await.starts_with("That code is for an agent that"));
    let shared = desk.register.store().share(ann.scope, ann.bot, true).await;
    assert!(shared.expect("share a bot"));
    assert_eq!(desk.says(&ann, "newcomer", &link).await, 200);
    assert!(answered(&desk, &platform).await.starts_with("You are linked to bob."));
    assert_eq!(desk.says(&ann, "newcomer", "hello!").await, 200);
    assert_eq!((entries(&desk, &ann).await, entries(&desk, &bob).await), (0, 1));
}

#[tokio::test]
async fn who_is_linked_while_the_agent_is_on_its_line_is_answered_on_it() {
    let (desk, platform, ann) = house().await;
    let bob = desk.household("bob", "gw-2").await;
    let mut gateway = desk.dial(&bob).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    let shared = desk.register.store().share(ann.scope, ann.bot, true).await;
    assert!(shared.expect("share a bot"));
    let link = format!("/link {}", code(&desk, &bob).await);
    assert_eq!(desk.says(&ann, "newcomer", &link).await, 200);
    answered(&desk, &platform).await;
    assert_eq!(desk.says(&ann, "newcomer", "hello!").await, 200);
    gateway.hear_frame("inbound").await;

    let action = json!({"op": "send", "chat_id": "c1", "content": "welcome"});
    gateway.say(&json!({"type": "outbound", "requestId": "r1", "action": action})).await;
    let result = gateway.hear_frame("outbound_result").await["result"].clone();
    assert_eq!(result["success"], true, "{result}");
    assert_eq!(answered(&desk, &platform).await, "welcome");
}

#[tokio::test]
async fn a_code_said_where_others_read_is_not_the_desks() {
    let (desk, _platform, ann) = house().await;
    let link = format!("/link {}", code(&desk, &ann).await);
    desk.grant(ann.scope, ann.agent, ann.bot, "room").await;

    assert_eq!(desk.says_in_room("room", &ann, "newcomer", &link).await, 200);
    assert_eq!(entries(&desk, &ann).await, 1, "it is said to the agent of that room");
    assert_eq!(desk.says(&ann, "newcomer", "hello?").await, 200);
    assert_eq!(entries(&desk, &ann).await, 1, "and links nobody");
}
