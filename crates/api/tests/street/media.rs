//! Files by reference, from outside: only an agent that was given the reference gets the file.

use nightdesk_testdesk::{
    Answered, Household, TestDesk, TestGateway, TestPlatform, get, post, upgrade_token_at,
};
use serde_json::{Value, json};

/// A household whose bot has a file that only its key leads to, and another household.
struct Stage {
    desk: TestDesk,
    platform: TestPlatform,
    ann: Household,
    bob: Household,
}

impl Stage {
    async fn set() -> Self {
        let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
        let mut settings = platform.settings();
        settings["files"] = json!({ "file-1": "a cat" });
        let ann = desk.household_with("ann", "gw-1", settings).await;
        let bob = desk.household_with("bob", "gw-2", platform.settings()).await;
        Self { desk, platform, ann, bob }
    }

    async fn on_a_line(&self, household: &Household) -> TestGateway {
        let mut gateway = self.desk.dial(household).await;
        gateway.hello("discord").await;
        gateway.hear_frame("descriptor").await;
        gateway
    }

    /// Has a household's gateway upload a file.
    async fn gives(
        &self,
        household: &Household,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answered {
        let bearer = bearer(household);
        let mut all = vec![("authorization", bearer.as_str())];
        all.extend_from_slice(headers);
        post(self.desk.address(), "/relay/media", &all, body).await
    }

    async fn fetches(&self, household: &Household, id: &str) -> Answered {
        let bearer = bearer(household);
        let path = format!("/relay/media/{id}");
        get(self.desk.address(), &path, &[("authorization", &bearer)]).await
    }

    /// Has Ann write with a picture. Returns the entry that her agent gets.
    async fn ann_shows_a_picture(&self, gateway: &mut TestGateway) -> Value {
        let picture = json!({ "url": "file-1", "mime": "image/png", "filename": "cat.png" });
        let source = json!({ "chat_id": "c1", "user_id": "ann" });
        let event = json!({ "text": "look", "media": [picture], "source": source });
        assert_eq!(self.desk.hook(&self.ann, &json!({ "id": "k1", "event": event })).await, 200);
        gateway.hear_frame("inbound").await["event"].clone()
    }
}

fn bearer(household: &Household) -> String {
    format!("Bearer {}", upgrade_token_at(&household.name, &household.secret, 300))
}

fn body(answer: &Answered) -> &str {
    answer.text.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

/// The name at the end of a reference.
fn id_of(reference: &str) -> &str {
    reference.rsplit_once('/').map_or("", |(_, id)| id)
}

async fn sends(gateway: &mut TestGateway, url: &str) -> Value {
    let action = json!({
        "op": "send_media", "chat_id": "c1", "media_kind": "image", "source_url": url, "content": "here"
    });
    gateway.say(&json!({ "type": "outbound", "requestId": url, "action": action })).await;
    gateway.hear_frame("outbound_result").await["result"].clone()
}

#[tokio::test]
async fn a_file_is_taken_and_given_out_to_its_agent_alone() {
    let stage = Stage::set().await;
    let named = [("content-type", "image/png"), ("x-media-filename", "../a cat.png")];
    let taken = stage.gives(&stage.ann, &named, b"meow").await;
    assert_eq!((taken.status, &taken.json()["size"]), (200, &json!(4)), "{}", taken.text);
    let id = taken.json()["id"].as_str().expect("a name").to_owned();

    let given = stage.fetches(&stage.ann, &id).await;
    assert_eq!((given.status, body(&given)), (200, "meow"));
    assert_eq!(given.header("content-type"), Some("image/png"));
    assert_eq!(given.header("content-length"), Some("4"));
    assert_eq!(given.header("x-content-type-options"), Some("nosniff"));
    let called = "attachment; filename=\"a_cat.png\"; filename*=UTF-8''a%20cat.png";
    assert_eq!(given.header("content-disposition"), Some(called));
    assert_eq!(stage.fetches(&stage.bob, &id).await.status, 404, "another tenant's");
    for odd in ["0", "..", "%2e%2e%2fvault.key", &id[1..], &"f".repeat(32)] {
        assert_eq!(stage.fetches(&stage.ann, odd).await.status, 404, "{odd}");
    }
}

#[tokio::test]
async fn what_is_no_file_is_not_taken() {
    let stage = Stage::set().await;
    assert_eq!(stage.gives(&stage.ann, &[], b"").await.status, 400);
    let large = vec![7; 25 * 1024 * 1024 + 1];
    assert_eq!(stage.gives(&stage.ann, &[], &large).await.status, 413);
    let nobody = post(stage.desk.address(), "/relay/media", &[], b"meow").await;
    assert_eq!(nobody.status, 401);
}

#[tokio::test]
async fn what_people_attach_is_told_by_reference_and_fetched_with_the_key_kept_here() {
    let stage = Stage::set().await;
    let mut gateway = stage.on_a_line(&stage.ann).await;
    let event = stage.ann_shows_a_picture(&mut gateway).await;
    let reference = event["media_urls"][0].as_str().expect("a reference");
    assert_eq!(event["media"][0]["url"], reference);
    assert_eq!(event["media"][0]["filename"], "cat.png");
    assert!(
        !event.to_string().contains("file-1"),
        "the platform's own address stays here: {event}"
    );

    let given = stage.fetches(&stage.ann, id_of(reference)).await;
    assert_eq!(given.status, 200);
    assert!(given.text.contains("a cat"), "{}", given.text);
    assert_eq!(stage.fetches(&stage.bob, id_of(reference)).await.status, 404, "another tenant's");
}

#[tokio::test]
async fn an_agent_sends_what_it_gave_us_and_what_it_was_shown() {
    let mut stage = Stage::set().await;
    let mut gateway = stage.on_a_line(&stage.ann).await;
    let event = stage.ann_shows_a_picture(&mut gateway).await;
    let shown = event["media_urls"][0].as_str().expect("a reference").to_owned();
    let taken = stage.gives(&stage.ann, &[("x-media-filename", "dog.png")], b"wuff").await;
    let given =
        format!("https://anywhere/relay/media/{}", taken.json()["id"].as_str().expect("a name"));

    for (url, text) in [(&shown, "a cat"), (&given, "wuff")] {
        assert_eq!(sends(&mut gateway, url).await["success"], true, "{url}");
        assert_eq!(stage.platform.next().await["file"]["text"], text);
    }
    let elsewhere = "https://elsewhere.example/cat.png";
    assert_eq!(sends(&mut gateway, elsewhere).await["success"], true);
    let call = stage.platform.next().await;
    assert_eq!((&call["file"], &call["source_url"]), (&Value::Null, &json!(elsewhere)));
}

#[tokio::test]
async fn nobody_sends_a_file_of_another() {
    let stage = Stage::set().await;
    let mut gateway = stage.on_a_line(&stage.ann).await;
    stage.ann_shows_a_picture(&mut gateway).await;
    let taken = stage.gives(&stage.bob, &[], b"secret").await;
    let bobs = format!("https://desk/relay/media/{}", taken.json()["id"].as_str().expect("a name"));

    let result = sends(&mut gateway, &bobs).await;
    assert_eq!(
        (&result["success"], &result["error"]),
        (&json!(false), &json!("media absent or expired"))
    );
    assert_eq!(stage.platform.calls(), Vec::<Value>::new(), "nobody was called");
}
