//! Properties of the rules, over random sequences of events.

use std::time::Duration;

use nightdesk_types::limits::{
    CALL_BEGUN_AFTER_CLAIM_MAX, CALL_GAP, CALL_WAIT_MAX, CLOSED_GRACE, UNRECORDED_CALL_GAP,
    WAKE_DEADLINE,
};
use nightdesk_types::{BotId, TenantId};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::row::LineEnd;

const SCOPE: TenantScope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(1)));
const AGENT: AgentId = AgentId::from_uuid(Uuid::from_u128(2));
const TERMS: WakeTerms =
    WakeTerms { has_command: false, wakes_per_hour: 3, still_waking_after: Duration::from_mins(3) };
const HOUR: Duration = Duration::from_hours(1);

/// The facts of a claim.
#[derive(Clone, Copy, Debug)]
struct Facts {
    line: Option<OpenLine>,
    waits: bool,
    has_url: bool,
}

/// An event that changes a wake, or time that passes.
#[derive(Clone, Copy, Debug)]
enum Event {
    Pass(Duration),
    Need { grace: Duration },
    EndLine { grace: Duration },
    Suspect(Suspicion),
    Ask,
    CallSoon,
    DialIn,
    Claim(Facts),
    RecordOutcome { wait: Duration },
    PutOff { wait: Duration },
    FinishDelayNotice,
    FinishGivingUp,
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("a time of our days")
}

fn place() -> WaitingChat {
    WaitingChat { bot: BotId::from_uuid(Uuid::from_u128(3)), chat_id: "c1".to_owned() }
}

fn due_wake(row: &WakeRow, facts: Facts) -> DueWake {
    DueWake {
        scope: SCOPE,
        agent: AGENT,
        row: row.clone(),
        line: facts.line,
        went_idle: false,
        has_webhook: false,
        urls: facts.has_url.then(|| "https://agents.example/wake".to_owned()).into_iter().collect(),
        places: facts.waits.then(place).into_iter().collect(),
    }
}

fn suspicions() -> impl Strategy<Value = Suspicion> {
    (1..3_i64, 0..2_i64)
        .prop_map(|(line, acked)| Suspicion { line: Generation::new(line), acked: Seq::new(acked) })
}

fn lines() -> impl Strategy<Value = OpenLine> {
    (suspicions(), 0..7_200_i64).prop_map(|(Suspicion { line, acked }, seconds)| OpenLine {
        generation: line,
        opened_at: at(seconds),
        acked,
    })
}

fn facts() -> impl Strategy<Value = Facts> {
    (proptest::option::weighted(0.3, lines()), any::<bool>(), proptest::bool::weighted(0.9))
        .prop_map(|(line, waits, has_url)| Facts { line, waits, has_url })
}

fn spans(max: Duration) -> impl Strategy<Value = Duration> {
    (0..=max.as_secs() * 1_000).prop_map(Duration::from_millis)
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => spans(CALL_GAP * 2).prop_map(Event::Pass),
        1 => spans(HOUR).prop_map(Event::Pass),
        1 => spans(WAKE_DEADLINE).prop_map(Event::Pass),
        3 => spans(CLOSED_GRACE).prop_map(|grace| Event::Need { grace }),
        1 => spans(CLOSED_GRACE).prop_map(|grace| Event::EndLine { grace }),
        1 => suspicions().prop_map(Event::Suspect),
        1 => Just(Event::Ask),
        1 => Just(Event::CallSoon),
        1 => Just(Event::DialIn),
        8 => facts().prop_map(Event::Claim),
        2 => (CALL_GAP.as_secs()..=CALL_WAIT_MAX.as_secs())
            .prop_map(|secs| Event::RecordOutcome { wait: Duration::from_secs(secs) }),
        1 => spans(CALL_GAP).prop_map(|wait| Event::PutOff { wait }),
        1 => Just(Event::FinishDelayNotice),
        1 => Just(Event::FinishGivingUp),
    ]
}

