//! Z19: a sealed value opens only unchanged and only for its own place; other bytes, and other texts of a key file, are
//! refused.

use std::sync::LazyLock;

use nightdesk_types::{DataKeyId, TenantId};
use nightdesk_vault::{DataKey, Key, SealPlace, Vault, WrappedKey, kind};
use uuid::Uuid;

use crate::input::FuzzInput;

const FIRST_KEY: DataKeyId = DataKeyId::new(1);

const PLACE: SealPlace =
    SealPlace { tenant: tenant(1), kind: kind::BOT_KEY, row: Uuid::from_u128(9) };

struct SealedValues {
    vault: Vault,
    data_key: DataKey,
    wrapped: Vec<u8>,
    sealed: Vec<u8>,
    own: Vec<u8>,
}

static VALUES: LazyLock<SealedValues> = LazyLock::new(|| {
    let vault = Vault::from_key_file(&Vault::new_key_file()).expect("a new key file");
    let (data_key, WrappedKey(wrapped)) = vault.new_data_key(PLACE.tenant, FIRST_KEY);
    let secret = Key::new("the key of a bot".to_owned());
    let sealed = data_key.seal(&PLACE, &secret);
    let own = vault.seal_own(kind::SIGNING_KEY, PLACE.row, &secret);
    SealedValues { vault, data_key, wrapped, sealed, own }
});

/// The first byte selects a value that is damaged, foreign bytes, or the text of a key file.
pub(super) fn run(data: &[u8]) {
    let mut input = FuzzInput::new(data);
    match input.take_byte() % 5 {
        0 => check_foreign(input.rest()),
        1 => check_key_file(&String::from_utf8_lossy(input.rest())),
        2 => check_damaged(&VALUES.wrapped, input),
        3 => check_damaged(&VALUES.sealed, input),
        _ => check_damaged(&VALUES.own, input),
    }
}

/// Changes bits and the length of a value, and checks that it opens nowhere, or where it belongs if nothing changed.
fn check_damaged(value: &[u8], mut input: FuzzInput<'_>) {
    let mut damaged = value.to_vec();
    let cut = usize::from(input.take_byte() % 4);
    damaged.truncate(value.len() - cut);
    while !input.is_empty() && !damaged.is_empty() {
        let at = usize::from(input.take_u16()) % damaged.len();
        damaged[at] ^= input.take_byte();
    }
    if damaged != value {
        check_foreign(&damaged);
    }
    check_elsewhere(&damaged);
}

/// Checks that bytes that the vault did not seal do not open.
fn check_foreign(bytes: &[u8]) {
    let SealedValues { vault, data_key, wrapped, sealed, own } = &*VALUES;
    if bytes != sealed {
        assert!(data_key.open(&PLACE, bytes).is_err(), "a changed secret opened");
    }
    if bytes != own {
        assert!(vault.open_own(kind::SIGNING_KEY, PLACE.row, bytes).is_err(), "a changed secret");
    }
    if bytes != wrapped {
        let wrapped = WrappedKey(bytes.to_vec());
        assert!(vault.unwrap(PLACE.tenant, FIRST_KEY, &wrapped).is_err(), "a changed key opened");
        assert!(vault.rewrap(PLACE.tenant, FIRST_KEY, &wrapped).is_err(), "and was wrapped again");
    }
}

/// Checks that even unchanged values do not open for another tenant, kind, row or key.
fn check_elsewhere(bytes: &[u8]) {
    let SealedValues { vault, data_key, .. } = &*VALUES;
    for place in [
        SealPlace { tenant: tenant(2), ..PLACE },
        SealPlace { kind: kind::GATEWAY_SECRET, ..PLACE },
        SealPlace { row: Uuid::from_u128(8), ..PLACE },
    ] {
        assert!(data_key.open(&place, bytes).is_err(), "{place:?}");
    }
    let wrapped = WrappedKey(bytes.to_vec());
    assert!(vault.unwrap(tenant(2), FIRST_KEY, &wrapped).is_err(), "another tenant");
    assert!(vault.unwrap(PLACE.tenant, DataKeyId::new(2), &wrapped).is_err(), "another key");
    assert!(vault.open_own(kind::DESK_SECRET, PLACE.row, bytes).is_err(), "another kind");
}

/// Checks that a vault with any other key file opens nothing.
fn check_key_file(text: &str) {
    let SealedValues { wrapped, own, .. } = &*VALUES;
    let Ok(other) = Vault::from_key_file(text) else { return };
    assert!(other.has_key(other.sealing_key()));
    assert!(other.open_own(kind::SIGNING_KEY, PLACE.row, own).is_err(), "another desk's secret");
    let wrapped = WrappedKey(wrapped.clone());
    assert!(other.unwrap(PLACE.tenant, FIRST_KEY, &wrapped).is_err(), "another desk's key");
}

const fn tenant(number: u128) -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(number))
}
