//! Tests of the keyring's promises.

use nightdesk_types::limits::VAULT_KEYS_MAX;
use proptest::prelude::*;

use super::*;

const FIRST: DataKeyId = DataKeyId::new(1);

fn tenant(number: u128) -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(number))
}

fn vault(lines: &[&str]) -> Vault {
    Vault::from_key_file(&lines.join("\n")).unwrap()
}

fn secret_place() -> SealPlace {
    SealPlace { tenant: tenant(1), kind: "gateway-secret", row: Uuid::nil() }
}

#[test]
fn a_data_key_survives_its_row() {
    let vault = vault(&[&Vault::new_key_file()]);
    let (key, wrapped) = vault.new_data_key(tenant(1), FIRST);
    let sealed = key.seal(&secret_place(), &Key::new("s3cret".to_owned()));

    let again = vault.unwrap(tenant(1), FIRST, &wrapped).unwrap();
    assert_eq!(again.open(&secret_place(), &sealed).unwrap().with(str::to_owned), "s3cret");
}

#[test]
fn another_desk_tenant_or_number_cannot_unwrap() {
    let vault = vault(&[&Vault::new_key_file()]);
    let other = Vault::from_key_file(&Vault::new_key_file()).unwrap();
    let (_, wrapped) = vault.new_data_key(tenant(1), FIRST);

    assert!(vault.unwrap(tenant(2), FIRST, &wrapped).is_err(), "tenant");
    assert!(vault.unwrap(tenant(1), DataKeyId::new(2), &wrapped).is_err(), "number");
    assert!(other.unwrap(tenant(1), FIRST, &wrapped).is_err(), "desk");
}

#[test]
fn a_ring_opens_with_every_key_and_seals_with_the_first() {
    let (old, new) = (Vault::new_key_file(), Vault::new_key_file());
    let before = vault(&[&old]);
    let (_, wrapped) = before.new_data_key(tenant(1), FIRST);
    let during = vault(&[&new, &old]);
    let after = vault(&[&new]);

    let again = during.rewrap(tenant(1), FIRST, &wrapped).unwrap();
    assert!(during.unwrap(tenant(1), FIRST, &wrapped).is_ok(), "not rewrapped yet");
    assert!(during.unwrap(tenant(1), FIRST, &again).is_ok());
    assert!(after.unwrap(tenant(1), FIRST, &again).is_ok());
    assert!(after.unwrap(tenant(1), FIRST, &wrapped).is_err(), "the old key is gone");
    assert!(before.unwrap(tenant(1), FIRST, &again).is_err(), "the new key is not there yet");
    assert!(during.has_key(before.sealing_key()) && !after.has_key(before.sealing_key()));
    assert_eq!(during.sealing_key(), after.sealing_key());
}

#[test]
fn a_ring_is_replaced_for_every_clone() {
    let (old, new) = (Vault::new_key_file(), Vault::new_key_file());
    let one = vault(&[&old]);
    let clone = one.clone();

    one.read_again(&[new.as_str(), old.as_str()].join("\n")).unwrap();
    assert_eq!(clone.sealing_key(), vault(&[&new]).sealing_key());
    assert!(one.read_again("nonsense").is_err());
    assert_eq!(
        clone.sealing_key(),
        vault(&[&new]).sealing_key(),
        "what cannot be read changes nothing"
    );
}

#[test]
fn what_was_sealed_before_keys_had_ids_still_opens() {
    let (old, new) = (Vault::new_key_file(), Vault::new_key_file());
    let bytes = random_key();
    let kek = <[u8; 32]>::try_from(STANDARD.decode(old.as_bytes()).unwrap()).unwrap();
    let wrapped = DataKey::from_bytes(&kek).seal_bytes(&data_key_place(tenant(1), FIRST), &*bytes);

    let ring = vault(&[&new, &old]);
    assert!(ring.unwrap(tenant(1), FIRST, &WrappedKey(wrapped)).is_ok());
}

