//! Z05: every request with Telegram's secret becomes an event that can be stored, or is stored as unreadable; without
//! the secret it is rejected.
#![no_main]
#![expect(clippy::expect_used, reason = "a target that cannot set up should stop")]

use std::sync::LazyLock;

use http::{HeaderMap, HeaderValue};
use libfuzzer_sys::fuzz_target;
use nightdesk_fuzz::{bot, check, telegram};
use nightdesk_intake::verify;
use nightdesk_port::{Bot, SignedRequest};
use nightdesk_telegram::{SECRET_HEADER, Telegram, webhook_secret};
use serde_json::json;

struct Stage {
    bot: Bot,
    telegram: Telegram,
    /// Headers with the secret.
    headers: HeaderMap,
}

static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let bot = bot("telegram", "4242:key", json!({}));
    let secret = webhook_secret(&bot).expect("it has a key");
    let secret = secret.with(HeaderValue::from_str).expect("it is plain");
    let headers = HeaderMap::from_iter([(SECRET_HEADER.parse().expect("a name"), secret)]);
    Stage { bot, telegram: telegram(), headers }
});

fuzz_target!(|body: &[u8]| {
    let Stage { bot, telegram, headers } = &*STAGE;
    let taken = verify(telegram, bot, &SignedRequest { headers, body });
    check(&taken.expect("it has the secret"));
    let bare = verify(telegram, bot, &SignedRequest { headers: &HeaderMap::new(), body });
    assert!(bare.is_err(), "without it, it is nothing");
});