/// One agent's wake, the clock, and the last call that was claimed.
#[derive(Clone)]
struct World {
    now: Timestamp,
    row: WakeRow,
    last: Option<WakeClaim>,
}

impl World {
    fn new() -> Self {
        Self { now: at(0), row: WakeRow::new(at(0)), last: None }
    }

    fn after(events: &[Event]) -> Self {
        let mut world = Self::new();
        for event in events {
            world.run(*event);
        }
        world
    }

    /// Runs an event. Returns the decision if it is a claim.
    fn run(&mut self, event: Event) -> Option<WakeDecision> {
        let (row, now) = (self.row.clone(), self.now);
        match event {
            Event::Pass(span) => self.now = now.checked_add(span).expect("a time of our days"),
            Event::Need { grace } => {
                self.row = row.make_due(LineEnd { at: now, grace }.first_call_at(now), now);
            }
            Event::EndLine { grace } => self.row = row.end_line(LineEnd { at: now, grace }, now),
            Event::Suspect(suspicion) => self.row = row.suspect(suspicion, now),
            Event::Ask => self.row = row.request_call(now),
            Event::CallSoon => self.write(row.call_soon(now)),
            Event::DialIn => self.write(row.dial_in(now)),
            Event::Claim(facts) => return Some(self.claim(facts)),
            Event::RecordOutcome { wait } => {
                let last = self.last.as_ref();
                let next = last.and_then(|last| row.record_outcome(last, "200", wait, now));
                self.write(next);
            }
            Event::PutOff { wait } => {
                let next = self.last.as_ref().and_then(|last| row.put_off(last, wait, now));
                self.write(next);
            }
            Event::FinishDelayNotice => {
                let next = self.last.as_ref().and_then(|last| row.finish_delay_notice(last));
                self.write(next);
            }
            Event::FinishGivingUp => {
                let next = self.last.as_ref().and_then(|last| row.finish_giving_up(last));
                self.write(next);
            }
        }
        None
    }

    fn claim(&mut self, facts: Facts) -> WakeDecision {
        let decision = decide(due_wake(&self.row, facts), TERMS, self.now);
        self.row = decision.row.clone();
        self.last = decision.claimed.clone().or_else(|| self.last.take());
        decision
    }

    fn write(&mut self, next: Option<WakeRow>) {
        if let Some(next) = next {
            self.row = next;
        }
    }
}

fn is_call(decision: &WakeDecision) -> bool {
    decision.claimed.as_ref().is_some_and(|claimed| claimed.step == WakeStep::Call)
}

/// Returns the chat of the notice of a delay, if a decision has one.
fn delayed_chat(decision: &WakeDecision) -> Option<&WaitingChat> {
    match &decision.claimed.as_ref()?.delay {
        DelayNotice::Due(place) => Some(place),
        DelayNotice::At(_) | DelayNotice::Over => None,
    }
}

fn histories() -> impl Strategy<Value = Vec<Event>> {
    proptest::collection::vec(events(), 0..80)
}

