//! Broken glass: an operator reads the messages of a tenant because a second operator approved it.
//!
//! Two users, a reason and an end are needed, and the tenant is told.

use nightdesk_types::limits::{GLASS_REASON_BYTES_MAX, GLASS_REQUEST_LIFE, OPEN_GLASS_LIFE_MAX};
use nightdesk_types::{BreakGlassId, TenantId, Timestamp, UserId};
use std::time::Duration;

/// A request to read a tenant's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlassRequest {
    /// Its id.
    pub id: BreakGlassId,
    /// The tenant.
    pub tenant: TenantId,
    /// The operator that requests it.
    pub asked_by: UserId,
    /// The time of the request.
    pub asked_at: Timestamp,
    /// The reason, which the tenant sees.
    pub reason: String,
    /// The time for which the messages may be read, from the approval.
    pub lasts: Duration,
    /// The state.
    pub state: GlassState,
}

/// The state of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlassState {
    /// No operator approved it yet.
    Asked,
    /// The messages may be read until this time.
    Open {
        /// The operator that approved it.
        approved_by: UserId,
        /// The end.
        until: Timestamp,
    },
    /// It was ended early, or withdrawn.
    Ended,
}

/// The reason that a step is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlassRefusal {
    /// One user asks and approves.
    #[error("the operator that asked cannot approve; a second operator must")]
    SameUser,
    /// The request was approved or ended before.
    #[error("the request was approved or ended before")]
    NotAsked,
    /// The request is too old.
    #[error("the request is older than a day; ask again")]
    Stale,
    /// The reason is empty or too long.
    #[error("a reason of 1 to 500 bytes is needed")]
    BadReason,
    /// The time is empty or too long.
    #[error("the time must be at least a minute and at most eight hours")]
    BadTime,
}

/// Checks a new request.
pub fn check_request(reason: &str, lasts: Duration) -> Result<(), GlassRefusal> {
    if !(1..=GLASS_REASON_BYTES_MAX).contains(&reason.trim().len()) {
        return Err(GlassRefusal::BadReason);
    }
    if !(Duration::from_mins(1)..=OPEN_GLASS_LIFE_MAX).contains(&lasts) {
        return Err(GlassRefusal::BadTime);
    }
    Ok(())
}

/// Decides an approval. Returns the open state.
pub fn decide_approval(
    request: &GlassRequest,
    by: UserId,
    now: Timestamp,
) -> Result<GlassState, GlassRefusal> {
    if request.state != GlassState::Asked {
        return Err(GlassRefusal::NotAsked);
    }
    if request.asked_by == by {
        return Err(GlassRefusal::SameUser);
    }
    if now.duration_since(request.asked_at).unsigned_abs() > GLASS_REQUEST_LIFE {
        return Err(GlassRefusal::Stale);
    }
    let until = now.checked_add(request.lasts).unwrap_or(Timestamp::MAX);
    Ok(GlassState::Open { approved_by: by, until })
}

impl GlassRequest {
    /// Returns true if its operator may read the messages now.
    pub fn is_open(&self, now: Timestamp) -> bool {
        matches!(self.state, GlassState::Open { until, .. } if now < until)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn user(number: u128) -> UserId {
        UserId::from_uuid(Uuid::from_u128(number))
    }

    fn request(state: GlassState) -> GlassRequest {
        GlassRequest {
            id: BreakGlassId::from_uuid(Uuid::from_u128(9)),
            tenant: TenantId::from_uuid(Uuid::from_u128(8)),
            asked_by: user(1),
            asked_at: at(0),
            reason: "ticket 7".to_owned(),
            lasts: Duration::from_hours(1),
            state,
        }
    }

    #[test]
    fn a_second_operator_approves_in_time_and_once() {
        let open = GlassState::Open { approved_by: user(2), until: at(3_605) };
        assert_eq!(decide_approval(&request(GlassState::Asked), user(2), at(5)), Ok(open));
        let cases = [
            (GlassState::Asked, user(1), at(5), GlassRefusal::SameUser),
            (GlassState::Asked, user(2), at(86_401), GlassRefusal::Stale),
            (open, user(2), at(5), GlassRefusal::NotAsked),
            (GlassState::Ended, user(2), at(5), GlassRefusal::NotAsked),
        ];
        for (state, by, now, want) in cases {
            assert_eq!(decide_approval(&request(state), by, now), Err(want), "{want}");
        }
    }

    #[test]
    fn messages_are_read_until_the_end_only() {
        let open = request(GlassState::Open { approved_by: user(2), until: at(100) });
        assert!(open.is_open(at(99)) && !open.is_open(at(100)));
        assert!(!request(GlassState::Asked).is_open(at(1)));
        assert!(!request(GlassState::Ended).is_open(at(1)));
    }

    #[test]
    fn a_request_has_a_reason_and_an_end() {
        let hour = Duration::from_hours(1);
        assert_eq!(check_request("ticket 7", hour), Ok(()));
        assert_eq!(check_request("  ", hour), Err(GlassRefusal::BadReason));
        let long = "x".repeat(GLASS_REASON_BYTES_MAX + 1);
        assert_eq!(check_request(&long, hour), Err(GlassRefusal::BadReason));
        assert_eq!(check_request("t", Duration::ZERO), Err(GlassRefusal::BadTime));
        assert_eq!(check_request("t", OPEN_GLASS_LIFE_MAX * 2), Err(GlassRefusal::BadTime));
    }
}
