use std::num::NonZeroU32;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::cron::Schedule;

const NOW: Timestamp = Timestamp::constant(1_795_003_200, 0);

fn after(secs: i64) -> Timestamp {
    Timestamp::from_second(NOW.as_second() + secs).unwrap()
}

fn every(seconds: u64) -> Schedule {
    Schedule::every(Duration::from_secs(seconds)).unwrap()
}

fn times(times: u32) -> NonZeroU32 {
    NonZeroU32::new(times).unwrap()
}

fn book(jobs: impl IntoIterator<Item = Job>) -> Book {
    let mut book = Book::default();
    for job in jobs {
        book.set(job, NOW).unwrap();
    }
    book
}

/// Claims the fire of a job that was armed for `fire` seconds after the start, at `now` seconds after it.
fn claim(book: &mut Book, job: &str, fire: i64, now: i64) -> Claim {
    let (fire_at, fire_id) = (format_time(after(fire)), format!("{job}-{fire}"));
    book.claim(FireDelivery { job, fire_at: Some(&fire_at), fire_id: &fire_id }, after(now))
}

fn run_of(claim: &Claim) -> Option<u32> {
    if let Claim::Won { run, .. } = claim { Some(*run) } else { None }
}

fn due(book: &Book, job: &str) -> Option<i64> {
    book.due_job(job).map(|due| due.at.as_second() - NOW.as_second())
}

#[test]
fn a_fire_is_won_once_and_moves_the_job_on() {
    let mut book = book([Job::new("tick", every(20))]);

    let won = claim(&mut book, "tick", 20, 21);
    assert_eq!(
        won,
        Claim::Won { job: Job::new("tick", every(20)), fire_at: after(20), run: 1 },
        "it says which, for when, and how often"
    );
    assert_eq!(due(&book, "tick"), Some(40), "moved on by the claim itself");
    assert_eq!(claim(&mut book, "tick", 20, 22), Claim::Used, "the desk says it again");
    let fire_at = format_time(after(20));
    let again = FireDelivery { job: "tick", fire_at: Some(&fire_at), fire_id: "another" };
    assert_eq!(book.claim(again, after(22)), Claim::Old, "under another name, after it ended");
    assert_eq!(run_of(&claim(&mut book, "tick", 40, 41)), Some(2));
}

#[test]
fn a_time_is_compared_byte_for_byte() {
    let mut book = book([Job::new("tick", every(20))]);
    for fire_at in ["2026-11-18T12:00:20Z", "2026-11-18T12:00:20.000000+00:00", ""] {
        let came = FireDelivery { job: "tick", fire_at: Some(fire_at), fire_id: "f" };
        assert_eq!(book.claim(came, after(20)), Claim::Old, "{fire_at}");
    }
    assert_eq!(run_of(&claim(&mut book, "tick", 20, 20)), Some(1));
}

#[test]
fn a_fire_that_names_no_time_is_for_what_is_due() {
    let mut book = book([Job::new("tick", every(60))]);
    let came = |fire_id| FireDelivery { job: "tick", fire_at: None, fire_id };

    assert_eq!(book.claim(came("a"), after(29)), Claim::Early);
    assert_eq!(
        run_of(&book.claim(came("a"), after(30))),
        Some(1),
        "clocks are half a minute apart"
    );
    assert_eq!(book.claim(came("a"), after(61)), Claim::Used);
    assert_eq!(book.claim(came("b"), after(61)), Claim::Early);
}

#[test]
fn a_token_is_good_for_one_fire_only() {
    let mut book = book([Job::new("a", every(20)), Job::new("b", every(20))]);
    let fire_at = format_time(after(20));
    let came = |job| FireDelivery { job, fire_at: Some(&fire_at), fire_id: "same" };

    assert_eq!(run_of(&book.claim(came("a"), after(20))), Some(1));
    assert_eq!(book.claim(came("b"), after(20)), Claim::Used, "shown again for another job");
    assert_eq!(run_of(&claim(&mut book, "b", 20, 20)), Some(1), "whose own fire is none the worse");
}

#[test]
fn nothing_runs_before_its_time() {
    let mut book = book([Job::new("tick", every(3_600))]);

    assert_eq!(claim(&mut book, "tick", 3_600, 3_569), Claim::Early);
    assert_eq!(due(&book, "tick"), Some(3_600));
    assert_eq!(run_of(&claim(&mut book, "tick", 3_600, 3_570)), Some(1));
}

#[test]
fn a_job_ends_with_its_last_time() {
    let mut book = book([Job::new("twice", every(20)).times(times(2))]);
    let recurring = |book: &Book| book.due_job("twice").map(|due| due.recurring);

    assert_eq!(recurring(&book), Some(true));
    assert_eq!(run_of(&claim(&mut book, "twice", 20, 20)), Some(1));
    assert_eq!(recurring(&book), Some(false), "the desk need not expect another");
    assert_eq!(run_of(&claim(&mut book, "twice", 40, 40)), Some(2));
    assert_eq!(due(&book, "twice"), None);
    assert_eq!(claim(&mut book, "twice", 60, 60), Claim::Gone);
    assert_eq!(claim(&mut book, "never", 20, 20), Claim::Gone, "like one that never was");
}

#[test]
fn a_one_shot_ends_with_its_fire() {
    let mut book = book([Job::new("once", Schedule::at(after(5)))]);

    assert_eq!(book.due_job("once").map(|due| due.recurring), Some(false));
    assert_eq!(run_of(&claim(&mut book, "once", 5, 5)), Some(1));
    assert_eq!(claim(&mut book, "once", 5, 6), Claim::Gone);
}

