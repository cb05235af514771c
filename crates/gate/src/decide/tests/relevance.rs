//! What concerns an agent.

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
