//! Times in views.

use nightdesk_types::Timestamp;

/// Formats a time in whole seconds.
pub(crate) fn seconds(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

/// Formats a time relative to now, for a person.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    if at <= now { format!("{} ago", span(at, now)) } else { format!("in {}", span(now, at)) }
}

/// Formats the time between two moments, in its largest unit.
pub(crate) fn span(from: Timestamp, to: Timestamp) -> String {
    let seconds = (to.as_second() - from.as_second()).unsigned_abs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        86_400.. => format!("{} d", seconds / 86_400),
    }
}

/// Returns the milliseconds from one moment to a later one.
pub(crate) fn milliseconds_between(from: Timestamp, to: Timestamp) -> i64 {
    (to.as_millisecond() - from.as_millisecond()).max(0)
}

/// Formats a duration in milliseconds, in its largest unit, and short ones exactly.
pub fn duration_text(milliseconds: i64) -> String {
    match milliseconds {
        ..1_000 => format!("{milliseconds} ms"),
        1_000..10_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        10_000..60_000 => format!("{} s", milliseconds / 1_000),
        60_000..3_600_000 => format!("{} min", milliseconds / 60_000),
        3_600_000..86_400_000 => format!("{} h", milliseconds / 3_600_000),
        86_400_000.. => format!("{} d", milliseconds / 86_400_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_relative_to_now() {
        let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        let cases = [
            (0, "0 s ago"),
            (-59, "59 s ago"),
            (-60, "1 min ago"),
            (-3_600, "1 h ago"),
            (-200_000, "2 d ago"),
            (90, "in 1 min"),
        ];
        for (second, want) in cases {
            assert_eq!(ago(at(second), at(0)), want);
        }
    }

    #[test]
    fn a_short_duration_is_exact() {
        let cases = [
            (0, "0 ms"),
            (999, "999 ms"),
            (1_240, "1.2 s"),
            (59_999, "59 s"),
            (61_000, "1 min"),
            (7_200_000, "2 h"),
            (172_800_000, "2 d"),
        ];
        for (milliseconds, want) in cases {
            assert_eq!(duration_text(milliseconds), want);
        }
    }
}
