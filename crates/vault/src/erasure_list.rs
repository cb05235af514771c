//! The list of erased tenants, which lies outside the database.
//!
//! A backup from before an erasure has the tenant's keys, so a restore would bring the tenant back. The list survives
//! the restore, and every start erases its tenants again. A line is `time tenant key mac`: the MAC covers the MAC of the
//! line before and the rest of its own line, with a key that is derived from the vault key of that id. So a line that was
//! changed, removed or moved is noticed. Lines that were cut off the end are written again from the database, which knows
//! its erased tenants, unless it was restored at the same time.

use std::collections::BTreeSet;

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use nightdesk_types::{TenantId, Timestamp};

use crate::{KekId, Vault};

/// The purpose for which the MAC's key is derived.
const PURPOSE: &str = "erasure list";

const MAC_BYTES: usize = 32;

/// The MAC before the first line.
const START: [u8; MAC_BYTES] = [0; MAC_BYTES];

/// An erasure on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedErasure {
    /// The time of the erasure.
    pub at: Timestamp,
    /// The erased tenant.
    pub tenant: TenantId,
}

/// The reason that a list cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ErasureListError {
    /// A line has another form.
    #[error(
        "line {line} of the list of erased tenants cannot be read; put the file back from a copy"
    )]
    Malformed {
        /// Its number, from one.
        line: usize,
    },
    /// The vault key of a line is not in the ring.
    #[error(
        "line {line} of the list of erased tenants was signed with vault key {key}, which this desk \
         does not have; add its file to vault.old_key_files"
    )]
    UnknownKey {
        /// The line's number, from one.
        line: usize,
        /// The key.
        key: KekId,
    },
    /// A line does not follow from the lines before it.
    #[error(
        "line {line} of the list of erased tenants, or a line before it, was changed or removed; put \
         the file back from a copy"
    )]
    Broken {
        /// The line's number, from one.
        line: usize,
    },
}

/// A list whose lines were verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasureList {
    erasures: Vec<ListedErasure>,
    /// The MAC of the last line.
    head: [u8; MAC_BYTES],
}

impl Default for ErasureList {
    fn default() -> Self {
        Self { erasures: Vec::new(), head: START }
    }
}

impl ErasureList {
    /// Reads and verifies the text of a list.
    pub fn read(text: &str, vault: &Vault) -> Result<Self, ErasureListError> {
        let mut list = Self::default();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let number = index + 1;
            let line = ListLine::parse(line).ok_or(ErasureListError::Malformed { line: number })?;
            let unknown = ErasureListError::UnknownKey { line: number, key: line.key };
            let secret = vault.derive_with(line.key, PURPOSE).ok_or(unknown)?;
            let covered = covered_bytes(&list.head, line.signed);
            let key = hmac::Key::new(HMAC_SHA256, secret.as_slice());
            hmac::verify(&key, &covered, &line.mac)
                .map_err(|_| ErasureListError::Broken { line: number })?;
            list.head = line.mac;
            list.erasures.push(line.erasure);
        }
        Ok(list)
    }

    /// Adds an erasure. Returns its line for the end of the file.
    pub fn add(&mut self, erasure: ListedErasure, vault: &Vault) -> String {
        let ListedErasure { at, tenant } = erasure;
        let (key, secret) = (vault.sealing_key(), vault.derive(PURPOSE));
        let signed = format!("{at} {tenant} {key}");
        let mac_key = hmac::Key::new(HMAC_SHA256, secret.as_slice());
        let mac = hmac::sign(&mac_key, &covered_bytes(&self.head, &signed));
        self.head.copy_from_slice(mac.as_ref());
        self.erasures.push(erasure);
        format!("{signed} {}\n", hex::encode(self.head))
    }

    /// Returns the text of the same list, signed with the current sealing key.
    pub fn sign_again(&self, vault: &Vault) -> String {
        let mut list = Self::default();
        self.erasures.iter().map(|erasure| list.add(*erasure, vault)).collect()
    }

    /// Returns the erased tenants.
    pub fn tenants(&self) -> BTreeSet<TenantId> {
        self.erasures.iter().map(|erasure| erasure.tenant).collect()
    }
}

/// A tenant in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantState {
    /// The tenant.
    pub tenant: TenantId,
    /// True if it was erased.
    pub is_erased: bool,
}

/// The steps after which the list and the database agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasurePlan {
    /// Tenants that a restore brought back: they are erased again.
    pub erase: Vec<TenantId>,
    /// Tenants that were erased and that the list lacks: they are added.
    pub list: Vec<TenantId>,
}

/// Compares the list with the tenants of the database.
pub fn plan_erasures(listed: &BTreeSet<TenantId>, tenants: &[TenantState]) -> ErasurePlan {
    let mut plan = ErasurePlan::default();
    for TenantState { tenant, is_erased } in tenants {
        match (listed.contains(tenant), is_erased) {
            (true, false) => plan.erase.push(*tenant),
            (false, true) => plan.list.push(*tenant),
            (true, true) | (false, false) => {}
        }
    }
    plan
}

/// A line that was parsed and not yet verified.
struct ListLine<'a> {
    erasure: ListedErasure,
    key: KekId,
    /// The part that the MAC covers.
    signed: &'a str,
    mac: [u8; MAC_BYTES],
}

