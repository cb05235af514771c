//! Tests files in both directions.

use nightdesk_testdesk::{get, post, upgrade_token_at};

use super::*;

#[tokio::test]
async fn a_photo_is_fetched_by_reference_days_later_and_a_file_is_sent_by_one() {
    let stage = stage().await;
    let mut gateway = stage.on_a_line().await;
    stage.arrive().await;
    let files = json!([{ "name": "cat.png", "kind": "image/png", "text": "a cat" }]);
    let said = json!({ "content": format!("<@{BOT}> look"), "files": files });
    stage.fake.send(ANN, GENERAL, &said);
    let event = heard(&mut gateway).await;
    let reference = event["media_urls"][0].as_str().expect("a reference").to_owned();
    assert!(!event.to_string().contains("/attachments/"), "where it lies stays here");
    stage.fake.settings(|settings| settings.ahead_by += Duration::from_hours(72));

    let (name, secret) = (&stage.household.name, &stage.household.secret);
    let bearer = format!("Bearer {}", upgrade_token_at(name, secret, 300));
    let shown = [("authorization", bearer.as_str()), ("x-media-filename", "dog.png")];
    let (_, path) = reference.split_once("/relay/").expect("a path of the desk");
    let photo = get(stage.desk.address(), &format!("/relay/{path}"), &shown[..1]).await;
    assert!(photo.status == 200 && photo.text.contains("a cat"), "{}", photo.text);

    let taken = post(stage.desk.address(), "/relay/media", &shown, b"wuff").await.json();
    let url = format!("https://desk/relay/media/{}", taken["id"].as_str().expect("a name"));
    let action = json!({
        "op": "send_media", "chat_id": GENERAL.to_string(), "media_kind": "image",
        "source_url": url, "content": "a dog",
    });
    let result = does(&mut gateway, "r1", action).await;
    assert_eq!(result["success"], true, "{result}");
    let sent = stage.fake.messages(GENERAL).pop().expect("a message");
    assert_eq!(sent["attachments"][0]["filename"], json!("dog.png"));
    assert_eq!((&sent["attachments"][0]["size"], &sent["content"]), (&json!(4), &json!("a dog")));
}