proptest! {
    #[test]
    fn an_agent_is_called_only_if_an_entry_waits_or_a_person_asked(events in histories()) {
        let mut world = World::new();
        for event in events {
            let asked = world.row.asked;
            let decision = world.run(event);
            if let (Event::Claim(facts), Some(decision)) = (event, decision) {
                prop_assert!(facts.waits || asked || !is_call(&decision), "{decision:?}");
            }
        }
    }

    #[test]
    fn calls_are_never_closer_than_the_gap(events in histories()) {
        let mut world = World::new();
        // The latest time at which the last call may have begun.
        let mut begun_by: Option<Timestamp> = None;
        for event in events {
            let before = world.row.clone();
            let decision = world.run(event);
            // A call that was put off was not made.
            if matches!(event, Event::PutOff { .. }) && world.row.calls < before.calls {
                begun_by = None;
            }
            // A call whose outcome is recorded has begun.
            if matches!(event, Event::RecordOutcome { .. }) && world.row != before {
                begun_by = begun_by.min(Some(world.now));
            }
            if decision.as_ref().is_some_and(is_call) {
                let gap = begun_by.map(|begun_by| world.now.duration_since(begun_by));
                let is_kept = gap.is_none_or(|gap| Duration::try_from(gap).is_ok_and(|gap| gap >= CALL_GAP));
                prop_assert!(is_kept, "called again after {gap:?}");
                begun_by = world.now.checked_add(CALL_BEGUN_AFTER_CLAIM_MAX).ok();
            }
        }
    }

    #[test]
    fn a_claim_that_has_not_run_out_is_never_taken(
        events in histories(),
        facts in facts(),
        share in 0.0..0.999,
    ) {
        let mut world = World::new();
        for event in events {
            let Some(claim) = world.run(event).filter(|claim| claim.claimed.is_some()) else { continue };
            let mut other = world.clone();
            let until = other.row.due_at.expect("a claimed wake is looked at again");
            let left = until.duration_since(other.now).unsigned_abs();
            other.run(Event::Pass(left.mul_f64(share)));

            let second = other.claim(facts);
            prop_assert_eq!(second, WakeDecision { row: claim.row, notice: None, claimed: None });
        }
    }

    #[test]
    fn a_claimed_call_is_repeated_after_the_gap_if_its_node_stops(events in histories()) {
        let mut world = World::new();
        for event in events {
            if world.run(event).as_ref().is_some_and(is_call) {
                let mut other = world.clone();
                other.run(Event::Pass(UNRECORDED_CALL_GAP));
                let second = other.claim(Facts { line: None, waits: true, has_url: true });
                prop_assert!(second.claimed.is_some(), "{second:?}");
            }
        }
    }

    #[test]
    fn an_agent_with_a_line_is_called_only_if_the_line_is_suspect(events in histories()) {
        let mut world = World::new();
        for event in events {
            let suspicion = world.row.suspicion;
            let decision = world.run(event);
            if let (Event::Claim(Facts { line: Some(line), .. }), Some(decision)) = (event, decision) {
                let is_suspect = suspicion == Some(line.suspicion());
                prop_assert!(is_suspect || !is_call(&decision), "{decision:?}");
            }
        }
    }

    #[test]
    fn a_persons_request_resets_the_wake_and_is_called(events in histories(), waits: bool) {
        let mut world = World::after(&events);
        let before = world.row.clone();
        world.run(Event::Ask);
        let row = &world.row;

        prop_assert_eq!((row.phase, row.asked, row.suspicion), (WakePhase::Due, true, None));
        prop_assert_eq!(row.due_at, Some(world.now.max(before.rests_until)));
        if !matches!(before.phase, WakePhase::Due | WakePhase::Held) {
            prop_assert_eq!((row.since, row.calls, row.outcome.clone()), (world.now, 0, None));
        }
        let rest = before.rests_until.duration_since(world.now);
        world.run(Event::Pass(rest.try_into().unwrap_or_default()));
        let overdue = world.now >= world.row.given_up_at();
        let decision = world.claim(Facts { line: None, waits, has_url: true });
        prop_assert!(overdue || is_call(&decision), "neither held nor settled: {decision:?}");
        prop_assert!(!world.row.asked, "one request is one call");
    }

    #[test]
    fn an_agent_is_not_woken_more_often_in_an_hour_than_it_may_be(events in histories()) {
        let mut world = World::new();
        for event in events {
            let (before, asked) = (world.row.clone(), world.row.asked);
            let is_called = world.run(event).as_ref().is_some_and(is_call);
            if is_called && !asked && before.calls == 0 {
                prop_assert!(world.row.hour_wakes <= TERMS.wakes_per_hour, "{:?}", world.row);
            }
        }
    }

    #[test]
    fn an_open_wake_is_always_looked_at_again(events in histories()) {
        let mut world = World::new();
        for event in events {
            world.run(event);
            let is_open = matches!(world.row.phase, WakePhase::Due | WakePhase::Held);
            prop_assert!(!is_open || world.row.due_at.is_some(), "{:?}", world.row);
        }
    }

    #[test]
    fn an_owner_gets_one_notice_per_wake_that_is_given_up(events in histories()) {
        let mut world = World::new();
        let mut noticed = None;
        for event in events {
            let Some(decision) = world.run(event) else { continue };
            let Some(notice) = decision.notice else { continue };
            if notice.kind == NoticeKind::Unreachable {
                prop_assert_eq!(world.row.phase, WakePhase::Unreachable);
                prop_assert_ne!(noticed.replace(world.row.since), Some(world.row.since));
            }
        }
    }

    #[test]
    fn an_owner_gets_one_notice_per_wake_that_is_held(events in histories()) {
        let mut world = World::new();
        for event in events {
            let before = world.row.phase;
            let notice = world.run(event).and_then(|decision| decision.notice);
            if notice.is_some_and(|notice| notice.kind == NoticeKind::Held) {
                prop_assert_ne!(before, WakePhase::Held);
                prop_assert_eq!(world.row.phase, WakePhase::Held);
            }
        }
    }

    #[test]
    fn an_author_hears_of_a_delay_in_time_and_not_again_once_it_is_recorded(events in histories()) {
        let mut world = World::new();
        for event in events {
            let before = world.row.clone();
            let decision = world.run(event);
            let is_same_wake = (before.since, before.phase) == (world.row.since, world.row.phase);
            prop_assert!(!before.delay_told || world.row.delay_told || !is_same_wake, "it is forgotten");
            let Some(told) = decision.as_ref().and_then(delayed_chat) else { continue };
            prop_assert!(!before.delay_told, "told again");
            prop_assert_eq!(told, &place());
            let waited = world.now.duration_since(world.row.since);
            let is_late = Duration::try_from(waited).is_ok_and(|waited| waited >= TERMS.still_waking_after);
            prop_assert!(is_late, "told after {waited:?}");
        }
    }

    #[test]
    fn a_wake_that_needs_a_notice_is_looked_at_in_time(events in histories(), waits in 15_u64..600) {
        let mut world = World::after(&events);
        world.run(Event::DialIn);
        world.run(Event::Need { grace: Duration::ZERO });
        let asleep = Facts { line: None, waits: true, has_url: true };
        let since = world.row.since;
        let mut told = 0;
        // Each claim is made when the row is due, and each call is recorded.
        for _ in 0..40 {
            let due_at = world.row.due_at.expect("it is open");
            let wait = due_at.duration_since(world.now);
            world.run(Event::Pass(wait.try_into().unwrap_or_default()));
            let decision = world.claim(asleep);
            if delayed_chat(&decision).is_some() {
                told += 1;
                let late = world.now.duration_since(since).unsigned_abs();
                prop_assert!(late <= TERMS.still_waking_after + UNRECORDED_CALL_GAP, "told after {late:?}");
                world.run(Event::FinishDelayNotice);
            }
            if is_call(&decision) {
                world.run(Event::RecordOutcome { wait: Duration::from_secs(waits) });
            }
            if told > 0 || world.row.phase == WakePhase::Unreachable {
                break;
            }
        }
        prop_assert_eq!(told, 1);
    }

    #[test]
    fn a_result_of_an_earlier_wake_changes_nothing(events in histories(), wait in spans(CALL_WAIT_MAX)) {
        let mut world = World::after(&events);
        let asleep = Facts { line: None, waits: true, has_url: true };
        world.run(Event::Need { grace: Duration::ZERO });
        world.run(Event::Pass(HOUR));
        prop_assume!(is_call(&world.claim(asleep)));
        let call = world.last.clone().expect("it was claimed");
        world.run(Event::Pass(Duration::from_secs(1)));
        world.run(Event::DialIn);
        world.run(Event::Need { grace: Duration::ZERO });

        prop_assert_eq!(world.row.clone().record_outcome(&call, "200", wait, world.now), None);
        prop_assert_eq!(world.row.clone().put_off(&call, wait, world.now), None);
    }
}

