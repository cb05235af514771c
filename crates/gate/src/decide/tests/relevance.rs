//! Tests of the relevance policy.

use super::Refusal::{NotAddressed, OtherBot};
use super::*;

fn wants(change: impl FnOnce(&mut Relevance)) -> Option<Held> {
    held(BOBS, |held| change(&mut held.relevance))
}

fn address() -> Option<Held> {
    wants(|relevance| relevance.require_address = true)
}

fn address_but_in(free: &str) -> Option<Held> {
    wants(|relevance| {
        relevance.require_address = true;
        relevance.free_scopes = vec!["elsewhere".to_owned(), free.to_owned()];
    })
}

fn programs() -> Option<Held> {
    wants(|relevance| relevance.allow_other_bots = true)
}

fn addressing_programs() -> Option<Held> {
    wants(|relevance| (relevance.require_address, relevance.allow_other_bots) = (true, true))
}

#[test]
fn who_wants_to_be_addressed_hears_nothing_else() {
    check([
        ("said to everybody", room(), &[], address(), Err(NotAddressed)),
        ("said to everybody in a thread", thread(), &[], address(), Err(NotAddressed)),
        ("said to the bot", addressed(room()), &[], address(), Ok(&[BOBS])),
        ("said to the bot in a thread", addressed(thread()), &[], address(), Ok(&[BOBS])),
        ("a direct chat is said to the bot", direct(), &[], address(), Ok(&[BOBS])),
        ("who does not want it hears all", room(), &[], held_by(BOBS), Ok(&[BOBS])),
        ("its own people need not", room(), &[BOBS], address(), Ok(&[BOBS])),
        ("nor in a thread", thread(), &[BOBS], address(), Ok(&[BOBS])),
    ]);
}

#[test]
fn where_it_is_waived_nobody_needs_to_address_it() {
    check([
        ("in the channel", room(), &[], address_but_in("channel"), Ok(&[BOBS])),
        ("in a thread of it", thread(), &[], address_but_in("channel"), Ok(&[BOBS])),
        ("in the thread", thread(), &[], address_but_in("thread"), Ok(&[BOBS])),
        ("in the whole guild", room(), &[], address_but_in("guild"), Ok(&[BOBS])),
        ("in a thread of the guild", thread(), &[], address_but_in("guild"), Ok(&[BOBS])),
        ("not in another", room(), &[], address_but_in("another"), Err(NotAddressed)),
        ("not in the channel of it", room(), &[], address_but_in("thread"), Err(NotAddressed)),
        ("not by the author's id", room(), &[], address_but_in("ann"), Err(NotAddressed)),
        ("nowhere by an empty id", room(), &[], address_but_in(""), Err(NotAddressed)),
    ]);
}

fn address_but_in_its_threads() -> Option<Held> {
    wants(|relevance| (relevance.require_address, relevance.continues_threads) = (true, true))
}

const fn taking_part(facts: EventFacts<'static>) -> EventFacts<'static> {
    EventFacts { takes_part: true, ..facts }
}

#[test]
fn a_thread_that_the_agent_takes_part_in_goes_on() {
    let its_threads = address_but_in_its_threads;
    check([
        ("in its thread", taking_part(thread()), &[], its_threads(), Ok(&[BOBS])),
        ("in another thread", thread(), &[], its_threads(), Err(NotAddressed)),
        ("addressed in another", addressed(thread()), &[], its_threads(), Ok(&[BOBS])),
        ("not by older rules", taking_part(thread()), &[], address(), Err(NotAddressed)),
        ("not to programs", program(taking_part(thread())), &[], its_threads(), Err(OtherBot)),
    ]);
}

#[test]
fn the_store_is_asked_only_where_taking_part_decides() {
    let asks = |facts: EventFacts<'static>, held: Option<Held>| {
        decided(&facts, &[], held.as_ref()).may_continue()
    };
    let its_threads = address_but_in_its_threads;

    assert_eq!(asks(thread(), its_threads()), Some(BOBS));
    assert_eq!(asks(room(), its_threads()), None, "no thread");
    assert_eq!(asks(addressed(thread()), its_threads()), None, "received anyway");
    assert_eq!(asks(taking_part(thread()), its_threads()), None, "known already");
    assert_eq!(asks(thread(), address()), None, "older rules");
}

#[test]
fn programs_are_heard_by_who_wants_them() {
    check([
        ("not by default", program(room()), &[], held_by(BOBS), Err(OtherBot)),
        ("not though addressed", program(addressed(room())), &[], address(), Err(OtherBot)),
        ("not in a direct chat", program(direct()), &[], held_by(BOBS), Err(OtherBot)),
        ("not where it is waived", program(room()), &[], address_but_in("channel"), Err(OtherBot)),
        ("if wanted", program(room()), &[], programs(), Ok(&[BOBS])),
        ("if wanted, in a thread", program(thread()), &[], programs(), Ok(&[BOBS])),
        ("if wanted, directly", program(direct()), &[], programs(), Ok(&[BOBS])),
        (
            "if wanted, and addressed as it must be",
            program(addressed(room())),
            &[],
            addressing_programs(),
            Ok(&[BOBS]),
        ),
        (
            "not if wanted, and not addressed",
            program(room()),
            &[],
            addressing_programs(),
            Err(NotAddressed),
        ),
    ]);
}
