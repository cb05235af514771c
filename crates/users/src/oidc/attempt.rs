//! One login, from the redirect to the provider to the callback.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::{digest, hmac};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nightdesk_register::new_secret;
use nightdesk_types::Timestamp;
use nightdesk_types::limits::LOGIN_ATTEMPT_LIFE;

/// Longest path to which a login returns.
const RETURN_PATH_BYTES_MAX: usize = 512;

/// A secret that all nodes share. The values of a login are derived from it and from the login's cookie.
pub struct LoginKey(hmac::Key);

nightdesk_types::opaque_debug!(LoginKey);

impl LoginKey {
    /// Makes the key from a secret of the desk.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    fn derive(&self, purpose: &str, text: &str) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        for part in [purpose, "\0", text] {
            context.update(part.as_bytes());
        }
        URL_SAFE_NO_PAD.encode(context.sign())
    }
}

/// A login that a browser began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginAttempt {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The path on the desk to which the browser returns.
    pub return_to: String,
    expires_at: i64,
    random: String,
}

impl LoginAttempt {
    /// Begins a login at a provider. A `return_to` that is no path of the desk becomes the front page.
    pub fn begin(provider: &str, return_to: &str, now: Timestamp) -> Self {
        let life = i64::try_from(LOGIN_ATTEMPT_LIFE.as_secs()).unwrap_or(0);
        Self {
            provider: provider.to_owned(),
            return_to: local_path(return_to).to_owned(),
            expires_at: now.as_second() + life,
            random: new_secret().with(str::to_owned),
        }
    }

    /// Returns the cookie by which the browser is recognised at the callback.
    pub fn cookie(&self, key: &LoginKey) -> String {
        let text = self.text();
        format!("{text}.{}", key.derive("cookie", &text))
    }

    /// Reads a cookie. `None`: this desk did not make it, or the login took too long.
    pub fn from_cookie(cookie: &str, key: &LoginKey, now: Timestamp) -> Option<Self> {
        let (text, mac) = cookie.rsplit_once('.')?;
        if !is_equal(mac, &key.derive("cookie", text)) {
            return None;
        }
        let mut parts = text.split('.');
        let [random, expires_at, provider, return_to] = std::array::from_fn(|_| parts.next());
        let decoded = |part: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(part).ok()?).ok();
        let attempt = Self {
            provider: decoded(provider?)?,
            return_to: decoded(return_to?)?,
            expires_at: expires_at?.parse().ok()?,
            random: random?.to_owned(),
        };
        (now.as_second() < attempt.expires_at).then_some(attempt)
    }

    /// Returns the `state` of the authorization request.
    pub fn state(&self, key: &LoginKey) -> String {
        key.derive("state", &self.text())
    }

    /// Returns true if the provider of this name sent the browser back with the `state` of this login.
    pub fn is_of(&self, provider: &str, state: &str, key: &LoginKey) -> bool {
        self.provider == provider && is_equal(state, &self.state(key))
    }

    /// Returns the `nonce` that the ID token must carry.
    pub fn nonce(&self, key: &LoginKey) -> String {
        key.derive("nonce", &self.text())
    }

    /// Returns the PKCE verifier, which only this desk can derive.
    pub fn verifier(&self, key: &LoginKey) -> String {
        key.derive("verifier", &self.text())
    }

    /// Returns the PKCE challenge of the verifier, by the method S256.
    pub fn challenge(&self, key: &LoginKey) -> String {
        let verifier = self.verifier(key);
        URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.as_bytes()))
    }

    fn text(&self) -> String {
        let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let Self { provider, return_to, expires_at, random } = self;
        format!("{random}.{expires_at}.{}.{}", encoded(provider), encoded(return_to))
    }
}

fn is_equal(one: &str, other: &str) -> bool {
    verify_slices_are_equal(one.as_bytes(), other.as_bytes()).is_ok()
}

/// Returns a path of the desk, or the front page: a login must not end on another site.
pub fn local_path(path: &str) -> &str {
    let is_local = path.starts_with('/')
        && !path.starts_with("//")
        && path.len() <= RETURN_PATH_BYTES_MAX
        && path.chars().all(|c| c.is_ascii_graphic() && c != '\\');
    if is_local { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn key() -> LoginKey {
        LoginKey::new(&[7; 32])
    }

    #[test]
    fn a_cookie_returns_its_login_until_the_time_is_over() {
        let attempt = LoginAttempt::begin("acme sso", "/agents?page=2", at(0));
        let cookie = attempt.cookie(&key());

        assert_eq!(LoginAttempt::from_cookie(&cookie, &key(), at(599)), Some(attempt));
        assert_eq!(LoginAttempt::from_cookie(&cookie, &key(), at(600)), None);
        assert_eq!(LoginAttempt::from_cookie(&cookie, &LoginKey::new(&[8; 32]), at(1)), None);
        let changed = cookie.replacen('.', "0.", 1);
        for bad in ["", ".", "a.b", &changed, &cookie[1..]] {
            assert_eq!(LoginAttempt::from_cookie(bad, &key(), at(1)), None, "{bad}");
        }
    }

    #[test]
    fn each_login_has_values_of_its_own() {
        let (one, other) =
            (LoginAttempt::begin("a", "/", at(0)), LoginAttempt::begin("a", "/", at(0)));
        let values = |attempt: &LoginAttempt| {
            [attempt.state(&key()), attempt.nonce(&key()), attempt.verifier(&key())]
        };
        let all: std::collections::BTreeSet<String> =
            values(&one).into_iter().chain(values(&other)).collect();
        assert_eq!(all.len(), 6);
        let is_of = |provider, state: &str| one.is_of(provider, state, &key());
        assert!(is_of("a", &one.state(&key())) && !is_of("b", &one.state(&key())));
        assert!(!is_of("a", &other.state(&key())) && !is_of("a", ""));
        assert!((43..=128).contains(&one.verifier(&key()).len()), "RFC 7636, section 4.1");
    }

    #[test]
    fn a_login_returns_to_the_desk_only() {
        for path in ["/", "/agents/1?tab=wakes", "/a//b"] {
            assert_eq!(local_path(path), path);
        }
        let long = format!("/{}", "a".repeat(RETURN_PATH_BYTES_MAX));
        for elsewhere in [
            "",
            "agents",
            "//evil.test",
            "https://evil.test",
            "/\\evil.test",
            "/a b",
            "/a\n",
            &long,
        ] {
            assert_eq!(local_path(elsewhere), "/", "{elsewhere}");
        }
    }
}
