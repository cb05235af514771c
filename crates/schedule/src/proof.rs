//! Verifies that a due-job request comes from a scheduler of the operator.
//!
//! Two forms use the same secrets: a signature over time and body, and a token that contains the hash of the body.
//! Several secrets are valid at a time, so the operator can replace one while jobs are due.

use std::fmt;

use aws_lc_rs::{digest, hmac};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use nightdesk_types::Timestamp;
use nightdesk_types::limits::{RELAY_SECRET_BYTES_MIN, RELAY_SECRETS_MAX, RELAY_SIGNED_WITHIN};
use secrecy::{ExposeSecret, SecretSlice};
use serde::Deserialize;

/// A form of proof of the caller.
pub trait RelayProof: Send + Sync {
    /// Returns the name of the header that holds the proof.
    fn header(&self) -> &'static str;

    /// Returns true if the header proves that an authorised caller sent this body just now.
    fn is_valid(&self, shown: &str, body: &[u8], now: Timestamp) -> bool;
}

/// The secrets that schedulers sign with.
#[derive(Clone)]
pub struct RelaySecrets(Vec<SecretSlice<u8>>);

impl fmt::Debug for RelaySecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

/// The reason why a list of secrets is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RelaySecretsError {
    /// A secret is so short that it could be guessed.
    #[error("a secret must have at least {RELAY_SECRET_BYTES_MIN} bytes")]
    Short,
    /// There are too many secrets.
    #[error("at most {RELAY_SECRETS_MAX} secrets are valid at a time; remove the oldest")]
    Many,
    /// There is no secret.
    #[error("there is no secret; write one per line")]
    None,
}

impl RelaySecrets {
    /// Parses secrets, one per line. All of them are valid.
    pub fn parse(text: &str) -> Result<Self, RelaySecretsError> {
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if lines.iter().any(|line| line.len() < RELAY_SECRET_BYTES_MIN) {
            return Err(RelaySecretsError::Short);
        }
        match lines.len() {
            0 => Err(RelaySecretsError::None),
            1..=RELAY_SECRETS_MAX => {
                Ok(Self(lines.iter().map(|line| line.as_bytes().to_vec().into()).collect()))
            }
            _ => Err(RelaySecretsError::Many),
        }
    }

    fn any_fits(&self, fits: impl Fn(&[u8]) -> bool) -> bool {
        // All secrets are tried, so the duration does not show which one fits.
        self.0.iter().fold(false, |found, secret| fits(secret.expose_secret()) | found)
    }
}

/// `t=SECONDS,v1=HEX`: an HMAC-SHA256 over `SECONDS.BODY`. There may be several `v1` while a secret is replaced.
#[derive(Clone, Debug)]
pub struct HmacProof(pub RelaySecrets);

impl RelayProof for HmacProof {
    fn header(&self) -> &'static str {
        "nightdesk-signature"
    }

    fn is_valid(&self, shown: &str, body: &[u8], now: Timestamp) -> bool {
        let parts = || shown.split(',').filter_map(|part| part.trim().split_once('='));
        let of = |name| parts().filter(move |(key, _)| *key == name).map(|(_, value)| value);
        let Some(seconds) = of("t").next().and_then(|text| text.parse::<i64>().ok()) else {
            return false;
        };
        let signed = [seconds.to_string().as_bytes(), b".", body].concat();
        let signatures: Vec<Vec<u8>> =
            of("v1").take(RELAY_SECRETS_MAX).filter_map(|text| hex::decode(text).ok()).collect();
        is_now(seconds, now)
            && self.0.any_fits(|secret| {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
                signatures.iter().any(|signature| hmac::verify(&key, &signed, signature).is_ok())
            })
    }
}

/// An HS256 token with the SHA-256 of the body and the recipient: `body`, `sub`, `iat`, `exp`.
#[derive(Clone, Debug)]
pub struct JwtProof {
    /// The secrets of the signers.
    pub secrets: RelaySecrets,
    /// The recipient: the URL at which the desk accepts due jobs.
    pub url: String,
}

#[derive(Deserialize)]
struct RelayTokenClaims {
    sub: String,
    iat: i64,
    exp: i64,
    body: String,
}

impl JwtProof {
    fn fits(&self, claims: &RelayTokenClaims, body: &[u8], now: Timestamp) -> bool {
        let hash = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, body));
        let RelayTokenClaims { sub, iat, exp, body } = claims;
        *sub == self.url
            && body.trim_end_matches('=') == hash
            && is_now(*iat, now)
            && *exp > now.as_second()
    }
}

impl RelayProof for JwtProof {
    fn header(&self) -> &'static str {
        "nightdesk-relay-token"
    }

    fn is_valid(&self, shown: &str, body: &[u8], now: Timestamp) -> bool {
        let mut validation = Validation::new(Algorithm::HS256);
        // The expiry is checked against `now`, not against the clock that the library reads.
        validation.validate_exp = false;
        validation.required_spec_claims.clear();
        self.secrets.any_fits(|secret| {
            let decoded =
                decode::<RelayTokenClaims>(shown, &DecodingKey::from_secret(secret), &validation);
            decoded.is_ok_and(|token| self.fits(&token.claims, body, now))
        })
    }
}