impl<'a> ListLine<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        // Without its end the line was not written whole.
        let (signed, mac_text) = line.strip_suffix('\n')?.rsplit_once(' ')?;
        let [at, tenant, key] =
            <[&str; 3]>::try_from(signed.split(' ').collect::<Vec<_>>()).ok()?;
        let mut mac = START;
        hex::decode_to_slice(mac_text, &mut mac).ok()?;
        let key = KekId::from_bytes(&hex::decode(key).ok()?)?;
        let erasure = ListedErasure { at: at.parse().ok()?, tenant: tenant.parse().ok()? };
        Some(Self { erasure, key, signed, mac })
    }
}

/// Returns the bytes that a line's MAC covers.
fn covered_bytes(before: &[u8], signed: &str) -> Vec<u8> {
    [before, signed.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn vault() -> Vault {
        Vault::from_key_file(&Vault::new_key_file()).unwrap()
    }

    fn tenant(number: u8) -> TenantId {
        TenantId::from_uuid(Uuid::from_u128(number.into()))
    }

    fn erasure(number: u8) -> ListedErasure {
        let at = Timestamp::from_second(1_700_000_000 + i64::from(number)).unwrap();
        ListedErasure { at, tenant: tenant(number) }
    }

    /// Returns the lines of a list of so many tenants.
    fn lines(vault: &Vault, count: u8) -> Vec<String> {
        let mut list = ErasureList::default();
        (0..count).map(|number| list.add(erasure(number), vault)).collect()
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let vault = vault();
        let text = lines(&vault, 3).concat();

        let mut read = ErasureList::read(&text, &vault).unwrap();
        assert_eq!(read.tenants(), BTreeSet::from([0, 1, 2].map(tenant)));
        let more = [text, read.add(erasure(9), &vault)].concat();
        assert!(ErasureList::read(&more, &vault).unwrap().tenants().contains(&tenant(9)));
        assert_eq!(ErasureList::read("", &vault).unwrap(), ErasureList::default());
    }

    #[test]
    fn a_removed_a_moved_and_an_incomplete_line_are_noticed() {
        let vault = vault();
        let all = lines(&vault, 3);
        let read = |text: String| ErasureList::read(&text, &vault).unwrap_err();

        assert_eq!(read([&*all[1], &*all[2]].concat()), ErasureListError::Broken { line: 1 });
        assert_eq!(read([&*all[0], &*all[2]].concat()), ErasureListError::Broken { line: 2 });
        assert_eq!(read([&*all[1], &*all[0]].concat()), ErasureListError::Broken { line: 1 });
        assert_eq!(read(all[0].trim_end().to_owned()), ErasureListError::Malformed { line: 1 });
    }

    #[test]
    fn a_list_outlives_the_vault_key_that_signed_it() {
        let [old, new] = [Vault::new_key_file(), Vault::new_key_file()];
        let before = Vault::from_key_file(&old).unwrap();
        let both = Vault::from_key_file(&[&**new, &**old].join("\n")).unwrap();
        let after = Vault::from_key_file(&new).unwrap();
        let text = lines(&before, 2).concat();

        let unknown = ErasureListError::UnknownKey { line: 1, key: before.sealing_key() };
        assert_eq!(ErasureList::read(&text, &after), Err(unknown));
        let list = ErasureList::read(&text, &both).unwrap();
        let again = ErasureList::read(&list.sign_again(&both), &after).unwrap();
        assert_eq!(again.tenants(), list.tenants());
    }

    #[test]
    fn the_list_and_the_database_are_brought_together() {
        let state = |number, is_erased| TenantState { tenant: tenant(number), is_erased };
        let listed = BTreeSet::from([1, 2].map(tenant));
        let tenants = [state(1, false), state(2, true), state(3, true), state(4, false)];

        let plan = ErasurePlan { erase: vec![tenant(1)], list: vec![tenant(3)] };
        assert_eq!(plan_erasures(&listed, &tenants), plan);
    }

    proptest! {
        /// A list is the text of its own lines or is refused: no change of a character, and no removed line but the
        /// last ones, goes unnoticed.
        #[test]
        fn no_change_goes_unnoticed(count in 1_u8..6, at in any::<prop::sample::Index>(), with in "[0-9a-f]") {
            let vault = vault();
            let text = lines(&vault, count).concat();
            let at = at.index(text.len());
            let changed = [&text[..at], &*with, &text[at + 1..]].concat();

            let read = ErasureList::read(&changed, &vault);
            prop_assert_eq!(read.is_ok(), changed == text, "{:?}", read);
        }

        /// After its plan, every listed tenant is erased and every erased tenant is listed.
        #[test]
        fn a_plan_ends_every_difference(listed in prop::collection::btree_set(0_u8..20, 0..10), erased in prop::collection::btree_set(0_u8..20, 0..10)) {
            let listed: BTreeSet<TenantId> = listed.into_iter().map(tenant).collect();
            let erased: BTreeSet<TenantId> = erased.into_iter().map(tenant).collect();
            let all = (0..20).map(tenant);
            let states: Vec<_> = all.map(|tenant| TenantState { tenant, is_erased: erased.contains(&tenant) }).collect();

            let plan = plan_erasures(&listed, &states);
            let then_erased: BTreeSet<TenantId> = erased.iter().copied().chain(plan.erase).collect();
            let then_listed: BTreeSet<TenantId> = listed.iter().copied().chain(plan.list).collect();
            prop_assert_eq!(then_erased, then_listed);
        }
    }
}
