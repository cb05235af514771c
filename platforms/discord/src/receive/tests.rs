use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use http::HeaderMap;
use nightdesk_testkit::FakeClock;
use nightdesk_types::Clock;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::tests::{bot, discord_with};

const COMMAND_BODY: &str = include_str!("../../fixtures/command_guild.json");
const TOKEN: &str = "canary-interaction-token";

struct Stage {
    clock: FakeClock,
    discord: Discord,
    keys: Ed25519KeyPair,
    bot: Bot,
}

fn stage() -> Stage {
    let clock = FakeClock::default();
    let keys = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let mut bot = bot();
    bot.settings["public_key"] = hex::encode(keys.public_key().as_ref()).into();
    Stage { discord: discord_with(Arc::new(clock.clone())), clock, keys, bot }
}

impl Stage {
    fn now(&self) -> String {
        self.clock.now().as_second().to_string()
    }

    fn sign(&self, at: &str, body: &[u8]) -> Vec<u8> {
        self.keys.sign(&[at.as_bytes(), body].concat()).as_ref().to_vec()
    }

    fn receive(
        &self,
        at: &str,
        signature: &[u8],
        body: &[u8],
    ) -> Result<RequestContent, ReceiveError> {
        self.receive_with(
            &[(TIMESTAMP_HEADER, at), (SIGNATURE_HEADER, &hex::encode(signature))],
            body,
        )
    }