#[test]
fn who_sets_its_jobs_at_every_start_changes_nothing() {
    let tick = || Job::new("tick", every(20)).times(times(1));
    let mut book = book([tick()]);
    let before = book.clone();
    book.set(tick(), after(7)).unwrap();
    assert_eq!(book, before);

    book.set(tick().carrying(7.into()), after(7)).unwrap();
    assert_eq!(due(&book, "tick"), Some(20), "what it carries is not when it is due");
    assert_eq!(run_of(&claim(&mut book, "tick", 20, 20)), Some(1));
    book.set(tick(), after(30)).unwrap();
    assert_eq!(due(&book, "tick"), None, "what has ended is not begun anew");
    book.set(Job::new("tick", every(30)), after(30)).unwrap();
    assert_eq!(due(&book, "tick"), Some(60), "unless it is another");
}

#[test]
fn a_full_book_drops_what_ended_first() {
    let jobs = (0..JOBS_MAX).map(|number| Job::new(number.to_string(), every(20)));
    let mut book = book(jobs);
    assert_eq!(book.set(Job::new("more", every(20)), NOW), Err(BookFull));
    assert_eq!(book.set(Job::new("7", every(30)), NOW), Ok(()), "one that is there is no more");

    for (id, due) in [("3", 5), ("5", 4)] {
        book.set(Job::new(id, Schedule::at(after(due))), NOW).unwrap();
        assert_eq!(run_of(&claim(&mut book, id, due, due)), Some(1));
    }
    assert_eq!(book.set(Job::new("more", every(20)), NOW), Ok(()));
    assert!(!book.jobs.contains_key("5") && book.jobs.contains_key("3"));
}

#[test]
fn only_so_many_fires_are_remembered() {
    let mut book = book([Job::new("tick", every(1))]);
    let fires = i64::try_from(FIRES_KEPT_MAX).unwrap() + 5;
    for fire in 1..=fires {
        assert!(run_of(&claim(&mut book, "tick", fire, fire)).is_some());
    }
    assert_eq!(book.fires.len(), FIRES_KEPT_MAX);
    assert_eq!(book.fires.back(), Some(&format!("tick-{fires}")), "the latest ones");
}

#[test]
fn moves_on_from_what_nobody_keeps_and_is_too_late() {
    let day = Duration::from_hours(24).as_secs();
    let hour_late = |id: &str| Job::new(id, every(20)).catch_up(Duration::from_hours(1));
    let once = Job::new("once", Schedule::at(after(20))).catch_up(Duration::ZERO);
    let mut book =
        book([hour_late("late"), hour_late("armed"), Job::new("patient", every(day)), once]);
    let armed = BTreeSet::from(["armed".to_owned()]);

    book.move_on(&armed, after(20 + 3_600));
    assert_eq!(due(&book, "late"), Some(20), "at the limit");
    book.move_on(&armed, after(21 + 3_600));
    assert_eq!(due(&book, "late"), Some(3_640), "past it");
    assert_eq!(due(&book, "armed"), Some(20), "the desk may still fire it");
    assert_eq!(due(&book, "patient"), Some(86_400));
    assert_eq!(due(&book, "once"), None, "there is no other time");
}

#[test]
fn a_book_is_kept_as_it_is() {
    let job = Job::new("tick", every(20)).times(times(3)).carrying("hello".into());
    let mut book = book([job, Job::new("once", Schedule::at(after(5)))]);
    assert_eq!(run_of(&claim(&mut book, "tick", 20, 20)), Some(1));

    let text = serde_json::to_string(&book).unwrap();
    assert_eq!(serde_json::from_str::<Book>(&text).unwrap(), book);
}

#[test]
fn only_a_change_makes_another_version() {
    let book = book([Job::new("tick", every(20))]);

    assert_eq!(book.with_change(|book| book.remove("other")).1, None);
    let ((), changed) = book.with_change(|book| book.remove("tick"));
    assert_eq!(changed.map(|book| book.version()), Some(1));
}

proptest! {
    /// For any fires in any number and order: no time runs twice, none runs early, and no job runs more often than its
    /// limit.
    #[test]
    fn whatever_comes_each_time_is_won_at_most_once(
        limit in proptest::option::of(1_u32..5),
        comes in proptest::collection::vec((0_i64..20, 0_i64..30, 0_u8..40, any::<bool>()), 0..60),
    ) {
        let job = Job::new("tick", every(10));
        let job = limit.map_or(job.clone(), |limit| job.times(times(limit)));
        let mut book = book([job]);
        let (mut won, mut now) = (Vec::new(), 0);
        for (fire, passes, id, named) in comes {
            now += passes;
            let (fire_at, fire_id) = (format_time(after(fire * 10)), id.to_string());
            let fire_at = named.then_some(fire_at.as_str());
            let claim = book.claim(FireDelivery { job: "tick", fire_at, fire_id: &fire_id }, after(now));
            if let Claim::Won { fire_at, .. } = claim {
                prop_assert!(fire_at <= after(now + 30), "never early");
                prop_assert!(book.due_job("tick").is_none_or(|due| due.at > fire_at), "it moves on");
                won.push((fire_at, fire_id));
            }
        }
        let count = won.len();
        prop_assert!(limit.is_none_or(|limit| count <= limit as usize));
        let times: BTreeSet<_> = won.iter().map(|(fire_at, _)| fire_at).collect();
        let ids: BTreeSet<_> = won.iter().map(|(_, id)| id).collect();
        prop_assert_eq!((times.len(), ids.len()), (count, count));
    }
}
