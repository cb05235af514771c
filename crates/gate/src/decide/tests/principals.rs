//! Tests of the principals that may reach an agent.

use super::Principal::{AllowList, Any, OwnerOnly};
use super::Refusal::NotWelcome;
use super::*;

fn of(principal: Principal, is_listed: bool) -> Option<Held> {
    held(BOBS, |held| (held.principal, held.is_listed) = (principal, is_listed))
}

#[test]
fn a_stranger_reaches_whom_they_may() {
    check([
        ("anyone, in a channel", room(), &[], of(Any, false), Ok(&[BOBS])),
        ("anyone, in a thread", thread(), &[], of(Any, false), Ok(&[BOBS])),
        ("anyone, in a direct chat", direct(), &[], of(Any, false), Ok(&[BOBS])),
        ("anyone, also who is on the list", room(), &[], of(Any, true), Ok(&[BOBS])),
        ("a list they are on", room(), &[], of(AllowList, true), Ok(&[BOBS])),
        ("a list they are on, directly", direct(), &[], of(AllowList, true), Ok(&[BOBS])),
        ("a list they are not on", room(), &[], of(AllowList, false), Err(NotWelcome)),
        ("a list they are not on, directly", direct(), &[], of(AllowList, false), Err(NotWelcome)),
        (
            "a list they are not on, addressed",
            addressed(room()),
            &[],
            of(AllowList, false),
            Err(NotWelcome),
        ),
        ("its people alone", room(), &[], of(OwnerOnly, false), Err(NotWelcome)),
        ("its people alone, directly", direct(), &[], of(OwnerOnly, false), Err(NotWelcome)),
        ("its people alone, in a thread", thread(), &[], of(OwnerOnly, false), Err(NotWelcome)),
        (
            "its people alone: a list that does not count opens nothing",
            room(),
            &[],
            of(OwnerOnly, true),
            Err(NotWelcome),
        ),
        (
            "its people alone, addressed",
            addressed(room()),
            &[],
            of(OwnerOnly, false),
            Err(NotWelcome),
        ),
    ]);
}

#[test]
fn a_program_on_the_list_is_still_a_program() {
    let talks = held(BOBS, |held| {
        (held.principal, held.is_listed) = (AllowList, true);
        held.relevance.allow_other_bots = true;
    });
    check([
        ("not talked to", program(room()), &[], of(AllowList, true), Err(Refusal::OtherBot)),
        ("talked to", program(room()), &[], talks, Ok(&[BOBS])),
        (
            "talked to by nobody who keeps to its own",
            program(room()),
            &[],
            of(OwnerOnly, true),
            Err(NotWelcome),
        ),
    ]);
}
