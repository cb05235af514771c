//! Prints tokens of cron fires, valid and forged, and the keys to verify them, as JSON.
//!
//! `mint-fire [COUNT]` prints that many tokens, one of each kind in turn, each for a different fire. Without a count it
//! prints one of each.

use nightdesk_testkit::fire::{Between, Signer, cases};
use nightdesk_types::{Clock, SystemClock};
use serde_json::json;
use uuid::Uuid;

fn main() {
    let count: Option<usize> = std::env::args().nth(1).and_then(|count| count.parse().ok());
    let signer = Signer::default();
    let between = Between {
        issuer: "https://desk.example".to_owned(),
        audience: format!("agent:{}", Uuid::from_u128(7)),
    };
    let now = SystemClock::start().now().as_second();
    let mut tokens = Vec::new();
    for number in 1.. {
        let kinds = cases(&signer, &between, &Uuid::from_u128(number).to_string(), now);
        let wanted = count.unwrap_or(kinds.len());
        tokens.extend(kinds);
        if tokens.len() >= wanted {
            tokens.truncate(wanted);
            break;
        }
    }
    let told = |case: &nightdesk_testkit::fire::Case| json!({"name": case.name, "token": case.token, "good": case.good_for_stock});
    let tokens: Vec<_> = tokens.iter().map(told).collect();
    say(&json!({
        "issuer": between.issuer, "audience": between.audience,
        "jwks": signer.jwks(), "tokens": tokens,
    }));
}

#[expect(clippy::print_stdout, reason = "the program's purpose is its output")]
fn say(document: &serde_json::Value) {
    println!("{document}");
}
