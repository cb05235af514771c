//! Vault keys by their ids.

use std::fmt;

use aws_lc_rs::hkdf::{HKDF_SHA256, Prk, Salt};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nightdesk_types::limits::VAULT_KEYS_MAX;
use zeroize::Zeroizing;

use crate::envelope::{DataKey, OpenError, SealPlace};

/// Format: sealed by a vault key whose id precedes the envelope.
const BY_ID: u8 = 2;

const ID_BYTES: usize = 8;

/// The id of a vault key. It is derived from the key and does not reveal it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KekId([u8; ID_BYTES]);

impl KekId {
    /// Reads an id from a row.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Reads the id of the key that sealed a value.
    pub(crate) fn of_sealed(sealed: &[u8]) -> Option<Self> {
        let (&BY_ID, rest) = sealed.split_first()? else { return None };
        Self::from_bytes(rest.get(..ID_BYTES)?)
    }

    /// Returns the id for a row.
    pub const fn bytes(&self) -> &[u8; ID_BYTES] {
        &self.0
    }
}

impl fmt::Display for KekId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KekId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KekId({self})")
    }
}

/// A vault key, with its derived values.
pub(crate) struct Kek {
    id: KekId,
    key: DataKey,
    root: Prk,
}

impl Kek {
    fn from_bytes(bytes: &[u8; 32]) -> Self {
        let root = Salt::new(HKDF_SHA256, b"nightdesk").extract(bytes);
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&derive_key(&root, "vault key id")[..ID_BYTES]);
        Self { id: KekId(id), key: DataKey::from_bytes(bytes), root }
    }

    pub(crate) const fn id(&self) -> KekId {
        self.id
    }

    pub(crate) fn derive(&self, purpose: &'static str) -> Zeroizing<[u8; 32]> {
        derive_key(&self.root, purpose)
    }

    pub(crate) fn seal(&self, place: &SealPlace, bytes: &[u8]) -> Vec<u8> {
        [&[BY_ID], self.id.bytes().as_slice(), &self.key.seal_bytes(place, bytes)].concat()
    }
}

#[expect(clippy::expect_used, reason = "the lengths that are asked for are ours")]
fn derive_key(root: &Prk, purpose: &'static str) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    let info = [purpose.as_bytes()];
    let derived = root.expand(&info, HKDF_SHA256).expect("a hash's length is given");
    derived.fill(key.as_mut_slice()).expect("the key is as long as the hash");
    key
}

/// The key file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "the vault's key file does not contain keys of 32 bytes in base64, one per line; create one with \
     `nightdesk key new`"
)]
pub struct KeyFileError;

/// The vault keys of a desk: the first seals, all of them open.
pub(crate) struct Ring {
    first: Kek,
    others: Vec<Kek>,
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys().map(Kek::id)).finish()
    }
}

impl Ring {
    pub(crate) fn read(text: &str) -> Result<Self, KeyFileError> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut keys = lines.map(read_key).collect::<Result<Vec<_>, _>>()?.into_iter();
        let first = keys.next().ok_or(KeyFileError)?;
        let others: Vec<Kek> = keys.collect();
        if others.len() >= VAULT_KEYS_MAX {
            return Err(KeyFileError);
        }
        Ok(Self { first, others })
    }

    pub(crate) const fn first(&self) -> &Kek {
        &self.first
    }

    fn keys(&self) -> impl Iterator<Item = &Kek> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub(crate) fn find(&self, id: KekId) -> Option<&Kek> {
        self.keys().find(|kek| kek.id == id)
    }

    pub(crate) fn open(
        &self,
        place: &SealPlace,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        let Some((&BY_ID, rest)) = sealed.split_first() else {
            let opened = self.keys().find_map(|kek| kek.key.open_bytes(place, sealed).ok());
            return opened.ok_or(OpenError);
        };
        let (id, envelope) = rest.split_at_checked(ID_BYTES).ok_or(OpenError)?;
        let kek = KekId::from_bytes(id).and_then(|id| self.find(id)).ok_or(OpenError)?;
        kek.key.open_bytes(place, envelope)
    }

    pub(crate) fn reseal(&self, place: &SealPlace, sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
        Ok(self.first.seal(place, &self.open(place, sealed)?))
    }
}

fn read_key(line: &str) -> Result<Kek, KeyFileError> {
    let bytes = STANDARD.decode(line).map(Zeroizing::new).map_err(|_| KeyFileError)?;
    let bytes = <&[u8; 32]>::try_from(bytes.as_slice()).map_err(|_| KeyFileError)?;
    Ok(Kek::from_bytes(bytes))
}
