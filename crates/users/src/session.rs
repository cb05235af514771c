//! The lifetime of sessions and tokens, as pure functions.

use std::time::Duration;

use nightdesk_types::Timestamp;
use nightdesk_types::limits::{SESSION_IDLE, SESSION_LIFE, USE_RECORDED_EVERY};

/// The times of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionTimes {
    /// The time of the login.
    pub begun_at: Timestamp,
    /// The time of its last recorded use.
    pub used_at: Timestamp,
}

/// The state of a credential at its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UseState {
    /// It is valid.
    Valid,
    /// It is valid, and this use is to be recorded.
    ValidAndRecorded,
    /// It is over.
    Over,
}

/// Decides the state of a session. It ends if it is idle, and some time after its login in any case.
pub(crate) fn session_state(times: SessionTimes, now: Timestamp) -> UseState {
    let SessionTimes { begun_at, used_at } = times;
    if has_passed(SESSION_LIFE, begun_at, now) || has_passed(SESSION_IDLE, used_at, now) {
        return UseState::Over;
    }
    valid_state(used_at, now)
}

/// Decides the state of a token with an end.
pub(crate) fn token_state(
    expires_at: Timestamp,
    used_at: Option<Timestamp>,
    now: Timestamp,
) -> UseState {
    if now >= expires_at {
        return UseState::Over;
    }
    used_at.map_or(UseState::ValidAndRecorded, |used_at| valid_state(used_at, now))
}

fn valid_state(used_at: Timestamp, now: Timestamp) -> UseState {
    if has_passed(USE_RECORDED_EVERY, used_at, now) {
        UseState::ValidAndRecorded
    } else {
        UseState::Valid
    }
}

fn has_passed(span: Duration, since: Timestamp, now: Timestamp) -> bool {
    Duration::try_from(now.duration_since(since)).is_ok_and(|passed| passed >= span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    const IDLE: i64 = SESSION_IDLE.as_secs().cast_signed();
    const LIFE: i64 = SESSION_LIFE.as_secs().cast_signed();
    const RECORD: i64 = USE_RECORDED_EVERY.as_secs().cast_signed();

    #[test]
    fn a_session_ends_idle_or_old() {
        let cases = [
            ("just used", 0, 0, 1, UseState::Valid),
            ("recorded now and then", 0, 0, RECORD, UseState::ValidAndRecorded),
            ("not idle yet", 0, 0, IDLE - 1, UseState::ValidAndRecorded),
            ("idle", 0, 0, IDLE, UseState::Over),
            ("used, and not old yet", 0, LIFE - 2, LIFE - 1, UseState::Valid),
            ("used, and old", 0, LIFE - 1, LIFE, UseState::Over),
        ];
        for (name, begun, used, now, want) in cases {
            let times = SessionTimes { begun_at: at(begun), used_at: at(used) };
            assert_eq!(session_state(times, at(now)), want, "{name}");
        }
    }

    #[test]
    fn a_token_ends_at_its_time() {
        assert_eq!(token_state(at(100), None, at(99)), UseState::ValidAndRecorded);
        assert_eq!(token_state(at(100), Some(at(98)), at(99)), UseState::Valid);
        assert_eq!(token_state(at(100), Some(at(98)), at(100)), UseState::Over);
    }
}
