//! Ids: each thing has its own type, so that one cannot stand for another.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! uuid_ids {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Takes an id that the store minted.
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            /// The id as the store keeps it.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

uuid_ids! {
    /// A customer; owns everything.
    TenantId;
    /// A program that takes messages, awake or asleep.
    AgentId;
    /// An account of ours on a platform, shared by many agents.
    BotId;
    /// The row of a gateway. What a client calls itself is a name, and two tenants may
    /// use the same one.
    GatewayId;
    /// A tenant's machine identity, as the built-in issuer knows it.
    ClientId;
    /// An agent's job as it is armed: stays the same over every arming.
    ScheduleId;
    /// One due instant of a job. Every try to tell the agent of it has this id.
    FireId;
    /// A letter of one agent to one other.
    LetterId;
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(i64);

        impl $name {
            /// Takes a number that the store gave out.
            pub const fn new(number: i64) -> Self {
                Self(number)
            }

            /// The plain number.
            pub const fn get(self) -> i64 {
                self.0
            }

            /// The number after this one.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

numbers! {
    /// An entry's number in its inbox. The first entry is number one; zero stands before it.
    Seq;
    /// The number of an agent's line: the newest one counts.
    Generation;
    /// The number of a node's life, which fences what an earlier one left behind.
    NodeEpoch;
    /// The fencing number of whoever owns something.
    OwnerEpoch;
    /// How often a job was armed anew: the newest counts.
    Arming;
    /// Which of a tenant's data keys sealed something. Zero: not sealed.
    DataKeyId;
}

/// What a gateway calls a request of its own, so that an answer finds it and a repeat is
/// recognised.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(String);

impl RequestId {
    /// Takes a request id as it came, if it is not empty and of sane length.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let fits = !text.is_empty() && text.len() <= crate::limits::REQUEST_ID_BYTES_MAX;
        (fits && !text.contains('\0')).then_some(Self(text))
    }

    /// The id as it came.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of an entry on the wire, stable over every hand-over: its agent and its number.
///
/// To a gateway it is opaque text; there it is called `bufferId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId {
    /// Whose entry it is.
    pub agent: AgentId,
    /// Its number in the agent's inbox.
    pub seq: Seq,
}

impl EntryId {
    /// The id of the trace that follows it. Every node finds the same one by itself, so
    /// nothing of a trace is stored or sent.
    pub fn trace_id(&self) -> u128 {
        let number = u128::from(self.seq.get().cast_unsigned());
        self.agent.uuid().as_u128() ^ number.wrapping_mul(TRACE_SPREAD)
    }
}

/// Odd, so that no two numbers meet; wide, so that neighbours look unlike each other.
const TRACE_SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

const ENTRY_ID_BYTES: usize = 24;

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; ENTRY_ID_BYTES];
        bytes[..16].copy_from_slice(self.agent.uuid().as_bytes());
        bytes[16..].copy_from_slice(&self.seq.get().to_be_bytes());
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

/// The text is not the name of an entry.
#[derive(Debug, thiserror::Error)]
#[error("not an entry id")]
pub struct EntryIdError;

impl FromStr for EntryId {
    type Err = EntryIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| EntryIdError)?;
        let bytes: [u8; ENTRY_ID_BYTES] = bytes.try_into().map_err(|_| EntryIdError)?;
        let (agent, seq) = bytes.split_at(16);
        let agent = Uuid::from_slice(agent).map_err(|_| EntryIdError)?;
        let seq = i64::from_be_bytes(seq.try_into().map_err(|_| EntryIdError)?);
        Ok(Self { agent: AgentId(agent), seq: Seq(seq) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_id_survives_the_wire() {
        let id = EntryId { agent: AgentId(Uuid::from_u128(7)), seq: Seq(i64::MAX) };

        assert_eq!(id.to_string().parse::<EntryId>().unwrap(), id);
        assert_eq!(id.to_string().len(), 32);
    }

    #[test]
    fn every_entry_has_a_trace_of_its_own() {
        let id = |agent, seq| EntryId { agent: AgentId(Uuid::from_u128(agent)), seq: Seq(seq) };
        let ids: std::collections::HashSet<u128> =
            (1..=100).flat_map(|seq| [id(7, seq), id(8, seq)]).map(|id| id.trace_id()).collect();

        assert_eq!(ids.len(), 200);
        assert_eq!(id(7, 1).trace_id(), id(7, 1).trace_id());
    }

    #[test]
    fn foreign_text_is_not_an_entry_id() {
        for text in ["", "b1", "AAAA", "not base64 at all!", &"A".repeat(33)] {
            assert!(text.parse::<EntryId>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_request_id_has_a_bound() {
        let max = crate::limits::REQUEST_ID_BYTES_MAX;

        assert!(RequestId::new("a".repeat(max)).is_some());
        assert!(RequestId::new("a".repeat(max + 1)).is_none());
        assert!(RequestId::new("").is_none());
    }
}
