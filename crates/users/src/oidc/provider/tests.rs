use std::error::Error;

use serde_json::{Value, json};

use super::*;

const ISSUER: &str = "https://login.example.org";

/// A provider that answers with fixed texts, and records what it was asked.
#[derive(Default)]
struct FakeProvider {
    description: Value,
    status: u16,
    response: String,
    exchanges: Mutex<Vec<(String, Option<String>)>>,
}

#[async_trait]
impl ProviderCalls for FakeProvider {
    async fn get(&self, url: &str) -> Result<Vec<u8>, ProviderCallError> {
        assert_eq!(url, format!("{ISSUER}/.well-known/openid-configuration"));
        Ok(self.description.to_string().into_bytes())
    }

    async fn exchange(
        &self,
        url: &str,
        request: TokenRequest,
    ) -> Result<(u16, Vec<u8>), ProviderCallError> {
        assert_eq!(url, format!("{ISSUER}/token"));
        let basic = request.basic.map(|basic| basic.with(str::to_owned));
        self.exchanges.lock().unwrap().push((request.form, basic));
        Ok((self.status, self.response.clone().into_bytes()))
    }
}

struct NoKeys;

#[async_trait]
impl FetchKeys for NoKeys {
    async fn fetch(&self, _: &KeySource) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        Ok(br#"{"keys":[]}"#.to_vec())
    }
}

fn description() -> Value {
    json!({
        "issuer": ISSUER, "authorization_endpoint": format!("{ISSUER}/auth?tenant=1"),
        "token_endpoint": format!("{ISSUER}/token"), "jwks_uri": format!("{ISSUER}/jwks"),
    })
}

fn provider(fake: &Arc<FakeProvider>, client_secret: Option<&str>) -> LoginProvider {
    let settings = ProviderSettings {
        name: "acme".to_owned(),
        label: "Acme".to_owned(),
        issuer: ISSUER.to_owned(),
        client_id: "desk web".to_owned(),
        client_secret: client_secret.map(|secret| Key::new(secret.to_owned())),
        scopes: vec!["email".to_owned(), "openid".to_owned()],
        roles: RoleRules::default(),
        redirect_url: "https://desk.example.org/login/acme/callback".to_owned(),
    };
    let calls = Arc::<FakeProvider>::clone(fake);
    LoginProvider::new(settings, calls, Arc::new(NoKeys), TaskTracker::new())
}

fn fake(status: u16, response: &str) -> Arc<FakeProvider> {
    let response = response.to_owned();
    Arc::new(FakeProvider {
        description: description(),
        status,
        response,
        ..FakeProvider::default()
    })
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

#[tokio::test]
async fn the_browser_is_sent_with_the_values_of_its_login() {
    let (key, attempt) = (LoginKey::new(&[1; 32]), LoginAttempt::begin("acme", "/", now()));
    let url = provider(&fake(200, ""), None).authorization_url(&attempt, &key).await.unwrap();
    let url = Url::parse(&url).unwrap();
    let value = |name: &str| {
        let found: Vec<String> = url
            .query_pairs()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
            .collect();
        found.join("|")
    };

    assert_eq!((url.path(), value("tenant").as_str()), ("/auth", "1"));
    assert_eq!(
        (value("response_type").as_str(), value("scope").as_str()),
        ("code", "email openid")
    );
    assert_eq!(value("redirect_uri"), "https://desk.example.org/login/acme/callback");
    assert_eq!((value("state"), value("nonce")), (attempt.state(&key), attempt.nonce(&key)));
    assert_eq!(value("code_challenge"), attempt.challenge(&key));
    assert_eq!(value("code_challenge_method"), "S256");
    assert!(!url.as_str().contains(&attempt.verifier(&key)), "only the desk knows the verifier");
}

#[tokio::test]
async fn a_code_is_exchanged_with_the_verifier_and_the_secret_of_the_desk() {
    let (key, attempt) = (LoginKey::new(&[1; 32]), LoginAttempt::begin("acme", "/", now()));
    let fake = fake(200, r#"{"id_token":"not a token"}"#);
    for secret in [Some("a b%"), None] {
        let finished = provider(&fake, secret).finish(&attempt, &key, "c&d", now()).await;
        assert!(matches!(finished, Err(LoginError::Refused)), "{finished:?}");
    }

    let exchanges = fake.exchanges.lock().unwrap();
    let (form, basic) = &exchanges[0];
    assert_eq!(basic.as_deref(), Some("desk+web:a+b%25"));
    assert!(form.contains("code=c%26d") && !form.contains("client_id"), "{form}");
    assert!(form.contains(&format!("code_verifier={}", attempt.verifier(&key))), "{form}");
    let (form, basic) = &exchanges[1];
    assert!(basic.is_none() && form.contains("client_id=desk+web"), "{form}");
}

#[tokio::test]
async fn a_provider_that_does_not_conform_is_refused() {
    let (key, attempt) = (LoginKey::new(&[1; 32]), LoginAttempt::begin("acme", "/", now()));
    let mut description = description();
    description["issuer"] = json!("https://evil.example");
    let posing = Arc::new(FakeProvider { description, ..FakeProvider::default() });
    let url = provider(&posing, None).authorization_url(&attempt, &key).await;
    assert!(matches!(url, Err(LoginError::Provider(_))), "{url:?}");

    for (status, response) in [(200, "{}"), (200, "<html>"), (500, "{}")] {
        let finished =
            provider(&fake(status, response), None).finish(&attempt, &key, "c", now()).await;
        assert!(matches!(finished, Err(LoginError::Provider(_))), "{response}: {finished:?}");
    }
}

#[tokio::test]
async fn a_code_that_the_provider_refuses_is_no_fault_of_the_provider() {
    let (key, attempt) = (LoginKey::new(&[1; 32]), LoginAttempt::begin("acme", "/", now()));
    for status in [400, 401] {
        let refusing = fake(status, r#"{"error":"invalid_grant"}"#);
        let finished = provider(&refusing, None).finish(&attempt, &key, "c", now()).await;
        assert!(matches!(finished, Err(LoginError::Refused)), "{status}: {finished:?}");
    }
}