fn is_now(seconds: i64, now: Timestamp) -> bool {
    seconds.abs_diff(now.as_second()) <= RELAY_SIGNED_WITHIN.as_secs()
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{EncodingKey, Header, encode};
    use serde_json::{Value, json};

    use super::*;

    const OLD: &str = "an old secret of thirty-two bytes!";
    const NEW: &str = "a new secret of thirty-two bytes!!";
    const OTHER: &str = "someone else's, also of 32 bytes..";
    const BODY: &[u8] = br#"{"job_id":"j"}"#;
    const URL: &str = "https://desk.example/api/agent-cron/relay";
    const AT: i64 = 1_790_000_000;

    fn now() -> Timestamp {
        Timestamp::from_second(AT).unwrap()
    }

    fn secrets() -> RelaySecrets {
        RelaySecrets::parse(&format!("{NEW}\n\n {OLD} \n")).unwrap()
    }

    fn signed(secret: &str, seconds: i64, body: &[u8]) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let text = [seconds.to_string().as_bytes(), b".", body].concat();
        hex::encode(hmac::sign(&key, &text))
    }

    fn hmac_holds(shown: &str) -> bool {
        HmacProof(secrets()).is_valid(shown, BODY, now())
    }

    #[test]
    fn a_signature_of_any_secret_of_ours_holds_while_it_is_new() {
        for secret in [OLD, NEW] {
            for seconds in [AT - 300, AT, AT + 300] {
                let v1 = signed(secret, seconds, BODY);
                assert!(hmac_holds(&format!("t={seconds},v1={v1}")), "{secret} {seconds}");
                assert!(
                    hmac_holds(&format!("t={seconds}, v1=00, v1={v1}")),
                    "while one is replaced"
                );
            }
        }
    }

    #[test]
    fn whatever_is_not_signed_just_now_over_this_body_by_one_of_ours_does_not_hold() {
        let v1 = signed(NEW, AT, BODY);
        let late = signed(NEW, AT - 301, BODY);
        let early = signed(NEW, AT + 301, BODY);
        let other_body = signed(NEW, AT, b"{}");
        for shown in [
            String::new(),
            format!("v1={v1}"),
            format!("t={AT}"),
            format!("t={AT},v1="),
            format!("t={AT},v1={}", &v1[..62]),
            format!("t={},v1={v1}", AT - 1),
            format!("t=x,v1={v1}"),
            format!("t={AT},v0={v1}"),
            format!("t={},v1={late}", AT - 301),
            format!("t={},v1={early}", AT + 301),
            format!("t={AT},v1={other_body}"),
            format!("t={AT},v1={}", signed(OTHER, AT, BODY)),
        ] {
            assert!(!hmac_holds(&shown), "{shown}");
        }
    }

    fn claims() -> Value {
        let hash = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, BODY));
        json!({ "iss": "x", "sub": URL, "iat": AT, "exp": AT + 60, "body": hash })
    }

    fn token(secret: &str, algorithm: Algorithm, claims: &Value) -> String {
        let key = EncodingKey::from_secret(secret.as_bytes());
        encode(&Header::new(algorithm), claims, &key).unwrap()
    }

    fn jwt_holds(shown: &str) -> bool {
        JwtProof { secrets: secrets(), url: URL.to_owned() }.is_valid(shown, BODY, now())
    }

    #[test]
    fn a_token_of_any_secret_of_ours_holds_for_this_body_and_desk() {
        for secret in [OLD, NEW] {
            assert!(jwt_holds(&token(secret, Algorithm::HS256, &claims())));
        }
    }

    #[test]
    fn a_token_with_anything_amiss_does_not_hold() {
        let changed = |key: &str, value: Value| {
            let mut claims = claims();
            claims[key] = value;
            token(NEW, Algorithm::HS256, &claims)
        };
        let mut unhashed = claims();
        unhashed.as_object_mut().unwrap().remove("body");
        for shown in [
            String::new(),
            "a.b.c".to_owned(),
            token(OTHER, Algorithm::HS256, &claims()),
            token(NEW, Algorithm::HS384, &claims()),
            token(NEW, Algorithm::HS256, &unhashed),
            changed("sub", json!("https://other.example/api/agent-cron/relay")),
            changed("body", json!("")),
            changed("iat", json!(AT - 301)),
            changed("exp", json!(AT)),
            changed("exp", json!("soon")),
        ] {
            assert!(!jwt_holds(&shown), "{shown}");
        }
    }

    #[test]
    fn secrets_are_long_and_few() {
        assert_eq!(RelaySecrets::parse("").unwrap_err(), RelaySecretsError::None);
        assert_eq!(RelaySecrets::parse("short").unwrap_err(), RelaySecretsError::Short);
        let many = format!("{NEW}\n").repeat(RELAY_SECRETS_MAX + 1);
        assert_eq!(RelaySecrets::parse(&many).unwrap_err(), RelaySecretsError::Many);
        assert!(!format!("{:?}", secrets()).contains("secret of"));
    }
}
