//! Checks the desk's signing keys.

use nightdesk_register::issuer::{KeyAlgorithm, StoredKey};
use nightdesk_types::{Actor, Timestamp};

use crate::Harness;

/// Checks that one of several first keys is stored, and that all callers get that one.
pub async fn one_first_signing_key_stands(harness: &impl Harness) {
    let register = harness.register();
    assert_eq!(register.signing_keys().await.expect("read signing keys"), []);
    let key = |kid: &str| StoredKey {
        number: 1,
        kid: kid.to_owned(),
        sealed: kid.as_bytes().to_vec(),
        algorithm: KeyAlgorithm::Es256,
        used_from: Timestamp::UNIX_EPOCH,
        retired: false,
    };
    let first = |kid| {
        let (register, key) = (harness.register(), key(kid));
        async move { register.enter_signing_key(&key).await.expect("enter a signing key") }
    };

    let (one, other, third) = tokio::join!(first("a"), first("b"), first("c"));
    assert_eq!(one.len(), 1);
    assert!(one == other && one == third, "{one:?} {other:?} {third:?}");
    assert_eq!(one[0], key(&one[0].kid), "it is one of them, whole");
    assert_eq!(register.signing_keys().await.expect("read signing keys"), one);
}

/// Checks that a retired key is still available, and marked as retired.
pub async fn a_retired_key_stays_so(harness: &impl Harness) {
    let register = harness.register();
    let key = |number, algorithm| StoredKey {
        number,
        kid: format!("k{number}"),
        algorithm,
        sealed: vec![7],
        used_from: Timestamp::UNIX_EPOCH,
        retired: false,
    };
    let (one, two) = (key(1, KeyAlgorithm::Es256), key(2, KeyAlgorithm::Rs256));
    for key in [&two, &one] {
        register.enter_signing_key(key).await.expect("enter a signing key");
    }

    assert_eq!(register.signing_keys().await.expect("read"), [one.clone(), two.clone()]);
    assert!(!register.retire_signing_key(Actor::Operator, "k3").await.expect("retire a key"));
    for _ in 0..2 {
        assert!(register.retire_signing_key(Actor::Operator, "k1").await.expect("retire a key"));
    }
    let gone = StoredKey { retired: true, ..one };
    assert_eq!(register.signing_keys().await.expect("read"), [gone, two]);
}
