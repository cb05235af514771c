//! Tests with several agents in one place.

use super::*;

#[test]
fn who_has_several_agents_reaches_one_of_them() {
    let both = &[ANNS, ANNS_SECOND];
    check([
        ("the first, in a direct chat", direct(), both, NOBODYS, Ok(&[ANNS])),
        ("the first, in a channel", room(), both, NOBODYS, Ok(&[ANNS])),
        (
            "the other, where that is the first",
            direct(),
            &[ANNS_SECOND, ANNS],
            NOBODYS,
            Ok(&[ANNS_SECOND]),
        ),
        ("the one whose channel it is", room(), both, held_by(ANNS_SECOND), Ok(&[ANNS_SECOND])),
        (
            "the one whose channel it is, also of another tenant",
            room(),
            &[ANNS, BOBS],
            held_by(BOBS),
            Ok(&[BOBS]),
        ),
        (
            "the one whose channel it is, for its people alone",
            room(),
            both,
            held(ANNS_SECOND, |held| held.principal = Principal::OwnerOnly),
            Ok(&[ANNS_SECOND]),
        ),
        (
            "the one whose channel it is, though nothing there concerns it",
            room(),
            both,
            held(ANNS_SECOND, |held| held.relevance.require_address = true),
            Ok(&[ANNS_SECOND]),
        ),
        (
            "the one whose bot it is, in a direct chat",
            direct(),
            both,
            held(ANNS_SECOND, |held| held.extent = GrantExtent::Bot),
            Ok(&[ANNS_SECOND]),
        ),
    ]);
}

#[test]
fn an_event_may_have_several_recipients() {
    check([
        ("their own and the channel's", room(), &[ANNS], held_by(BOBS), Ok(&[ANNS, BOBS])),
        ("in the order of agents", room(), &[BOBS], held_by(ANNS), Ok(&[ANNS, BOBS])),
        ("in a thread", thread(), &[ANNS], held_by(BOBS), Ok(&[ANNS, BOBS])),
        ("not in a direct chat", direct(), &[ANNS], held_by(BOBS), Ok(&[ANNS])),
        (
            "their own alone, where the channel's may not be reached",
            room(),
            &[ANNS],
            held(BOBS, |held| held.principal = Principal::AllowList),
            Ok(&[ANNS]),
        ),
        (
            "their own alone, where the channel's cannot see",
            room(),
            &[ANNS],
            held(BOBS, |held| held.sight = Visibility::Blind),
            Ok(&[ANNS]),
        ),
        (
            "their own alone, where it does not concern the channel's",
            room(),
            &[ANNS],
            held(BOBS, |held| held.relevance.require_address = true),
            Ok(&[ANNS]),
        ),
    ]);
}

#[test]
fn each_agent_that_was_thought_of_has_a_verdict() {
    let held = held(BOBS, |held| held.principal = Principal::OwnerOnly);

    let decision = decided(&room(), &[ANNS], held.as_ref());
    let verdict =
        |recipient, ground, refusal| Verdict { recipient, ground, refusal, may_continue: false };
    let want = [
        verdict(ANNS, Ground::Binding, None),
        verdict(BOBS, Ground::Grant(GrantExtent::Chat), Some(Refusal::NotWelcome)),
    ];
    assert_eq!(decision.verdicts, want);
}

#[test]
fn a_refusal_is_the_business_of_whose_agent_was_thought_of() {
    let blind = held(BOBS, |held| held.sight = Visibility::Blind);

    let thought_of = decided(&room(), &[], blind.as_ref()).recipients();
    let nobody = decided(&room(), &[], None).recipients();
    assert_eq!(thought_of.map_err(|no| no.agent), Err(Some((BOBS.scope, BOBS.agent))));
    assert_eq!(nobody.map_err(|no| no.agent), Err(None));
}
