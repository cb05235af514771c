//! Lists every way in which a token may be wrong, and a few in which it is right.

use serde_json::{Map, Value, json};

use super::{Between, By, Case, Signer, claims, header};

/// The verifiers that accept a token.
#[derive(Clone, Copy)]
enum Convinces {
    Both,
    /// Only the stock client, which does not check this.
    StockAlone,
    Nobody,
}

use Convinces::{Both, Nobody, StockAlone};

struct Table<'a> {
    signer: &'a Signer,
    between: &'a Between,
    fire_id: &'a str,
    now_secs: i64,
    cases: Vec<Case>,
}

/// Returns every case, each for this fire.
pub fn cases(signer: &Signer, between: &Between, fire_id: &str, now_secs: i64) -> Vec<Case> {
    let mut table = Table { signer, between, fire_id, now_secs, cases: Vec::new() };
    table.by_whom();
    table.by_header();
    table.for_whom();
    table.when();
    table.by_type();
    table.by_shape();
    table.cases
}

impl Table<'_> {
    fn add(&mut self, name: &'static str, convinces: Convinces, token: String) {
        let (good, good_for_stock) = match convinces {
            Both => (true, true),
            StockAlone => (false, true),
            Nobody => (false, false),
        };
        self.cases.push(Case { name, token, good, good_for_stock });
    }

    fn claims(&self) -> Value {
        claims(self.between, self.fire_id, self.now_secs)
    }

    fn signed(&mut self, name: &'static str, convinces: Convinces, by: By) {
        let token = self.signer.sign(by, &header(by), &self.claims());
        self.add(name, convinces, token);
    }

    /// Adds an otherwise valid token with another header.
    fn headed(&mut self, name: &'static str, convinces: Convinces, change: &Value) {
        let token = self.signer.sign(By::Es256, &with(&header(By::Es256), change), &self.claims());
        self.add(name, convinces, token);
    }

    /// Adds an otherwise valid token with other claims; null removes one.
    fn saying(&mut self, name: &'static str, convinces: Convinces, change: &Value) {
        let token = self.signer.sign(By::Es256, &header(By::Es256), &with(&self.claims(), change));
        self.add(name, convinces, token);
    }

    fn by_whom(&mut self) {
        self.signed("good", Both, By::Es256);
        self.signed("good, by RSA", Both, By::Rs256);
        self.signed("no algorithm", Nobody, By::Nothing);
        self.signed("HS256 over the public key", Nobody, By::Hs256);
        self.signed("EdDSA", Nobody, By::EdDsa);
        self.signed("PS256", Nobody, By::Ps256);
        self.signed("another key under the same name", Nobody, By::Hidden);
    }

    fn by_header(&mut self) {
        self.headed("a key nobody has", Nobody, &json!({"kid": "desk-2"}));
        self.headed("no key", Nobody, &json!({"kid": null}));
        self.headed("the key of another algorithm", Nobody, &json!({"kid": "desk-rsa"}));
        self.headed("a key that is for sealing", Nobody, &json!({"kid": "for-sealing"}));
        self.headed("RS256 over a key for ES256", Nobody, &json!({"alg": "RS256"}));
        self.headed("None", Nobody, &json!({"alg": "None"}));
        self.headed("ES256 in small letters", Nobody, &json!({"alg": "es256"}));
        let must = json!({"crit": ["other"], "other": 1});
        self.headed("a word that must be understood", Nobody, &must);
        self.headed("no type", Both, &json!({"typ": null}));
    }

    fn for_whom(&mut self) {
        let Between { issuer, audience } = self.between.clone();
        let list = json!({"aud": ["agent:other", audience]});
        self.saying("a list of audiences with ours", Both, &list);
        self.saying("a list without ours", Nobody, &json!({"aud": ["agent:other"]}));
        self.saying("an empty list", Nobody, &json!({"aud": []}));
        self.saying("another audience", Nobody, &json!({"aud": "agent:other"}));
        self.saying("half of ours", Nobody, &json!({"aud": audience[..audience.len() - 1]}));
        self.saying("no audience", Nobody, &json!({"aud": null}));
        self.saying("an issuer with a slash", Nobody, &json!({"iss": format!("{issuer}/")}));
        self.saying("another issuer", Nobody, &json!({"iss": "https://other.example"}));
        self.saying("no issuer", Nobody, &json!({"iss": null}));
        self.saying("no purpose", Nobody, &json!({"purpose": null}));
        self.saying("another purpose", Nobody, &json!({"purpose": "cron_fire "}));
        self.saying("several purposes", Nobody, &json!({"purpose": ["cron_fire"]}));
        let general = json!({"purpose": null, "sub": audience, "tenant": "t"});
        self.saying("an agent's general token", Nobody, &general);
    }

    fn when(&mut self) {
        let now = self.now_secs;
        self.saying("just about good", Both, &json!({"exp": now - 20}));
        self.saying("run out", Nobody, &json!({"exp": now - 40}));
        self.saying("without an end", Nobody, &json!({"exp": null}));
        self.saying("good for a year", StockAlone, &json!({"exp": now + 31_536_000}));
        self.saying("a clock that is ahead", Both, &json!({"nbf": now + 20, "iat": now + 20}));
        self.saying("good later", Nobody, &json!({"nbf": now + 40}));
        self.saying("made later", Nobody, &json!({"iat": now + 40}));
        self.saying("no beginning", Both, &json!({"nbf": null, "iat": null}));
    }

    fn by_type(&mut self) {
        let end = (self.now_secs + 60).to_string();
        self.saying("an end as text", StockAlone, &json!({"exp": end}));
        self.saying("an end as words", Nobody, &json!({"exp": "tomorrow"}));
        self.saying("a list of issuers", Nobody, &json!({"iss": [self.between.issuer]}));
        self.saying("a number for a subject", Nobody, &json!({"sub": 7}));
        self.saying(
            "a number among audiences",
            Nobody,
            &json!({"aud": [self.between.audience, 7]}),
        );
        self.saying("no id", StockAlone, &json!({"jti": null}));
        self.saying("an id that is no UUID", StockAlone, &json!({"jti": "fire-1"}));
        let shouted = self.fire_id.to_uppercase();
        self.saying("an id in capitals", StockAlone, &json!({"jti": shouted}));
        self.saying("an id in braces", StockAlone, &json!({"jti": format!("{{{shouted}}}")}));
        self.saying("a word more", Both, &json!({"scope": "anything"}));
    }

    fn by_shape(&mut self) {
        let good = self.signer.good(self.between, self.fire_id, self.now_secs);
        let parts: Vec<&str> = good.split('.').collect();
        let (head, body, signature) = (parts[0], parts[1], parts[2]);
        let other = self.signer.good(self.between, self.fire_id, self.now_secs + 1);
        let other = other.split('.').nth(1).unwrap_or_default();
        self.add("nothing", Nobody, String::new());
        self.add("noise", Nobody, "noise".to_owned());
        self.add("two parts", Nobody, format!("{head}.{body}"));
        self.add("no signature", Nobody, format!("{head}.{body}."));
        self.add("four parts", Nobody, format!("{good}.{signature}"));
        self.add("another's signature", Nobody, format!("{head}.{other}.{signature}"));
        self.add("a shorter signature", Nobody, format!("{head}.{body}.{}", &signature[..84]));
        let claims = self.claims().to_string();
        let twice = claims.replacen('{', r#"{"purpose":"other","#, 1);
        let head_text = header(By::Es256).to_string();
        let sign = |claims: &str| self.signer.sign_text(By::Es256, &head_text, claims);
        let (twice, list, bad) = (sign(&twice), sign("[]"), sign("{\"iss\":"));
        self.add("a claim twice", StockAlone, twice);
        self.add("a list of claims", Nobody, list);
        self.add("half of the claims", Nobody, bad);
        self.saying("too long", StockAlone, &json!({"more": "x".repeat(16 * 1024)}));
    }
}

fn with(whole: &Value, change: &Value) -> Value {
    let mut whole: Map<String, Value> = whole.as_object().cloned().unwrap_or_default();
    for (name, value) in change.as_object().into_iter().flatten() {
        if value.is_null() {
            whole.remove(name);
        } else {
            whole.insert(name.clone(), value.clone());
        }
    }
    Value::Object(whole)
}
