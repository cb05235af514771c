//! Tests the updates that Telegram posts, and forged ones.

use nightdesk_testdesk::post;
use nightdesk_testkit::cases::{Case, begin};

use super::*;

// T05, F41: forty at a time, the last first, and some of them twice.
#[tokio::test]
async fn what_is_posted_comes_to_the_agent_once() {
    let stage = stage(json!({ "updates": "webhook" })).await;
    let cases =
        ["forty out of order", "posts it again"].map(|name| begin("telegram", "fault", name));
    stage.desk.listen();
    stage.says(0..50);
    stage.fake.misbehave(Fault::at("push", 1, Kind::OutOfOrder));
    stage.fake.misbehave(Fault::at("push", 5, Kind::Repeat));
    stage.post_to(&stage.hook()).await;

    stage.has(50).await;
    assert!(stage.fake.calls().iter().all(|call| call.method != "getUpdates"), "it is not asked");
    cases.into_iter().for_each(Case::passed);
}

// T05
#[tokio::test]
async fn who_does_not_show_the_secret_is_refused_and_nothing_is_read() {
    let stage = stage(json!({ "updates": "webhook" })).await;
    let account = stage.desk.desk.stops.accounts.find_by_id(stage.bot).await.expect("find the bot");
    let secret = webhook_secret(&account.expect("it was entered").bot).expect("it has a key");
    let secret = secret.with(str::to_owned);
    let (right, wrong) = ((SECRET_HEADER, secret.as_str()), (SECRET_HEADER, "wrong"));
    let path = format!("/hooks/{}", stage.path);
    let message = json!({ "message_id": 1, "date": 1, "text": "hi",
        "from": { "id": ANN, "first_name": "Ann" }, "chat": { "id": ANN, "type": "private" } });
    let update = json!({ "update_id": 1, "message": message }).to_string();
    let posted = async |path: &str, headers: &[(&str, &str)]| {
        post(stage.desk.address(), path, headers, update.as_bytes()).await.status
    };

    let shown: [&[(&str, &str)]; 5] =
        [&[], &[wrong], &[(SECRET_HEADER, "")], &[right, right], &[right, wrong]];
    for headers in shown {
        assert_eq!(posted(&path, headers).await, 401, "{headers:?}");
    }
    assert_eq!(posted("/hooks/elsewhere", &[right]).await, 404);
    assert_eq!(stage.entries().await, 0);
    assert_eq!(stage.desk.store.quarantined(stage.household.scope, stage.bot).len(), 0);
    assert_eq!(posted(&path, &[right]).await, 200);
    assert_eq!(stage.entries().await, 1);
}