#[test]
fn the_desks_own_secret_opens_in_its_place_alone() {
    let (old, new) = (Vault::new_key_file(), Vault::new_key_file());
    let (vault, other) = (vault(&[&old]), vault(&[&new]));
    let row = Uuid::from_u128(1);
    let sealed = vault.seal_own("signing-key", row, &Key::new("s3cret".to_owned()));

    let opened = vault.open_own("signing-key", row, &sealed).unwrap();
    assert_eq!(opened.with(str::to_owned), "s3cret");
    assert!(vault.open_own("signing-key", Uuid::from_u128(2), &sealed).is_err(), "row");
    assert!(vault.open_own("other-key", row, &sealed).is_err(), "kind");
    assert!(other.open_own("signing-key", row, &sealed).is_err(), "desk");
    vault.read_again(&[new.as_str(), old.as_str()].join("\n")).unwrap();
    let again = vault.reseal_own("signing-key", row, &sealed).unwrap();
    assert!(other.open_own("signing-key", row, &again).is_ok(), "sealed again");
}

#[test]
fn a_derived_key_is_the_same_for_one_key_file_and_purpose() {
    let file = Vault::new_key_file();
    let (one, two) = (vault(&[&file]), vault(&[&file]));
    let other = vault(&[&Vault::new_key_file()]);

    assert_eq!(one.derive("bus"), two.derive("bus"));
    assert_ne!(one.derive("bus"), one.derive("other"), "purpose");
    assert_ne!(one.derive("bus"), other.derive("bus"), "desk");
    assert!(!format!("{one:?}").contains(file.as_str()), "no part of it is printed");
}

#[test]
fn a_broken_key_file_is_refused() {
    let short = STANDARD.encode([0; 31]);
    let good = STANDARD.encode([1; 32]);
    let many = vec![good.as_str(); VAULT_KEYS_MAX + 1].join("\n");
    let half = format!("{good}\n{short}");

    for text in ["", "short", &short, &STANDARD.encode([0; 33]), &half, &many] {
        assert!(Vault::from_key_file(text).is_err(), "{text}");
    }
    assert!(Vault::from_key_file(&vec![good.as_str(); VAULT_KEYS_MAX].join("\n")).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_flipped_bit_opens(at: prop::sample::Index, bit in 0..8_u8) {
        let vault = vault(&[&Vault::new_key_file(), &Vault::new_key_file()]);
        let (_, WrappedKey(mut wrapped)) = vault.new_data_key(tenant(1), FIRST);
        *at.get_mut(&mut wrapped) ^= 1_u8 << bit;

        prop_assert!(vault.unwrap(tenant(1), FIRST, &WrappedKey(wrapped)).is_err());
    }

    /// A value opens until its key leaves the ring, and never after that, with any sealing key.
    #[test]
    fn a_value_opens_while_its_key_is_in_the_ring(
        sealed_by in 0..3_usize,
        ring in prop::sample::subsequence(vec![0_usize, 1, 2], 1..=3).prop_shuffle(),
    ) {
        let files = [[1; 32], [2; 32], [3; 32]].map(|key: [u8; 32]| STANDARD.encode(key));
        let (_, wrapped) = vault(&[&files[sealed_by]]).new_data_key(tenant(1), FIRST);
        let keys: Vec<&str> = ring.iter().map(|key| files[*key].as_str()).collect();

        let opens = vault(&keys).unwrap(tenant(1), FIRST, &wrapped).is_ok();
        prop_assert_eq!(opens, ring.contains(&sealed_by));
    }

    #[test]
    fn noise_does_not_open(noise: Vec<u8>) {
        let vault = vault(&[&Vault::new_key_file()]);

        prop_assert!(vault.unwrap(tenant(1), FIRST, &WrappedKey(noise.clone())).is_err());
        prop_assert!(vault.open_own("signing-key", Uuid::nil(), &noise).is_err());
    }
}
