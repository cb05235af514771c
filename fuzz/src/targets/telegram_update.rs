//! Z05: every request with Telegram's secret becomes an event that can be stored, or is stored as unreadable; without
//! the secret it is rejected.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderValue};
use nightdesk_intake::verify;
use nightdesk_port::{Bot, SignedRequest};
use nightdesk_telegram::{SECRET_HEADER, Telegram, webhook_secret};
use serde_json::json;

use super::adapters::{bot, check_intake, telegram};

struct WebhookBot {
    bot: Bot,
    telegram: Telegram,
    /// Headers with the secret.
    headers: HeaderMap,
}

static WEBHOOK_BOT: LazyLock<WebhookBot> = LazyLock::new(|| {
    let bot = bot("telegram", "4242:key", json!({}));
    let secret = webhook_secret(&bot).expect("it has a key");
    let secret = secret.with(HeaderValue::from_str).expect("it is plain");
    let headers = HeaderMap::from_iter([(SECRET_HEADER.parse().expect("a name"), secret)]);
    WebhookBot { bot, telegram: telegram(), headers }
});

pub(super) fn run(body: &[u8]) {
    let WebhookBot { bot, telegram, headers } = &*WEBHOOK_BOT;
    let taken = verify(telegram, bot, &SignedRequest::post(headers, body));
    check_intake(&taken.expect("it has the secret"));
    let bare = verify(telegram, bot, &SignedRequest::post(&HeaderMap::new(), body));
    assert!(bare.is_err(), "without it, it is nothing");
}
