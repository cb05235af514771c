//! Tests files in both directions.

use nightdesk_testdesk::{get, post, upgrade_token_at};

use super::*;

/// Returns a photo that Ann sends.
fn photo() -> Value {
    json!({ "message": {
        "message_id": 7, "date": 1, "chat": { "id": ANN, "type": "private" },
        "from": { "id": ANN, "is_bot": false, "first_name": "Ann" },
        "photo": [{ "file_id": "cat-1", "file_unique_id": "c", "width": 1, "height": 1 }],
    } })
}

#[tokio::test]
async fn a_photo_is_fetched_by_reference_and_a_file_is_sent_by_one() {
    let stage = stage(json!({})).await;
    stage.desk.listen();
    let mut gateway = stage.desk.dial(&stage.household).await;
    gateway.hello("telegram").await;
    gateway.hear_frame("descriptor").await;
    stage.fake.happens(TOKEN, photo());
    let entry = gateway.hear_frame("inbound").await;
    let reference = entry["event"]["media_urls"][0].as_str().expect("a reference").to_owned();
    assert!(!entry.to_string().contains("cat-1"), "what leads to it with the key stays here");

    let (name, secret) = (&stage.household.name, &stage.household.secret);
    let bearer = format!("Bearer {}", upgrade_token_at(name, secret, 300));
    let shown = [("authorization", bearer.as_str()), ("x-media-filename", "dog.png")];
    let (_, path) = reference.split_once("/relay/").expect("a path of the desk");
    let photo = get(stage.desk.address(), &format!("/relay/{path}"), &shown[..1]).await;
    assert!(photo.status == 200 && photo.text.contains("what is in cat-1"), "{}", photo.text);

    let taken = post(stage.desk.address(), "/relay/media", &shown, b"wuff").await.json();
    let url = format!("https://desk/relay/media/{}", taken["id"].as_str().expect("a name"));
    let action = json!({
        "op": "send_media", "chat_id": "900", "media_kind": "image", "source_url": url, "content": "",
    });
    gateway.say(&json!({ "type": "outbound", "requestId": "r1", "action": action })).await;
    assert_eq!(gateway.hear_frame("outbound_result").await["result"]["success"], true);
    let call = stage.fake.calls().into_iter().find(|call| call.method == "sendPhoto");
    let given = json!({ "file_name": "dog.png", "file_size": 4 });
    assert_eq!(call.expect("it was sent").asked["photo"], given);
}
