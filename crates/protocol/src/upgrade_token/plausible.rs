//! The checks of a token before its secrets are loaded.

use nightdesk_types::Timestamp;
use nightdesk_types::limits::{TOKEN_AHEAD_SECS_MAX, TOKEN_PAST_SECS_MAX};

use super::UpgradeToken;

/// A token with a possible gateway name and a plausible time. Only its signature is not verified.
#[derive(Debug)]
pub struct PlausibleToken(UpgradeToken);

impl PlausibleToken {
    /// Returns the gateway that it names.
    pub fn gateway(&self) -> &str {
        self.0.gateway()
    }

    /// Returns the index of the secret that signed it.
    pub fn signed_by(&self, secrets: &[impl AsRef<[u8]>]) -> Option<usize> {
        self.0.signed_by(secrets)
    }
}

/// The reason why a token is refused before its signature is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    /// No gateway can have this name.
    #[error("token names no possible gateway")]
    OddGateway,
    /// A finder of the token could use it for ever.
    #[error("token never expires")]
    NeverExpires,
    /// It has expired, even by a slow clock.
    #[error("token has expired")]
    Expired,
    /// No client makes a token that lasts so long, even by a fast clock.
    #[error("token expires too far ahead")]
    TooFarAhead,
}

pub(super) fn check(token: UpgradeToken, now: Timestamp) -> Result<PlausibleToken, TokenRefusal> {
    if !is_gateway_name(&token.gateway) {
        return Err(TokenRefusal::OddGateway);
    }
    if token.expires_at == 0 {
        return Err(TokenRefusal::NeverExpires);
    }
    if token.expires_at < now.as_second() - TOKEN_PAST_SECS_MAX {
        return Err(TokenRefusal::Expired);
    }
    if token.expires_at > now.as_second() + TOKEN_AHEAD_SECS_MAX {
        return Err(TokenRefusal::TooFarAhead);
    }
    Ok(PlausibleToken(token))
}

/// Returns true if a gateway may have this name: `[A-Za-z0-9_.-]{1,64}`.
pub fn is_gateway_name(name: &str) -> bool {
    const GATEWAY_NAME_BYTES_MAX: usize = 64;
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
    (1..=GATEWAY_NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::upgrade_token::{UPGRADE_TTL_SECS, make};

    const NOW: i64 = 1_800_000_000;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn shown(gateway: &str, ttl_secs: i64, minted_at: i64) -> Result<PlausibleToken, TokenRefusal> {
        let token = make(gateway, b"secret", ttl_secs, at(minted_at));
        UpgradeToken::peek(token.expose()).unwrap().at_the_door(at(NOW))
    }

    #[test]
    fn the_door_opens_between_its_limits() {
        let expiring = |expires_at| shown("gw-1", 1, expires_at - 1).map(|_| ());
        let cases = [
            (NOW - TOKEN_PAST_SECS_MAX - 1, Err(TokenRefusal::Expired)),
            (NOW - TOKEN_PAST_SECS_MAX, Ok(())),
            (NOW, Ok(())),
            (NOW + TOKEN_AHEAD_SECS_MAX, Ok(())),
            (NOW + TOKEN_AHEAD_SECS_MAX + 1, Err(TokenRefusal::TooFarAhead)),
        ];
        for (expires_at, want) in cases {
            assert_eq!(expiring(expires_at), want, "{expires_at}");
        }
        assert_eq!(shown("gw-1", 0, NOW).unwrap_err(), TokenRefusal::NeverExpires);
    }

    #[test]
    fn a_gateway_has_a_plain_name() {
        let cases = [
            ("gw-host_1.local", true),
            (&"x".repeat(64), true),
            (&"x".repeat(65), false),
            ("", false),
            ("tenant:gw", false),
            ("gw 1", false),
            ("gw\n", false),
            ("шлюз", false),
        ];
        for (name, want) in cases {
            assert_eq!(is_gateway_name(name), want, "{name}");
            assert_eq!(shown(name, UPGRADE_TTL_SECS, NOW).is_ok(), want, "{name}");
        }
    }

    #[test]
    fn the_secret_that_signed_is_named() {
        let token = shown("gw-1", UPGRADE_TTL_SECS, NOW).unwrap();

        assert_eq!(token.signed_by(&["", "other", "secret"]), Some(2));
        assert_eq!(token.signed_by(&[b"other".as_slice()]), None);
        assert_eq!(token.signed_by(&[] as &[&str]), None);
    }

    #[test]
    fn a_secret_that_was_never_set_signs_nothing() {
        let token = make("gw-1", b"", UPGRADE_TTL_SECS, at(NOW));
        let token = UpgradeToken::peek(token.expose()).unwrap();

        assert_eq!(token.verify(&["", "secret"], at(NOW)), None);
    }

    #[test]
    fn nothing_of_a_signature_is_shown() {
        let token = make("gw-1", b"secret", UPGRADE_TTL_SECS, at(NOW));
        let read = UpgradeToken::peek(token.expose()).unwrap();

        assert_eq!(format!("{token:?}"), "Secret(…)");
        assert_eq!(format!("{read:?}"), "UpgradeToken(\"gw-1\", expires at 1800000300)");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        // Q13: with any clock skew of up to ten minutes either way, the check admits exactly the valid tokens.
        #[test]
        fn the_door_opens_to_whom_it_should(
            skew_secs in -600_i64..=600,
            ttl_secs in prop_oneof![Just(UPGRADE_TTL_SECS), -5_i64..1_200],
            gateway in prop_oneof!["[A-Za-z0-9_.-]{1,5}", "[a:é /-]{0,3}"],
            secret in prop::sample::select(vec!["secret", "older", "stranger"]),
        ) {
            let token = make(&gateway, secret.as_bytes(), ttl_secs, at(NOW + skew_secs));
            let token = UpgradeToken::peek(token.expose()).unwrap();
            let let_in = token
                .at_the_door(at(NOW))
                .ok()
                .and_then(|token| token.signed_by(&["secret", "older"]));

            let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            let named = (1..=64).contains(&gateway.len()) && gateway.chars().all(plain);
            let in_time = ttl_secs > 0 && (-60..=660).contains(&(skew_secs + ttl_secs));
            let known = ["secret", "older"].iter().position(|known| *known == secret);
            prop_assert_eq!(let_in, known.filter(|_| named && in_time));
        }
    }
}
