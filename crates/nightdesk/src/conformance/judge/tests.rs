use super::*;

const RUNNING: Expectations = Expectations { end: ExpectedEnd::Running, stops: 0, forgeries: 0 };
const REVOKED: Expectations = Expectations { end: ExpectedEnd::Revoked, ..RUNNING };
const STOPPED: Expectations = Expectations { stops: 1, ..RUNNING };

fn question(chat: usize, token: &str) -> TrialFact {
    TrialFact::Question { chat, token: token.to_owned() }
}

fn answer(chat: usize, token: &str) -> TrialFact {
    TrialFact::Answer { chat, token: token.to_owned() }
}

fn delivery(token: &str) -> TrialFact {
    TrialFact::Delivery { entry: format!("entry of {token}"), token: Some(token.to_owned()) }
}

fn send(token: &str) -> TrialFact {
    TrialFact::Send { token: token.to_owned() }
}

fn ack(token: &str, fate: SignalFate) -> TrialFact {
    TrialFact::Ack { entry: format!("entry of {token}"), fate }
}

/// A message that was answered well.
fn turn(chat: usize, token: &str) -> Vec<TrialFact> {
    let passed = SignalFate::Passed;
    vec![
        question(chat, token),
        delivery(token),
        send(token),
        ack(token, passed),
        answer(chat, token),
    ]
}

/// The facts, two seconds apart.
fn timed(facts: impl IntoIterator<Item = TrialFact>) -> Vec<TimedFact> {
    let facts = facts.into_iter().zip((0..).step_by(2));
    facts.map(|(fact, secs)| TimedFact { at: Duration::from_secs(secs), fact }).collect()
}

fn first_fault(facts: impl IntoIterator<Item = TrialFact>, expected: Expectations) -> String {
    judge(&timed(facts), expected).into_iter().next().unwrap_or_default()
}

fn assert_fault(facts: impl IntoIterator<Item = TrialFact>, part: &str) {
    let fault = first_fault(facts, RUNNING);
    assert!(fault.contains(part), "{fault:?} is not about {part:?}");
}

#[test]
fn an_agent_that_answers_and_acknowledges_has_no_fault() {
    assert_eq!(first_fault([turn(0, "a"), turn(1, "b"), turn(0, "c")].concat(), RUNNING), "");
}

#[test]
fn a_missing_answer_is_a_fault() {
    let facts = [turn(0, "a"), vec![question(1, "b"), delivery("b"), delivery("b")]].concat();

    assert_fault(facts, "1 of 2 messages were not answered; the first is b");
}

#[test]
fn an_answer_in_another_chat_is_a_fault() {
    let mut facts = turn(0, "a");
    facts.push(answer(1, "a"));

    assert_fault(facts, "appeared in chat 1");
}

#[test]
fn a_second_answer_is_a_fault() {
    let mut facts = turn(0, "a");
    facts.extend([delivery("a"), answer(0, "a")]);

    assert_fault(facts, "a was answered 2 times; it was delivered 2 times");
}

#[test]
fn a_second_answer_is_excused_by_a_kill_before_the_ack() {
    let (passed, begun) = (SignalFate::Passed, [question(0, "a"), delivery("a"), send("a")]);
    let killed = |end: [TrialFact; 3]| {
        begun.iter().cloned().chain([answer(0, "a")]).chain(end).chain([answer(0, "a")])
    };

    let before = [TrialFact::Kill, delivery("a"), ack("a", passed)];
    let after = [ack("a", passed), TrialFact::Kill, delivery("a")];
    assert_eq!(first_fault(killed(before), RUNNING), "");
    assert_fault(killed(after), "answered 2 times");
}

#[test]
fn answers_out_of_order_are_a_fault_in_one_chat_only() {
    let both = |chat| {
        let asked = [question(0, "a"), question(chat, "b")];
        let answered = [answer(chat, "b"), answer(0, "a")];
        asked.into_iter().chain(answered)
    };

    assert_fault(both(0), "a was written before b in chat 0");
    assert_eq!(first_fault(both(1), RUNNING), "");
}

#[test]
fn an_ack_before_the_answer_is_a_fault_also_if_it_is_lost() {
    for fate in [SignalFate::Passed, SignalFate::Withheld] {
        let facts = [question(0, "a"), delivery("a"), ack("a", fate), send("a"), answer(0, "a")];
        assert_fault(facts, "acknowledged before it was answered");
    }
}

#[test]
fn a_withheld_ack_must_be_repeated() {
    let mut facts = turn(0, "a");
    facts[3] = ack("a", SignalFate::Withheld);
    assert_fault(facts.clone(), "never acknowledged");

    facts.extend([delivery("a"), ack("a", SignalFate::Passed)]);
    assert_eq!(first_fault(facts, RUNNING), "");
}

#[test]
fn a_program_that_ends_by_itself_is_at_fault_unless_it_was_revoked() {
    let exit = || TrialFact::Exit { status: "status 1".to_owned() };

    assert_fault(turn(0, "a").into_iter().chain([exit()]), "ended by itself (status 1)");
    let revoked = |end| turn(0, "a").into_iter().chain([TrialFact::Revocation, end]);
    assert_eq!(first_fault(revoked(exit()), REVOKED), "");
    assert_eq!(first_fault(revoked(TrialFact::RevocationReport), REVOKED), "");
    let early = [exit(), TrialFact::Revocation];
    assert!(first_fault(early, REVOKED).contains("neither ended nor wrote"));
}

#[test]
fn a_stop_must_be_executed_in_time() {
    let order = || TrialFact::StopOrder { token: "a".to_owned() };
    let begun = || vec![question(0, "a"), delivery("a"), order()];
    let ended = |stopped| {
        let rest = [TrialFact::StopResult { stopped }, ack("a", SignalFate::Passed)];
        first_fault(begun().into_iter().chain(rest), STOPPED)
    };

    assert_eq!(ended(true), "");
    assert_eq!(ended(false), "a running turn was not stopped");
    let late =
        [delivery("a"), TrialFact::StopResult { stopped: true }, ack("a", SignalFate::Passed)];
    assert!(first_fault(begun().into_iter().chain(late), STOPPED).contains("not executed within"));
    assert!(first_fault(turn(0, "a"), STOPPED).contains("took no stop order"));
    let stopped = [TrialFact::StopResult { stopped: true }, ack("a", SignalFate::Passed)];
    let went_on = begun().into_iter().chain(stopped).chain([answer(0, "a")]);
    assert!(first_fault(went_on, STOPPED).contains("answered nevertheless"));
}

#[test]
fn a_forged_post_must_be_refused() {
    let expected = Expectations { forgeries: 1, ..RUNNING };
    let status = |status| first_fault([TrialFact::Forgery { status }], expected);

    assert_eq!(status(401), "");
    assert!(status(200).contains("got status 200"));
    assert!(first_fault([], expected).contains("did not respond"));
}

#[test]
fn dials_without_a_pause_are_a_fault() {
    let dials = |every: u64| -> Vec<TimedFact> {
        let at =
            (0..=DIALS_PER_SECOND_MAX as u64).map(|number| Duration::from_millis(number * every));
        at.map(|at| TimedFact { at, fact: TrialFact::Dial }).collect()
    };

    assert_eq!(judge(&dials(200), RUNNING), [""; 0]);
    assert_eq!(judge(&dials(199), RUNNING).len(), 1);
}
