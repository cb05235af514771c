use super::sign::SigningKey;
use super::*;
use crate::hash::content_hash;

const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const BODY: &str = "# Skill: v3demo\n# Status: Draft\n# Tags: one, two\nm:\n    emit(text=\"a   b\")\ndefault: m\n";
const PROOF: &str =
    "v3:8el1ezZJ0pgh0HQ6fHNiRa6hqEwaObriKVoNsig6RhVoSfUUEuZ3fERMQJtp7VlIHDvA6MQ9Vv9bApVUnuWQAQ";
const PUBLIC: &str = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

fn key() -> SigningKey {
    SigningKey::from_seed(&hex::decode(SEED).unwrap().try_into().unwrap()).unwrap()
}

fn secured() -> Approval {
    Approval::Secured(key().public())
}

#[test]
fn signs_as_the_runtime_does() {
    for body in [BODY.to_owned(), BODY.replace('\n', "\r\n"), BODY.replace('\n', "\r")] {
        let canonical = canonical(&body);
        assert_eq!(canonical.len(), 53);
        assert_eq!(
            content_hash(&canonical),
            "75b613629abbc3c9130df13c93fb0a223537473669bb903537b90c5164c5f440"
        );
        let signed = key().approve(&body);
        assert!(signed.contains(&format!("# Status: Approved {PROOF}")), "{signed}");
        assert_eq!(secured().check(&signed), Ok(()));
    }
    assert!(key().public().to_pem().contains(PUBLIC));
}

#[test]
fn what_is_signed_may_not_change() {
    let signed = key().approve(BODY);
    let changes = [
        ("a word", signed.replace("a   b", "a  b"), false),
        ("a space at the end of a line", signed.replace("default: m", "default: m "), false),
        ("the last line end", signed.trim_end().to_owned(), false),
        ("tags", signed.replace("one, two", "three"), true),
        ("no tags", signed.replace("# Tags: one, two\n", ""), true),
        ("a status line at the end", format!("{signed}  # status: x\n"), true),
        ("the same before the end", signed.replace("m:\n", "m:\n  # STATUS : x\n"), true),
        ("line ends", signed.replace('\n', "\r\n"), true),
        ("another header", signed.replace("m:\n", "# Deadline: 1\nm:\n"), false),
    ];
    for (name, source, holds) in changes {
        assert_eq!(secured().check(&source).is_ok(), holds, "{name}");
    }
}

#[test]
fn only_who_has_the_key_approves() {
    let signed = key().approve(BODY);
    let other = SigningKey::generate();

    assert!(Approval::Secured(other.public()).check(&signed).is_err());
    for proof in ["", " v1:abc", " v0:", " v3:", " v3:!", &format!(" v3:{}", "A".repeat(86))] {
        let source = BODY.replace("Draft", &format!("Approved{proof}"));
        assert!(secured().check(&source).is_err(), "{proof}");
        assert_eq!(Approval::Unsecured.check(&source), Ok(()), "{proof}");
    }
    for status in ["Draft", "Disabled", "odd"] {
        let source = signed.replace("Approved", status);
        assert!(secured().check(&source).is_err(), "{status}");
        assert!(Approval::Unsecured.check(&source).is_err(), "{status}");
    }
}

#[test]
fn a_signature_that_comes_alone_is_checked_before_it_is_written() {
    let proof = key().proof(BODY);
    assert_eq!(secured().apply_signature(BODY, &proof).as_deref(), Ok(&*key().approve(BODY)));
    let others = SigningKey::generate().proof(BODY);
    assert!(secured().apply_signature(BODY, &others).is_err());
    assert!(Approval::Unsecured.apply_signature(BODY, &others).is_ok());
    for proof in ["v3:AA\nm:", "v3:AA m", "v1:AA", "AA"] {
        assert!(Approval::Unsecured.apply_signature(BODY, proof).is_err(), "{proof}");
    }
}

#[test]
fn keys_survive_their_files() {
    let key = SigningKey::generate();

    assert_eq!(SigningKey::from_pem(&key.to_pem()).unwrap().public(), key.public());
    assert_eq!(PublicKey::from_pem(&key.public().to_pem()).unwrap(), key.public());
    assert!(PublicKey::from_pem(&key.to_pem()).is_err());
    assert!(SigningKey::from_pem(&key.public().to_pem()).is_err());
    assert!(!format!("{key:?}").contains(&hex::encode(&key.to_pem()[30..40])));
}
