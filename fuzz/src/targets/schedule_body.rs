//! Z13: the time of a job is kept as it was written, is the instant that a second parser reads, and can be delayed by
//! every delay of the desk without overflow.

use std::time::Duration;

use nightdesk_protocol::http::cron::CronProvisionRequest;
use nightdesk_schedule::{FireAt, JobId, Target};
use nightdesk_types::limits::{CATCH_UP_MAX, JITTER_MAX};

/// Seconds of a day.
const DAY_SECS: i64 = 86_400;

/// The longest delay of a fire, and a day for its retries.
const DELAY_MAX: Duration =
    CATCH_UP_MAX.saturating_add(JITTER_MAX).saturating_add(Duration::from_hours(24));

/// The input is a body, or the text of a time.
pub(super) fn run(data: &[u8]) {
    let Ok(request) = serde_json::from_slice::<CronProvisionRequest>(data) else {
        check_time(&String::from_utf8_lossy(data));
        return;
    };
    let written = serde_json::to_vec(&request).expect("a request can be written");
    let again: CronProvisionRequest = serde_json::from_slice(&written).expect("and read again");
    assert_eq!(again, request);
    check_time(&request.fire_at);
    if let Ok(job) = JobId::new(request.job_id.clone()) {
        assert_eq!(job.as_str(), request.job_id);
        assert!(!request.job_id.contains(['\0', '\n']), "{job:?}");
    }
    if let Ok(Target::Inbox(words)) = Target::inbox(request.words.clone().unwrap_or_default()) {
        assert!(!words.contains('\0'), "PostgreSQL refuses a NUL");
    }
}

fn check_time(text: &str) {
    let Ok(fire_at) = FireAt::parse(text) else { return };
    assert_eq!(fire_at.as_str(), text);
    let again = FireAt::from_timestamp(fire_at.instant());
    let again = FireAt::parse(again.as_str()).expect("the desk's own notation is readable");
    assert_eq!(again.instant(), fire_at.instant());
    assert!(fire_at.instant().checked_add(DELAY_MAX).is_ok(), "{text} overflows");
    if let Some(second) = read_plainly(text) {
        assert_eq!(floor_second(&fire_at), second, "{text}");
    }
}

/// Returns the whole second of an instant, rounded down also before 1970.
fn floor_second(fire_at: &FireAt) -> i64 {
    let at = fire_at.instant();
    at.as_second() - i64::from(at.subsec_nanosecond() < 0)
}

/// Reads `2026-06-18T12:34:56[.789](Z|+00:00)` and returns the second since 1970, rounded down. Any other notation is
/// not compared.
fn read_plainly(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, digits: usize| -> Option<i64> {
        let part = bytes.get(from..from + digits)?;
        part.iter().all(u8::is_ascii_digit).then(|| text[from..from + digits].parse().ok())?
    };
    let is = |at: usize, sign: u8| bytes.get(at) == Some(&sign);
    let has_signs = is(4, b'-') && is(7, b'-') && is(10, b'T') && is(13, b':') && is(16, b':');
    let zone = text.get(19..)?;
    let zone = zone
        .strip_prefix('.')
        .map_or(zone, |rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    let offset_secs = match zone.as_bytes() {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), a, b, b':', c, d]
            if [a, b, c, d].into_iter().all(u8::is_ascii_digit) =>
        {
            let at = text.len() - 5;
            let secs = number(at, 2)? * 3_600 + number(at + 3, 2)? * 60;
            if *sign == b'-' { -secs } else { secs }
        }
        _ => return None,
    };
    let time = number(11, 2)? * 3_600 + number(14, 2)? * 60 + number(17, 2)?.min(59);
    let days = days_since_1970(number(0, 4)?, number(5, 2)?, number(8, 2)?);
    has_signs.then_some(days * DAY_SECS + time - offset_secs)
}

/// Counts days year by year and month by month.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of_year = |year: i64| if is_leap(year) { 366 } else { 365 };
    let years = if year >= 1970 {
        (1970..year).map(days_of_year).sum::<i64>()
    } else {
        -(year..1970).map(days_of_year).sum::<i64>()
    };
    let days_of_month = |month: i64| match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    years + (1..month).map(days_of_month).sum::<i64>() + day - 1
}