/// The cases of a claim, and the step and phase of each.
#[test]
fn each_case_has_its_step() {
    let needed = WakeRow::new(at(0)).make_due(at(0), at(0));
    let asleep = Facts { line: None, waits: true, has_url: true };
    let line = |seconds| OpenLine {
        generation: Generation::new(1),
        opened_at: at(seconds),
        acked: Seq::new(0),
    };
    let up = |seconds| Facts { line: Some(line(seconds)), ..asleep };
    let suspect = needed.clone().suspect(line(-9).suspicion(), at(0));
    let often = WakeRow { hour_began_at: at(-9), hour_wakes: 3, ..needed.clone() };
    let long_ago = WakeRow { since: at(-86_400), ..needed.clone() };
    let given_up = WakeRow { phase: WakePhase::Unreachable, ..needed.clone() };
    let later = WakeRow { due_at: Some(at(1)), ..needed.clone() };
    let held = WakeRow { phase: WakePhase::Held, ..often.clone() };
    let waiting = WakeRow { since: at(-180), ..needed.clone() };
    let held_long = WakeRow { since: at(-180), ..held.clone() };
    let told = WakeRow { delay_told: true, ..waiting.clone() };
    let no_url = Facts { has_url: false, ..asleep };
    let cases = [
        ("needed", needed.clone(), asleep, Some(WakeStep::Call), WakePhase::Due),
        ("claimed by another node", later, asleep, None, WakePhase::Due),
        ("dialled in", needed.clone(), up(0), None, WakePhase::Woken),
        ("up before", needed.clone(), up(-9), None, WakePhase::Settled),
        ("a suspect line", suspect.clone(), up(-9), Some(WakeStep::Call), WakePhase::Due),
        (
            "an empty inbox",
            needed.clone(),
            Facts { waits: false, ..asleep },
            None,
            WakePhase::Settled,
        ),
        ("no URL", needed.clone(), no_url, None, WakePhase::Due),
        ("no URL for minutes", waiting.clone(), no_url, Some(WakeStep::Delayed), WakePhase::Due),
        ("no URL, and told", told, no_url, None, WakePhase::Due),
        ("needed for minutes", waiting, asleep, Some(WakeStep::Call), WakePhase::Due),
        ("held", held, asleep, None, WakePhase::Held),
        ("held for minutes", held_long, asleep, Some(WakeStep::Delayed), WakePhase::Held),
        ("woken too often", often.clone(), asleep, Some(WakeStep::Held), WakePhase::Held),
        (
            "woken too often, and asked",
            often.request_call(at(0)),
            asleep,
            Some(WakeStep::Call),
            WakePhase::Due,
        ),
        ("a day is over", long_ago, asleep, Some(WakeStep::GaveUp), WakePhase::Unreachable),
        ("given up before", given_up, asleep, Some(WakeStep::GaveUp), WakePhase::Unreachable),
    ];
    for (name, row, facts, step, phase) in cases {
        let decision = decide(due_wake(&row, facts), TERMS, at(0));
        assert_eq!(decision.claimed.map(|claimed| claimed.step), step, "{name}");
        assert_eq!(decision.row.phase, phase, "{name}");
    }
}

#[test]
fn a_letter_or_a_job_has_no_author_to_tell() {
    let row = WakeRow { since: at(-180), ..WakeRow::new(at(0)).make_due(at(0), at(0)) };
    let of_desk =
        WaitingChat { bot: BotId::from_uuid(Uuid::nil()), chat_id: "cron:tidy-up".to_owned() };
    let facts = Facts { line: None, waits: true, has_url: true };
    let chats = |places| DueWake { places, ..due_wake(&row, facts) };
    let delay = |places| {
        let decision = decide(chats(places), TERMS, at(0));
        delayed_chat(&decision).cloned()
    };

    assert_eq!(delay(vec![of_desk.clone()]), None);
    assert_eq!(delay(vec![of_desk, place()]), Some(place()));
}
