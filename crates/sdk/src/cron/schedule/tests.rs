use jiff::civil::Weekday;
use proptest::prelude::*;

use super::*;

/// Noon of a Wednesday.
const NOON: i64 = 1_795_003_200;

fn at(secs: i64) -> Timestamp {
    Timestamp::from_second(secs).unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn every(seconds: u64) -> Schedule {
    Schedule::every(Duration::from_secs(seconds)).unwrap()
}

#[test]
fn an_interval_has_bounds_and_whole_seconds() {
    let cases = [
        ("nothing", Duration::ZERO, false),
        ("the shortest", EVERY_MIN, true),
        ("the longest", EVERY_MAX, true),
        ("longer", EVERY_MAX + Duration::from_secs(1), false),
        ("more than fits", Duration::from_secs(u64::MAX), false),
        ("a bit more than a second", Duration::from_millis(1_001), false),
    ];
    for (name, interval, good) in cases {
        assert_eq!(Schedule::every(interval).is_ok(), good, "{name}");
    }
}

#[test]
fn an_interval_goes_on_from_when_it_was_due_and_skips_what_has_passed() {
    let schedule = every(20);

    assert_eq!(schedule.first(at(NOON)), Some(at(NOON + 20)));
    let cases = [
        ("in time", 0, 20),
        ("late", 7, 20),
        ("just before the next", 19, 20),
        ("with the next", 20, 40),
        ("much too late", 3_607, 3_620),
        ("before it was due, by our clock", -5, 20),
    ];
    for (name, now, want) in cases {
        let next = schedule.next(at(NOON), at(NOON + now));
        assert_eq!(next, Some(at(NOON + want)), "{name}");
    }
}

#[test]
fn every_time_is_a_whole_second_and_none_is_too_early() {
    let half = Timestamp::new(NOON, 500_000_000).unwrap();

    assert_eq!(every(20).first(half), Some(at(NOON + 21)));
    assert_eq!(Schedule::at(half).first(at(0)), Some(at(NOON + 1)));
    let minutely = Schedule::cron("* * * * *").unwrap();
    assert_eq!(minutely.first(half), Some(at(NOON + 60)));
}

#[test]
fn one_time_is_one_time_also_if_it_has_passed() {
    let once = Schedule::at(at(NOON));

    assert_eq!(once.first(at(NOON + 100)), Some(at(NOON)));
    assert_eq!(once.next(at(NOON), at(NOON)), None);
    assert!(!once.recurs() && every(1).recurs());
}

#[test]
fn reads_what_people_write_into_a_crontab() {
    let cases = [
        ("30 8 * * 1-5", "2026-11-19T08:30:00Z"),
        ("*/15 * * * *", "2026-11-18T12:15:00Z"),
        ("0 12 * * *", "2026-11-19T12:00:00Z"),
        ("0 0 1 1 *", "2027-01-01T00:00:00Z"),
        ("0 0 29 2 *", "2028-02-29T00:00:00Z"),
        // The thirteenth, and every Friday.
        ("0 0 13 * 5", "2026-11-20T00:00:00Z"),
        ("0 9 * * mon", "2026-11-23T09:00:00Z"),
    ];
    for (pattern, want) in cases {
        let schedule = Schedule::cron(pattern).unwrap();
        assert_eq!(schedule.first(at(NOON)), Some(time(want)), "{pattern}");
    }
}

#[test]
fn says_what_is_wrong_with_an_expression() {
    let long = format!("{} * * * *", "0,".repeat(PATTERN_BYTES_MAX));
    let cases = [
        ("nothing", "", "UTC", BadSchedule::Pattern),
        ("words", "every day", "UTC", BadSchedule::Pattern),
        ("four fields", "* * * *", "UTC", BadSchedule::Pattern),
        ("seconds", "* * * * * *", "UTC", BadSchedule::Pattern),
        ("a minute too many", "60 * * * *", "UTC", BadSchedule::Pattern),
        ("too long", &long, "UTC", BadSchedule::Pattern),
        ("no such zone", "* * * * *", "Europe/Nowhere", BadSchedule::Zone),
        ("no such day", "0 0 30 2 *", "UTC", BadSchedule::Never),
    ];
    for (name, pattern, zone, want) in cases {
        assert_eq!(Schedule::cron_in(pattern, zone), Err(want), "{name}");
    }
}

#[test]
fn a_time_of_day_comes_once_a_day_whatever_the_clocks_do() {
    let daily = Schedule::cron_in("30 2 * * *", "Europe/Berlin").unwrap();
    let in_turn = |from: &str| {
        let first = daily.first(time(from)).unwrap();
        let second = daily.next(first, first).unwrap();
        [first, second].map(|time| time.to_string())
    };

    // In spring 02:30 is skipped, so it is made up for at three; in autumn it occurs twice.
    let spring = in_turn("2027-03-27T12:00:00Z");
    assert_eq!(spring, ["2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]);
    let autumn = in_turn("2027-10-30T12:00:00Z");
    assert_eq!(autumn, ["2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"]);
}

#[test]
fn nothing_overflows_at_the_end_of_time() {
    for schedule in [every(20), Schedule::cron("* * * * *").unwrap()] {
        assert_eq!(schedule.first(Timestamp::MAX), None);
        assert_eq!(schedule.next(Timestamp::MAX, Timestamp::MAX), None);
        assert_eq!(schedule.next(at(NOON), Timestamp::MAX), None);
    }
    assert_eq!(Schedule::at(Timestamp::MAX).first(at(0)), Some(Timestamp::MAX));
}

#[test]
fn is_kept_as_it_is_and_checked_when_it_is_read() {
    let cases = [
        (every(20), r#"{"every":{"seconds":20}}"#),
        (
            Schedule::cron_in("0 9 * * *", "Europe/Berlin").unwrap(),
            r#"{"cron":{"pattern":"0 9 * * *","zone":"Europe/Berlin"}}"#,
        ),
        (Schedule::at(at(NOON)), r#"{"at":"2026-11-18T12:00:00Z"}"#),
    ];
    for (schedule, text) in cases {
        assert_eq!(serde_json::to_string(&schedule).unwrap(), text);
        assert_eq!(serde_json::from_str::<Schedule>(text).unwrap(), schedule);
    }
    let bad = [r#"{"every":{"seconds":0}}"#, r#"{"cron":{"pattern":"x","zone":"UTC"}}"#];
    for text in bad {
        assert!(serde_json::from_str::<Schedule>(text).is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn an_interval_is_next_due_right_after_now_and_never_off_the_beat(
        seconds in 1_u32..100_000,
        last in 0_i64..2_000_000_000,
        late in -100_i64..10_000_000,
    ) {
        let (every_secs, now) = (i64::from(seconds), last + late);
        let next = every(seconds.into()).next(at(last), at(now)).unwrap().as_second();

        prop_assert!(next > last && next > now);
        prop_assert_eq!((next - last) % every_secs, 0);
        prop_assert!(next == last + every_secs || next - every_secs <= now, "no beat is left out");
    }

    /// Compares with a check of every minute.
    #[test]
    fn an_expression_is_next_due_at_the_first_minute_that_it_names(
        (minute, hour, weekday) in (0_i8..60, 0_i8..24, 0_i8..7),
        (any_hour, any_day) in any::<(bool, bool)>(),
        after in NOON..NOON + 40_000_000,
    ) {
        let field = |any: bool, value: i8| if any { "*".to_owned() } else { value.to_string() };
        let pattern =
            format!("{minute} {} * * {}", field(any_hour, hour), field(any_day, weekday));
        let names = |time: &Timestamp| {
            let time = time.to_zoned(TimeZone::UTC);
            let day = Weekday::from_sunday_zero_offset(weekday).unwrap();
            time.minute() == minute
                && (any_hour || time.hour() == hour)
                && (any_day || time.weekday() == day)
        };
        let mut minutes = (1..).map(|step| at((after / 60 + step) * 60));
        let want = minutes.find(names);

        prop_assert_eq!(Schedule::cron(&pattern).unwrap().first(at(after)), want, "{}", pattern);
    }

    #[test]
    fn no_expression_stops_the_agent(pattern in "[-*/0-9,LW#? a-z]{0,40}", after in any::<u32>()) {
        if let Ok(schedule) = Schedule::cron(pattern) {
            let after = at(after.into());
            prop_assert!(schedule.first(after).is_none_or(|next| next > after));
        }
    }
}
