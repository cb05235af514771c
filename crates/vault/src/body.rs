//! Seals and opens messages.

use nightdesk_types::TenantId;
use uuid::Uuid;

use crate::envelope::{DataKey, OpenError, VERSION, fill_random};

/// The random id of a sealed body. It is stored beside the body and moves with it, because an entry's number and table
/// change on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BodyId(Uuid);

impl BodyId {
    /// Returns a new id of 128 random bits.
    pub fn random() -> Self {
        let mut bytes = [0; 16];
        fill_random(&mut bytes);
        Self(Uuid::from_bytes(bytes))
    }

    /// Reads an id from a row.
    pub const fn from_uuid(id: Uuid) -> Self {
        Self(id)
    }

    /// Returns the id for a row.
    pub const fn uuid(self) -> Uuid {
        self.0
    }
}

/// The kind of a sealed body. A body of one kind does not open as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyKind {
    /// A message for an agent: an entry, a parked entry or a letter, each of which may become another.
    Message,
    /// A message that an agent sends.
    Send,
    /// The reply to a letter.
    Reply,
    /// An event that could not be read.
    Quarantined,
    /// The description of a file.
    MediaRecord,
    /// A line of a chat on the desk's own page.
    ChatLine,
}

nightdesk_types::slugs! {
    BodyKind:
    Message = "message",
    Send = "send",
    Reply = "reply",
    Quarantined = "quarantined",
    MediaRecord = "media-record",
    ChatLine = "chat-line",
}

/// The owner of a body: it opens for no other tenant, agent or kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BodyOwner {
    /// The tenant whose data key seals it.
    pub tenant: TenantId,
    /// The agent that gets it or sent it; the bot, if the body belongs to no agent.
    pub party: Uuid,
    /// The kind.
    pub kind: BodyKind,
}

impl BodyOwner {
    /// Returns the bytes that are bound into the tag. The zero byte separates bodies from secrets, whose kinds have
    /// none.
    fn associated_bytes(&self, id: BodyId) -> Vec<u8> {
        let kind = self.kind.slug();
        let mut bytes = Vec::with_capacity(2 + 3 * 16 + kind.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(self.tenant.uuid().as_bytes());
        bytes.extend_from_slice(id.0.as_bytes());
        bytes.extend_from_slice(kind.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(self.party.as_bytes());
        bytes
    }
}

impl DataKey {
    /// Seals a message for its owner.
    pub fn seal_body(&self, owner: &BodyOwner, id: BodyId, body: &[u8]) -> Vec<u8> {
        self.seal_bound(owner.associated_bytes(id), body)
    }

    /// Opens a message that was sealed for this owner under this id.
    pub fn open_body(
        &self,
        owner: &BodyOwner,
        id: BodyId,
        mut sealed: Vec<u8>,
    ) -> Result<Vec<u8>, OpenError> {
        self.open_bound(owner.associated_bytes(id), &mut sealed)?;
        Ok(sealed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SEALED_EXTRA_BYTES;
    use crate::envelope::random_key;

    fn owner(tenant: u128, party: u128, kind: BodyKind) -> BodyOwner {
        let tenant = TenantId::from_uuid(Uuid::from_u128(tenant));
        BodyOwner { tenant, party: Uuid::from_u128(party), kind }
    }

    fn any_owner() -> impl Strategy<Value = BodyOwner> {
        let kind = prop::sample::select(BodyKind::ALL.to_vec());
        (0..3_u128, 0..3_u128, kind).prop_map(|(tenant, party, kind)| owner(tenant, party, kind))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_body_opens_for_its_owner_and_for_no_other(
            sealed_for in any_owner(),
            at in any_owner(),
            is_moved in any::<bool>(),
            body in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let key = DataKey::from_bytes(&random_key());
            let id = BodyId::random();
            let sealed = key.seal_body(&sealed_for, id, &body);
            prop_assert_eq!(sealed.len(), body.len() + SEALED_EXTRA_BYTES);

            let read_with = if is_moved { BodyId::random() } else { id };
            let opened = key.open_body(&at, read_with, sealed).ok();
            prop_assert_eq!(opened, (sealed_for == at && !is_moved).then_some(body));
        }
    }

    #[test]
    fn any_changed_byte_of_a_body_is_found() {
        let key = DataKey::from_bytes(&random_key());
        let (mine, id) = (owner(1, 2, BodyKind::Message), BodyId::random());
        let sealed = key.seal_body(&mine, id, b"good morning");

        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert!(key.open_body(&mine, id, changed).is_err(), "byte {index}");
            assert!(key.open_body(&mine, id, sealed[..index].to_vec()).is_err(), "cut at {index}");
        }
    }
}
