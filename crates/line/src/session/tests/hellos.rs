//! Hellos, and the lookups of them.

use nightdesk_types::limits::HELLOS_MAX;

use super::*;

#[test]
fn each_hello_is_looked_up_and_the_first_takes_the_line() {
    let mut session = LineSession::new(at(secs(0)), CLIENT);

    for _ in 0..2 {
        let effects = session.step(at(secs(0)), heard(HELLO));
        assert!(matches!(effects[..], [LineEffect::Greet(_)]), "{effects:?}");
    }
    let first = session.step(at(secs(0)), greeted());
    assert!(matches!(first[..], [LineEffect::Say(_), LineEffect::Take(_)]), "{first:?}");
    let second = session.step(at(secs(0)), greeted());
    assert!(matches!(second[..], [LineEffect::Say(_)]), "{second:?}");
    assert_eq!(session.hellos().len(), 2);
}

#[test]
fn a_line_whose_lookup_failed_is_not_taken() {
    let mut session = LineSession::new(at(secs(0)), CLIENT);
    let mut effects = session.step(at(secs(0)), heard(HELLO));
    effects.extend(session.step(at(secs(0)), LineInput::StoreLost));

    let [LineEffect::Greet(_), LineEffect::Close(Close::TryLater), LineEffect::End(_)] =
        effects[..]
    else {
        panic!("{effects:?}")
    };
}

#[test]
fn a_lookup_that_ends_after_the_line_has_no_effect() {
    let mut session = LineSession::new(at(secs(0)), CLIENT);
    session.step(at(secs(0)), heard(HELLO));
    session.step(at(secs(0)), LineInput::Ended { code: 1006 });

    assert!(session.is_closed());
    assert_eq!(session.step(at(secs(1)), greeted()), []);
}

#[test]
fn hellos_have_a_limit() {
    let mut session = LineSession::new(at(secs(0)), CLIENT);
    let greets: Vec<usize> =
        (0..=HELLOS_MAX).map(|_| session.step(at(secs(0)), heard(HELLO)).len()).collect();

    assert_eq!(greets[HELLOS_MAX - 1], 1, "at the limit");
    assert_eq!(greets[HELLOS_MAX], 0, "past the limit");
}
