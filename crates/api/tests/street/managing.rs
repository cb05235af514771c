//! The reach of an agent, as its gateway and its owner may change it.

use nightdesk_testdesk::{
    Answered, Heard, Household, TestDesk, TestPlatform, get, post, upgrade_token_at,
};
use nightdesk_types::{Clock, SystemClock};
use serde_json::{Value, json};

/// Two households, of which the first shares its bot.
struct Street {
    desk: TestDesk,
    platform: TestPlatform,
    ann: Household,
    bob: Household,
}

async fn street() -> Street {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let mut settings = platform.settings();
    settings["sights"] = json!({ "room": ["bob"], "attic": ["ann"], "cellar": null });
    let ann = desk.household_with("ann", "gw-1", settings).await;
    let bob = desk.household("bob", "gw-2").await;
    let shared = desk.register.store().share(ann.scope, ann.bot, true).await;
    assert!(shared.expect("share a bot"));
    Street { desk, platform, ann, bob }
}

impl Street {
    /// Calls with the gateway's upgrade token.
    async fn by_gateway(&self, household: &Household, path: &str, body: &Value) -> Answered {
        let bearer = upgrade_token_at(&household.name, &household.secret, 300);
        self.ask(&bearer, path, body).await
    }

    /// Calls with a token for the agent.
    async fn by_token(&self, household: &Household, path: &str, body: &Value) -> Answered {
        let Household { scope, agent, .. } = household;
        let now = SystemClock::start().now();
        let token =
            self.desk.desk.stops.issuers.own_issuer().agent_token(*scope, *agent, now).await;
        self.ask(&token.expect("a token").with(str::to_owned), path, body).await
    }

