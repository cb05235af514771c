//! Tests of the visibility of a place for an agent's people.

use super::Refusal::{NotVisible, SightUnknown};
use super::Visibility::{Blind, Sees, Unknown};
use super::*;

fn with(sight: Visibility) -> Option<Held> {
    held(BOBS, |held| held.sight = sight)
}

#[test]
fn what_its_people_cannot_see_an_agent_is_not_told() {
    check([
        ("they see the channel", room(), &[], with(Sees), Ok(&[BOBS])),
        ("they see the thread", thread(), &[], with(Sees), Ok(&[BOBS])),
        ("they do not see the channel", room(), &[], with(Blind), Err(NotVisible)),
        ("they do not see the thread", thread(), &[], with(Blind), Err(NotVisible)),
        ("it is not known", room(), &[], with(Unknown), Err(SightUnknown)),
        ("it is not known of the thread", thread(), &[], with(Unknown), Err(SightUnknown)),
        ("addressed", addressed(room()), &[], with(Blind), Err(NotVisible)),
        ("addressed, and not known", addressed(room()), &[], with(Unknown), Err(SightUnknown)),
        ("a direct chat is opened to be heard", direct(), &[], with(Unknown), Ok(&[BOBS])),
        ("who writes in the channel sees it", room(), &[BOBS], with(Blind), Ok(&[BOBS])),
        ("and that need not be known", room(), &[BOBS], with(Unknown), Ok(&[BOBS])),
    ]);
}

#[test]
fn an_earlier_layer_speaks_first() {
    let unwelcome = held(BOBS, |held| {
        (held.principal, held.sight) = (Principal::OwnerOnly, Blind);
    });
    let irrelevant = held(BOBS, |held| {
        held.sight = Blind;
        held.relevance.require_address = true;
    });
    check([
        ("not welcome, and blind", room(), &[], unwelcome, Err(Refusal::NotWelcome)),
        ("blind, and not addressed", room(), &[], irrelevant, Err(NotVisible)),
    ]);
}
