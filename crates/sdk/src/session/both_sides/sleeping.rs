//! Messages that arrive while an agent falls asleep.

use super::*;

const SLEEP_AFTER: Duration = Duration::from_mins(1);

/// More than the number of steps of a goodbye.
const STEPS_MAX: usize = 12;

impl Between {
    /// Starts a process that has no state of the previous one.
    fn starts(&mut self) {
        let hellos = settings().check().unwrap().hellos;
        let now = Moment::after_start(self.now);
        self.agent = AgentSession::new(now, hellos, SEED).sleeping_after(SLEEP_AFTER);
        self.pass(secs(0));
    }

    /// Runs only this many steps of both sides.
    fn talk_for(&mut self, steps: usize) {
        for _ in 0..steps {
            self.talk_once();
        }
    }

    /// Lets time pass until the agent has been quiet for long enough, and no longer.
    fn until_quiet(&mut self) {
        self.pass(SLEEP_AFTER / 2);
        self.now += SLEEP_AFTER / 2;
    }

    /// Ends every turn successfully, including turns that begin meanwhile.
    fn every_turn_ends(&mut self) {
        while !self.turns.is_empty() {
            self.turned(TurnResult::Well);
        }
    }

    fn is_asleep(&self) -> bool {
        self.shown.last() == Some(&Status::Over(AgentEnd::Asleep))
    }

    /// Checks that the late message was handled once, now or in the process that was started for it.
    fn nothing_is_lost(&mut self, name: &str) {
        self.talk();
        self.every_turn_ends();
        let slept = self.is_asleep();
        if slept {
            assert!(!self.acked.contains(&2), "{name}: nobody had it");
            self.starts();
        }
        // The desk holds entries back for a while after an announcement of sleep.
        self.pass(secs(10));
        self.every_turn_ends();
        assert_eq!(self.handled, ["early", "late"], "{name}, asleep: {slept}");
        assert_eq!(self.acked, BTreeSet::from([1, 2]), "{name}, asleep: {slept}");
    }
}

/// Returns an agent that handled an entry, and has been quiet for long enough to sleep.
fn quiet() -> Between {
    let mut both = Between::new();
    both.starts();
    both.says("early", "c1");
    both.every_turn_ends();
    both.until_quiet();
    both
}

#[test]
fn both_sides_talk_until_the_agent_sleeps() {
    let mut both = quiet();
    both.pass(secs(0));

    assert!(both.is_asleep());
    assert_eq!(
        both.desk_end,
        Some(DeskEnd { code: 1000, closed_by: ClosingSide::Idle, tried: None })
    );
    both.says("late", "c1");
    both.pass(SLEEP_AFTER);
    assert_eq!(both.texts_of_turns(), [""; 0], "it does not come back by itself");
    both.starts();
    assert_eq!(both.texts_of_turns(), ["late"]);
}

#[test]
fn nothing_is_lost_of_what_comes_at_any_step_of_a_goodbye() {
    for steps in 0..STEPS_MAX {
        let mut both = quiet();
        both.next.push_back(Next::AtTheAgent(Input::Tick));
        both.talk_for(steps);
        both.put("late", "c1");
        both.talk();
        assert!(both.is_asleep(), "{steps}: from the first word on the desk holds back");
        both.nothing_is_lost(&format!("{steps} steps into a goodbye"));
    }
}

#[test]
fn nothing_is_lost_when_a_goodbye_begins_at_any_step_of_a_message() {
    let mut slept = BTreeSet::new();
    for steps in 0..STEPS_MAX {
        let mut both = quiet();
        both.put("late", "c1");
        both.talk_for(steps);
        // Before all pending steps: both sides send at once.
        both.next.push_front(Next::AtTheAgent(Input::Tick));
        both.talk();
        slept.insert(both.is_asleep());
        both.nothing_is_lost(&format!("a goodbye {steps} steps into a message"));
    }
    assert_eq!(slept.len(), 2, "some came in time, and some too late");
}

#[test]
fn nothing_is_lost_when_the_process_stops_anywhere_in_a_goodbye() {
    for steps in 0..STEPS_MAX {
        let mut both = quiet();
        both.next.push_back(Next::AtTheAgent(Input::Tick));
        both.talk_for(steps);
        both.put("late", "c1");
        // From here on the desk has no peer.
        both.next.retain(|next| matches!(next, Next::AtTheDesk(_)));
        both.starts();
        both.nothing_is_lost(&format!("stopped {steps} steps into a goodbye"));
    }
}
