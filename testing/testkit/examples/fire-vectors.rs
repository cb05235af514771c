//! Prints the test vectors of fire tokens as JSON: valid and forged ones, and the keys to verify them. Signatures and keys
//! are new in each run, so a test compares the rest with the checked-in file.

use nightdesk_testkit::fire::{Between, Signer, cases};
use serde_json::{Value, json};

const NOW: i64 = 1_795_003_200;
const FIRE: &str = "0192f0c1-7f7e-7000-8000-00000000000a";

fn main() {
    let signer = Signer::default();
    let between =
        Between { issuer: "https://desk.example".to_owned(), audience: "agent:a1".to_owned() };
    let cases = cases(&signer, &between, FIRE, NOW).into_iter();
    let cases: Vec<Value> = cases
        .map(|case| json!({ "name": case.name, "token": case.token, "good": case.good }))
        .collect();
    say(&json!({
        "now": NOW, "fire_id": FIRE, "issuer": between.issuer, "audience": between.audience,
        "jwks": signer.jwks(), "cases": cases,
    }));
}

#[expect(clippy::print_stdout, reason = "the program's purpose is its output")]
fn say(document: &Value) {
    println!("{document:#}");
}