    fn receive_with(
        &self,
        shown: &[(&str, &str)],
        body: &[u8],
    ) -> Result<RequestContent, ReceiveError> {
        let mut headers = HeaderMap::new();
        for (name, value) in shown {
            let name: http::HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        self.discord.receive(&self.bot, &SignedRequest::post(&headers, body))
    }

    /// Receives a body that is signed now.
    fn signed(&self, body: &[u8]) -> Result<RequestContent, ReceiveError> {
        self.receive(&self.now(), &self.sign(&self.now(), body), body)
    }
}

/// Returns a fixture's data as Discord posts it.
fn posted(fixture: &str) -> Vec<u8> {
    let fixture: Value = serde_json::from_str(fixture).unwrap();
    fixture["d"].to_string().into_bytes()
}

#[test]
fn a_ping_is_answered() {
    let Ok(RequestContent::Challenge(answer)) = stage().signed(br#"{"type":1}"#) else { panic!() };
    assert_eq!(answer, WebhookAnswer::json(r#"{"type":1}"#));
}

#[test]
fn a_command_bears_its_token_and_its_event_no_part_of_it() {
    let body = posted(COMMAND_BODY);
    let Ok(RequestContent::Bearing(draft, lent)) = stage().signed(&body) else { panic!() };

    assert_eq!(lent.kind, "discord.interaction_token");
    assert!(lent.secret.with(|token| token == TOKEN));
    assert!(lent.good_for < Duration::from_mins(15));
    let event = serde_json::to_string(&draft).unwrap();
    assert!(!event.contains("canary"), "{event}");
    assert!(!format!("{lent:?}").contains("canary"));
}

// T01
#[test]
fn of_what_is_not_signed_nothing_is_read() {
    let stage = stage();
    let (at, body) = (stage.now(), posted(COMMAND_BODY));
    let signature = stage.sign(&at, &body);
    let bits = (at.len() + signature.len() + body.len()) * 8;
    for flip in 0..10_000 {
        // All bits of the time and the signature, and those of the body up to the loop's limit.
        let bit = flip % bits;
        let (mut at, mut signature, mut body) =
            (at.clone().into_bytes(), signature.clone(), body.clone());
        let (at_bits, signature_bits) = (at.len() * 8, signature.len() * 8);
        let (bytes, bit) = match bit {
            bit if bit < at_bits => (&mut at, bit),
            bit if bit < at_bits + signature_bits => (&mut signature, bit - at_bits),
            bit => (&mut body, bit - at_bits - signature_bits),
        };
        bytes[bit / 8] ^= 1 << (bit % 8);
        // A header cannot contain such bytes.
        let Ok(at) = String::from_utf8(at) else { continue };
        if at.bytes().any(|b| b.is_ascii_control()) {
            continue;
        }
        let got = stage.receive(&at, &signature, &body);
        assert_eq!(got.unwrap_err(), ReceiveError::BadSignature, "{flip}");
    }
    assert_eq!(stage.discord.reads.so_far(), 0);
    stage.receive(&at, &signature, &body).unwrap();
    assert_eq!(stage.discord.reads.so_far(), 1, "the counter counts");
}

// T02
#[test]
fn what_is_old_or_ahead_is_not_taken() {
    let stage = stage();
    let now = stage.clock.now().as_second();
    for (away, is_taken) in [(0, true), (-300, true), (300, true), (-301, false), (301, false)] {
        let at = (now + away).to_string();
        let body = br#"{"type":1}"#;
        let got = stage.receive(&at, &stage.sign(&at, body), body);
        assert_eq!(got.is_ok(), is_taken, "{away}");
    }
    for at in ["", "now", "-5", "+5", "1e9", " 1795003200"] {
        assert!(stage.receive(at, &stage.sign(at, b"{}"), b"{}").is_err(), "{at}");
    }
}

/// The order of the group. Added to `s`, it gives another encoding of the same signature.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

#[test]
fn a_signature_has_one_way_to_be_written() {
    let stage = stage();
    let (at, body) = (stage.now(), br#"{"type":1}"#);
    let mut signature = stage.sign(&at, body);
    let mut carry = 0;
    for (byte, order) in signature[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        (*byte, carry) = (sum.to_le_bytes()[0], sum >> 8);
    }
    assert!(stage.receive(&at, &signature, body).is_err());
}

#[test]
fn a_key_that_fits_everything_fits_nothing() {
    // With the neutral point as key and nonce, and zero as `s`, any message would be valid.
    for key in ["01", "00", "ec", "ed", "ee"] {
        let mut stage = stage();
        let (middle, last) = if key.starts_with('e') { ("ff", "7f") } else { ("00", "00") };
        let key = format!("{key}{}{last}", middle.repeat(30));
        stage.bot.settings["public_key"] = key.clone().into();
        let forged = hex::decode(format!("{key}{}", "00".repeat(32))).unwrap();
        assert!(stage.receive(&stage.now(), &forged, br#"{"type":1}"#).is_err(), "{key}");
    }
}

#[test]
fn headers_that_are_missing_or_doubled_are_refused() {
    let stage = stage();
    let (at, body) = (stage.now(), br#"{"type":1}"#);
    let good = hex::encode(stage.sign(&at, body));
    let cases: [(&str, &[(&str, &str)]); 5] = [
        ("no time", &[(SIGNATURE_HEADER, &good)]),
        ("no signature", &[(TIMESTAMP_HEADER, &at)]),
        ("cut short", &[(TIMESTAMP_HEADER, &at), (SIGNATURE_HEADER, &good[..126])]),
        (
            "two times",
            &[(TIMESTAMP_HEADER, &at), (TIMESTAMP_HEADER, &at), (SIGNATURE_HEADER, &good)],
        ),
        (
            "two signatures",
            &[(TIMESTAMP_HEADER, &at), (SIGNATURE_HEADER, &good), (SIGNATURE_HEADER, &good)],
        ),
    ];
    for (name, shown) in cases {
        assert!(stage.receive_with(shown, body).is_err(), "{name}");
    }
    let keyless = Stage { bot: bot(), ..stage };
    assert!(keyless.signed(body).is_err(), "a bot without a public key");
}

#[test]
fn what_is_authentic_and_unreadable_is_said_to_be() {
    let Ok(RequestContent::Events(events)) = stage().signed(b"not json") else { panic!() };
    assert_eq!(events, [Err(ReceiveError::Unreadable)]);
}

#[test]
fn it_is_answered_as_it_was_taken() {
    let headers = HeaderMap::new();
    let told = |kind: u8, taken| {
        let body = json!({ "type": kind }).to_string();
        let request = SignedRequest::post(&headers, body.as_bytes());
        let answer = stage().discord.answer(&request, taken).unwrap();
        let told: Value = serde_json::from_slice(&answer.body).unwrap();
        (told["type"].as_u64().unwrap(), told["data"]["flags"].as_u64())
    };
    assert_eq!(told(COMMAND, ReceiveOutcome::Kept), (5, None));
    assert_eq!(told(BUTTON, ReceiveOutcome::Kept), (6, None));
    for kind in [COMMAND, BUTTON] {
        for taken in [ReceiveOutcome::Refused, ReceiveOutcome::NotKept] {
            assert_eq!(
                told(kind, taken),
                (4, Some(64)),
                "one person is told, and nothing is promised"
            );
        }
    }
}

// T09: the signed bytes are the bytes that are read, in one way.
#[test]
fn an_interaction_that_parsers_read_differently_is_unreadable() {
    let stage = stage();
    let body = String::from_utf8(posted(COMMAND_BODY)).unwrap();
    let cases = [
        ("a ping for one reader", r#"{"type":1,"type":2}"#.to_owned()),
        ("a ping for the other", r#"{"type":2,"type":1}"#.to_owned()),
        ("another channel", body.replacen('{', "{\"channel_id\":\"1\",", 1)),
        ("an escaped name", body.replacen('{', "{\"channel_\\u0069d\":\"1\",", 1)),
        ("in a field that is not read", body.replacen('{', "{\"new\":{\"a\":1,\"a\":2},", 1)),
        ("a byte order mark", format!("\u{feff}{body}")),
        ("a lone surrogate", body.replacen('{', "{\"new\":\"\\ud800\",", 1)),
    ];
    for (name, body) in cases {
        let Ok(RequestContent::Events(events)) = stage.signed(body.as_bytes()) else {
            panic!("{name}")
        };
        assert_eq!(events, [Err(ReceiveError::Unreadable)], "{name}");
    }
    assert!(matches!(stage.signed(body.as_bytes()), Ok(RequestContent::Bearing(..))));
}