    async fn ask(&self, bearer: &str, path: &str, body: &Value) -> Answered {
        let bearer = format!("Bearer {bearer}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        post(self.desk.address(), path, &headers, body.to_string().as_bytes()).await
    }

    async fn shown(&self, household: &Household) -> Value {
        let bearer = upgrade_token_at(&household.name, &household.secret, 300);
        let bearer = format!("Bearer {bearer}");
        let answer = get(self.desk.address(), "/manage", &[("authorization", &bearer)]).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    /// The number of entries of each household's agent.
    async fn entries(&self) -> (i64, i64) {
        let of = async |household| self.desk.head_of(household).await.get();
        (of(&self.ann).await, of(&self.bob).await)
    }
}

fn slug(answer: &Answered) -> String {
    let said = answer.json();
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{}", answer.text);
    assert_eq!(said["status"], answer.status);
    assert_eq!(said["detail"], said["error"], "what today's clients show");
    said["type"].as_str().expect("a type").trim_start_matches("/problems/").to_owned()
}

/// The bot that ann runs, and the room on it.
fn room(street: &Street, chat: &str) -> Value {
    json!({ "platform": "discord", "botId": "bot-ann", "scopeId": "guild", "chatId": chat,
        "instanceId": street.ann.agent.to_string(), "tenant": street.ann.scope.tenant().to_string() })
}

// T51: a leaked secret may narrow its agent's reach and not widen it.
#[tokio::test]
async fn a_gateways_secret_narrows_and_does_not_widen() {
    let street = street().await;
    let own = json!({ "platform": "discord", "botId": "bot-ann" });
    let with = |more: Value| {
        let mut body = own.clone();
        body.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
        body
    };
    let cases = [
        ("/manage/link", json!({}), 403),
        ("/manage/dm-default", with(json!({ "userId": "ann" })), 403),
        ("/manage/scope", with(json!({ "scopeId": "g", "chatId": "c" })), 403),
        ("/manage/principal", json!({ "principal": "any" }), 403),
        ("/manage/principal", json!({ "principal": "allow-list" }), 403),
        ("/manage/allow-list", with(json!({ "userIds": ["eve"] })), 403),
        ("/manage/principal", json!({ "principal": "owner-only" }), 204),
        ("/manage/allow-list", with(json!({ "userIds": [] })), 204),
        ("/manage/unlink", with(json!({ "userId": "ann" })), 204),
        ("/manage/scope/release", with(json!({ "scopeId": "g", "chatId": "c" })), 404),
        ("/relay/policy", json!({ "platform": "discord", "requireAddress": true }), 200),
        ("/manage/deprovision", json!({}), 204),
    ];
    for (path, body, status) in cases {
        let answer = street.by_gateway(&street.ann, path, &body).await;
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.text);
        if status == 403 {
            assert_eq!(slug(&answer), "widens-reach");
        }
    }
}

#[tokio::test]
async fn a_tenant_may_trust_its_gateways() {
    let street = street().await;
    let store = street.desk.register.store();
    store.let_gateways_widen(street.ann.scope, true).await.expect("say what gateways may");

    let open = json!({ "principal": "any" });
    assert_eq!(street.by_gateway(&street.ann, "/manage/principal", &open).await.status, 204);
    assert_eq!(street.by_gateway(&street.bob, "/manage/principal", &open).await.status, 403);
}

// T31, Q14: a tenant or agent in the body is ignored.
#[tokio::test]
async fn nobody_is_who_a_body_says() {
    let street = street().await;
    let body = json!({ "principal": "any", "instanceId": street.ann.agent.to_string(),
        "agentId": street.ann.agent.to_string(), "tenant": street.ann.scope.tenant().to_string() });

    assert_eq!(street.by_token(&street.bob, "/manage/principal", &body).await.status, 204);
    assert_eq!(street.shown(&street.ann).await["principal"], "owner-only");
    assert_eq!(street.shown(&street.bob).await["principal"], "any");
}

#[tokio::test]
async fn a_room_is_one_agents_and_released_it_is_free() {
    let street = street().await;
    let claim = room(&street, "hall");
    assert_eq!(street.by_token(&street.ann, "/manage/scope", &claim).await.status, 204);

    let taken = street.by_token(&street.bob, "/manage/scope", &claim).await;
    assert_eq!((taken.status, slug(&taken).as_str()), (403, "not-seen"), "bob is not linked there");
    let link = street.by_token(&street.bob, "/manage/link", &json!({})).await.json();
    let code = link["code"].as_str().expect("a code");
    street.desk.says(&street.ann, "bob", &format!("/link {code}")).await;
    let taken = street.by_token(&street.bob, "/manage/scope", &claim).await;
    assert_eq!((taken.status, slug(&taken).as_str()), (409, "taken"));
    assert_eq!(street.by_gateway(&street.bob, "/manage/scope/release", &claim).await.status, 404);
    assert_eq!(street.by_gateway(&street.ann, "/manage/scope/release", &claim).await.status, 204);
    assert_eq!(street.by_token(&street.bob, "/manage/scope", &claim).await.status, 204);
}

// T30: on another tenant's bot, only chats that one's own people see.
#[tokio::test]
async fn on_a_shared_bot_only_what_ones_people_see_is_claimed() {
    let street = street().await;
    let link = street.by_token(&street.bob, "/manage/link", &json!({})).await;
    let code = link.json()["code"].as_str().expect("a code").to_owned();
    street.desk.says(&street.ann, "bob", &format!("/link {code}")).await;

    for (chat, status) in [("attic", 403), ("cellar", 403), ("room", 204)] {
        let answer = street.by_token(&street.bob, "/manage/scope", &room(&street, chat)).await;
        assert_eq!(answer.status, status, "{chat}: {}", answer.text);
    }
    let all = json!({ "platform": "discord", "botId": "bot-ann", "scopeId": "guild" });
    assert_eq!(street.by_token(&street.bob, "/manage/scope", &all).await.status, 403, "the guild");
    assert_eq!(street.by_token(&street.ann, "/manage/scope", &all).await.status, 204, "ann's own");
}

#[tokio::test]
async fn two_people_in_one_room_each_reach_their_own_agent() {
    let street = street().await;
    let link = street.by_token(&street.bob, "/manage/link", &json!({})).await;
    let code = link.json()["code"].as_str().expect("a code").to_owned();
    street.desk.says(&street.ann, "bob", &format!("/link {code}")).await;

    for (author, given) in [("ann", (1, 0)), ("bob", (1, 1)), ("eve", (1, 1))] {
        street.desk.says_in_room("hall", &street.ann, author, author).await;
        assert_eq!(street.entries().await, given, "{author}");
    }
}

#[tokio::test]
async fn a_policy_is_obeyed() {
    let street = street().await;
    street.by_token(&street.ann, "/manage/scope", &room(&street, "hall")).await;
    street.by_token(&street.ann, "/manage/principal", &json!({ "principal": "any" })).await;
    street.desk.says_in_room("hall", &street.ann, "eve", "k1").await;
    assert_eq!(street.entries().await.0, 1);

    let policy = json!({ "platform": "discord", "requireAddress": true });
    assert_eq!(street.by_gateway(&street.ann, "/relay/policy", &policy).await.status, 200);
    street.desk.desk.stops.gate.reload_changed().await.expect("look who may be reached");
    street.desk.says_in_room("hall", &street.ann, "eve", "k2").await;
    assert_eq!(street.entries().await.0, 1, "not said to the agent");
    street.desk.says_in_room("hall", &street.ann, "ann", "k3").await;
    assert_eq!(street.entries().await.0, 2, "its own people need not say its name");
}

#[tokio::test]
async fn who_has_two_agents_says_which_is_theirs() {
    let street = street().await;
    for (household, author) in [(&street.bob, "ann"), (&street.ann, "eve")] {
        let link = street.by_token(household, "/manage/link", &json!({})).await.json();
        let code = link["code"].as_str().expect("a code").to_owned();
        street.desk.says(&street.ann, author, &format!("/link {code}")).await;
    }
    street.desk.says(&street.ann, "ann", "k1").await;
    assert_eq!(street.entries().await, (1, 0), "the first they had");

    let person = json!({ "platform": "discord", "botId": "bot-ann", "userId": "ann" });
    assert_eq!(street.by_token(&street.bob, "/manage/dm-default", &person).await.status, 204);
    street.desk.desk.stops.gate.reload_changed().await.expect("look who may be reached");
    street.desk.says(&street.ann, "ann", "k2").await;
    assert_eq!(street.entries().await, (1, 1));
    let eve = json!({ "platform": "discord", "botId": "bot-ann", "userId": "eve" });
    let refused = street.by_token(&street.bob, "/manage/dm-default", &eve).await;
    assert_eq!(slug(&refused), "not-linked");
}

#[tokio::test]
async fn a_deprovisioned_agent_is_reached_by_nobody_and_its_client_is_told_for_good() {
    let street = street().await;
    let mut gateway = street.desk.dial(&street.bob).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;

    assert_eq!(street.by_gateway(&street.bob, "/manage/deprovision", &json!({})).await.status, 204);
    assert_eq!(gateway.hear().await, Heard::Closed(4401));
    assert_eq!(street.by_gateway(&street.bob, "/manage/deprovision", &json!({})).await.status, 401);
    street.desk.says(&street.bob, "bob", "k1").await;
    assert_eq!(street.entries().await, (0, 0));
    assert_eq!(street.shown(&street.ann).await["people"][0]["userId"], "ann", "nobody else's");
}

#[tokio::test]
async fn a_bot_must_be_named_if_there_are_several() {
    let street = street().await;
    let person = json!({ "platform": "discord", "userId": "bob" });
    let several = street.by_gateway(&street.bob, "/manage/unlink", &person).await;
    assert_eq!(slug(&several), "several-bots");

    let nobodys = json!({ "platform": "telegram", "userId": "bob" });
    assert_eq!(
        slug(&street.by_gateway(&street.bob, "/manage/unlink", &nobodys).await),
        "no-such-bot"
    );
    let own = json!({ "platform": "discord", "botId": "bot-bob", "userId": "ann" });
    assert_eq!(
        slug(&street.by_gateway(&street.ann, "/manage/unlink", &own).await),
        "no-such-bot",
        "bob does not share his"
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_told_and_changes_nothing() {
    let street = street().await;
    let cases = [
        ("/manage/principal", json!({ "principal": "everybody" })),
        ("/manage/principal", json!([])),
        ("/manage/scope", json!({ "platform": "discord", "botId": "bot-ann" })),
        ("/manage/scope", json!({ "platform": "discord", "botId": "bot-ann", "chatId": "*" })),
        ("/manage/unlink", json!({ "platform": "discord" })),
        ("/relay/policy", json!({ "platform": "" })),
    ];
    for (path, body) in cases {
        let answer = street.by_token(&street.ann, path, &body).await;
        assert_eq!((answer.status, slug(&answer).as_str()), (400, "bad-request"), "{path} {body}");
    }
    assert_eq!(street.shown(&street.ann).await["scopes"], json!([]));
}

#[tokio::test]
async fn a_problem_has_a_page() {
    let street = street().await;
    let nobody = street.ask("nonsense", "/manage/link", &json!({})).await;
    let page = nobody.json()["type"].as_str().expect("a type").to_owned();

    let read = get(street.desk.address(), &page, &[]).await;
    assert_eq!(read.status, 200);
    assert!(read.text.contains("# Authentication required"), "{}", read.text);
    assert_eq!(get(street.desk.address(), "/problems/none", &[]).await.status, 404);
    assert!(street.platform.calls().is_empty());
}
