//! Ids, each with its own type, so that the compiler rejects one in place of another.

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
            /// Wraps an id that the store generated.
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            /// Returns the id as the store saves it.
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
    /// A customer, which owns all its agents and data.
    TenantId;
    /// A program that receives messages, awake or asleep.
    AgentId;
    /// An account of the operator on a platform, shared by many agents.
    BotId;
    /// The row of a gateway. The name that a client uses for itself is not unique: two tenants may use the same one.
    GatewayId;
    /// A tenant's machine identity at the built-in issuer.
    ClientId;
    /// An agent's job; the same over every arming.
    ScheduleId;
    /// One due instant of a job. Every try of the fire has this id.
    FireId;
    /// A letter from one agent to one other.
    LetterId;
    /// A person who logs in to the desk.
    UserId;
    /// A token with which a user's program calls the API.
    ApiTokenId;
    /// A request of an operator to read a tenant's messages.
    BreakGlassId;
    /// A way on which alerts go to a tenant or to the operator.
    AlertWayId;
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
            /// Wraps a number that the store assigned.
            pub const fn new(number: i64) -> Self {
                Self(number)
            }

            /// Returns the plain number.
            pub const fn get(self) -> i64 {
                self.0
            }

            /// Returns the next number.
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
    /// An entry's number in its inbox. The first entry is number one; zero is before it.
    Seq;
    /// The number of an agent's line. Only the newest is valid.
    Generation;
    /// The random number of a history of the store. A store that was restored or rolled back gives out the numbers of
    /// lost entries again, in another incarnation.
    Incarnation;
    /// The number of a node's life, which fences writes of an earlier life.
    NodeEpoch;
    /// The number of times that a life's lease was renewed.
    LeaseBeat;
    /// The fencing number of an owner.
    OwnerEpoch;
    /// The number of times that a job was armed. Only the newest is valid.
    Arming;
    /// The number of a tenant's data key. The first is one; zero stands for a missing key.
    DataKeyId;
}

/// A gateway's id of its own request, which matches the response to it and identifies a repeat.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct RequestId(String);

impl RequestId {
    /// Accepts a request id that is not empty, not too long and without NUL.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let fits = !text.is_empty() && text.len() <= crate::limits::REQUEST_ID_BYTES_MAX;
        (fits && !text.contains('\0')).then_some(Self(text))
    }

    /// Returns the id as received.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of an entry on the wire, the same over every delivery: its agent, its number, and the incarnation of the
/// history in which it was accepted.
///
/// To a gateway it is opaque text with the name `bufferId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId {
    /// The agent that owns the entry.
    pub agent: AgentId,
    /// The history in which it was accepted.
    pub incarnation: Incarnation,
    /// Its number in the agent's inbox.
    pub seq: Seq,
}

impl EntryId {
    /// The length of the id as text.
    pub const TEXT_BYTES: usize = 43;

    /// Returns the id of the entry's trace. Every node computes the same id, so no part of a trace is stored or sent.
    pub fn trace_id(&self) -> u128 {
        let number = u128::from(self.seq.get().cast_unsigned());
        self.agent.uuid().as_u128() ^ number.wrapping_mul(TRACE_SPREAD)
    }
}

/// Odd, so that no two numbers collide; wide, so that neighbouring ids look different.
const TRACE_SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

const ENTRY_ID_BYTES: usize = 32;

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; ENTRY_ID_BYTES];
        bytes[..16].copy_from_slice(self.agent.uuid().as_bytes());
        bytes[16..24].copy_from_slice(&self.incarnation.get().to_be_bytes());
        bytes[24..].copy_from_slice(&self.seq.get().to_be_bytes());
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

/// The text is not an entry id.
#[derive(Debug, thiserror::Error)]
#[error("not an entry id")]
pub struct EntryIdError;

impl FromStr for EntryId {
    type Err = EntryIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| EntryIdError)?;
        let bytes: [u8; ENTRY_ID_BYTES] = bytes.try_into().map_err(|_| EntryIdError)?;
        let (agent, numbers) = bytes.split_at(16);
        let (incarnation, seq) = numbers.split_at(8);
        let number =
            |bytes: &[u8]| bytes.try_into().map(i64::from_be_bytes).map_err(|_| EntryIdError);
        Ok(Self {
            agent: AgentId(Uuid::from_slice(agent).map_err(|_| EntryIdError)?),
            incarnation: Incarnation(number(incarnation)?),
            seq: Seq(number(seq)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_id_survives_the_wire() {
        let id = EntryId {
            agent: AgentId(Uuid::from_u128(7)),
            incarnation: Incarnation(9),
            seq: Seq(i64::MAX),
        };

        assert_eq!(id.to_string().parse::<EntryId>().unwrap(), id);
        assert_eq!(id.to_string().len(), EntryId::TEXT_BYTES);
    }

    #[test]
    fn every_entry_has_a_trace_of_its_own() {
        let id = |agent, seq| EntryId {
            agent: AgentId(Uuid::from_u128(agent)),
            incarnation: Incarnation(9),
            seq: Seq(seq),
        };
        let ids: std::collections::HashSet<u128> =
            (1..=100).flat_map(|seq| [id(7, seq), id(8, seq)]).map(|id| id.trace_id()).collect();

        assert_eq!(ids.len(), 200);
        assert_eq!(id(7, 1).trace_id(), id(7, 1).trace_id());
    }

    #[test]
    fn foreign_text_is_not_an_entry_id() {
        for text in ["", "b1", "AAAA", "not base64 at all!", &"A".repeat(44)] {
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
