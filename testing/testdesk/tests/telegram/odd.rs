//! Tests Z05 on a whole desk: any body with the secret is accepted, and an unreadable one is quarantined.

use std::num::NonZeroU32;

use nightdesk_desk::inbound::WebhookResponse;
use nightdesk_port::{Entrance, Receive, RequestContent, SignedRequest};
use nightdesk_types::Event;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Handle;

use super::presses::press;
use super::*;

const CASES: u32 = 10_000;

/// Generates an update as Telegram sends it.
fn update() -> impl Strategy<Value = Vec<u8>> {
    let update = (any::<i64>(), 0..3_i64, any::<u32>(), ".{0,40}", 0..6_usize);
    update.prop_map(|(number, person, id, text, kind)| {
        let from = json!({ "id": ANN + person, "is_bot": false, "first_name": "Ann" });
        let chat = json!({ "id": ANN + person, "type": "private" });
        let message =
            json!({ "message_id": id, "date": 1, "chat": chat, "from": from, "text": text });
        let what = match kind {
            0 => json!({ "edited_message": message }),
            1 => press(&id.to_string()),
            2 => json!({ "something_of_next_year": message }),
            _ => json!({ "message": message }),
        };
        let mut update = what;
        update["update_id"] = json!(number);
        update.to_string().into_bytes()
    })
}

/// Generates any bytes, an update, or an update with some changed bytes.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let bent = (update(), prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4));
    let bent = bent.prop_map(|(mut body, others)| {
        for (at, byte) in others {
            let at = at.index(body.len());
            body[at] = byte;
        }
        body
    });
    prop_oneof![1 => prop::collection::vec(any::<u8>(), 0..200), 2 => update(), 3 => bent]
}

/// Returns true if the request is readable.
fn is_readable(
    telegram: &Telegram,
    bot: &nightdesk_port::Bot,
    request: &SignedRequest<'_>,
) -> bool {
    let received = telegram.receive(bot, request).expect("it is authentic");
    let RequestContent::Events(events) = received else { unreachable!("Telegram asks nothing") };
    events.into_iter().all(|draft| draft.is_ok_and(|draft| Event::normalise(draft).is_ok()))
}

// Z05
#[tokio::test(flavor = "multi_thread")]
async fn whatever_telegram_posts_is_taken_or_set_aside() {
    // More than a platform may post.
    let rates = RateSettings { webhooks_per_second: NonZeroU32::MAX, ..RateSettings::default() };
    let stage = stage_limited(json!({ "updates": "webhook" }), rates).await;
    let account = stage.desk.desk.stops.accounts.find_by_id(stage.bot).await.expect("find the bot");
    let bot = account.expect("it was entered").bot;
    let clock = Arc::new(SystemClock::start());
    let telegram = Telegram::open(&stage.fake.url(), clock).expect("an address");
    let secret = webhook_secret(&bot).expect("it has a key");
    let secret = secret.with(|secret| secret.parse().expect("a header"));
    let headers = http::HeaderMap::from_iter([(SECRET_HEADER.parse().expect("a name"), secret)]);

    let runtime = Handle::current();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    let outcome = tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&body(), |body| {
            let request = SignedRequest::post(&headers, &body);
            let taken = stage.desk.desk.inbound.take(Entrance::Hook, &stage.path, &request);
            let taken = runtime.block_on(taken);
            prop_assert!(matches!(taken, Ok(WebhookResponse::Taken { .. })), "{:?}", taken);
            if !is_readable(&telegram, &bot, &request) {
                let aside = stage.desk.store.quarantined(stage.household.scope, stage.bot);
                prop_assert_eq!(&aside.last().expect("it is set aside").body, &body);
            }
            Ok(())
        })
    });
    assert!(outcome.is_ok(), "{outcome:?}");
    let (entries, aside) =
        (stage.entries().await, stage.desk.store.quarantined(stage.household.scope, stage.bot));
    assert!(entries > 100 && !aside.is_empty(), "{entries} were stored");
}
