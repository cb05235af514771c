//! Tests that authors reach their own agents.

use super::Refusal::UnboundAuthor;
use super::*;

#[test]
fn an_author_reaches_their_own_agent() {
    check([
        ("in a direct chat", direct(), &[ANNS], NOBODYS, Ok(&[ANNS])),
        ("in a channel that is nobody's", room(), &[ANNS], NOBODYS, Ok(&[ANNS])),
        ("in a thread", thread(), &[ANNS], NOBODYS, Ok(&[ANNS])),
        ("addressed", addressed(room()), &[ANNS], NOBODYS, Ok(&[ANNS])),
        ("in its own channel", room(), &[ANNS], held_by(ANNS), Ok(&[ANNS])),
        ("in a thread of its channel", thread(), &[ANNS], held_by(ANNS), Ok(&[ANNS])),
        (
            "in its own channel, for its people alone",
            room(),
            &[ANNS],
            held(ANNS, |held| held.principal = Principal::OwnerOnly),
            Ok(&[ANNS]),
        ),
        (
            "in its own channel, for a list they are not on",
            room(),
            &[ANNS],
            held(ANNS, |held| held.principal = Principal::AllowList),
            Ok(&[ANNS]),
        ),
        (
            "in another's channel, for its people alone",
            room(),
            &[ANNS],
            held(BOBS, |held| held.principal = Principal::OwnerOnly),
            Ok(&[ANNS]),
        ),
    ]);
}

#[test]
fn who_is_bound_to_nobody_reaches_nobody() {
    check([
        ("in a direct chat", direct(), &[], NOBODYS, Err(UnboundAuthor)),
        ("in a channel", room(), &[], NOBODYS, Err(UnboundAuthor)),
        ("in a thread", thread(), &[], NOBODYS, Err(UnboundAuthor)),
        ("addressed", addressed(room()), &[], NOBODYS, Err(UnboundAuthor)),
        ("addressed in a direct chat", addressed(direct()), &[], NOBODYS, Err(UnboundAuthor)),
        ("a program", program(room()), &[], NOBODYS, Err(UnboundAuthor)),
        ("a program in a direct chat", program(direct()), &[], NOBODYS, Err(UnboundAuthor)),
    ]);
}

#[test]
fn a_program_owns_no_agent() {
    check([
        ("in a direct chat", program(direct()), &[ANNS], NOBODYS, Err(UnboundAuthor)),
        ("in a channel", program(room()), &[ANNS], NOBODYS, Err(UnboundAuthor)),
        ("addressed", program(addressed(room())), &[ANNS], NOBODYS, Err(UnboundAuthor)),
        (
            "in the channel of the agent it has the id for",
            program(room()),
            &[ANNS],
            held_by(ANNS),
            Err(Refusal::OtherBot),
        ),
        (
            "in a channel for people bound to it",
            program(room()),
            &[ANNS],
            held(ANNS, |held| held.principal = Principal::OwnerOnly),
            Err(Refusal::NotWelcome),
        ),
    ]);
}
