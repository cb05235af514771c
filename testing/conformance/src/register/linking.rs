//! Checks link codes.

use nightdesk_register::RedeemResult;
use nightdesk_register::enrolment::Digest;
use nightdesk_types::limits::{LINK_CODES_PER_HOUR, LINK_TRIES_PER_HOUR};

use crate::Harness;
use crate::cast::{Cast, Person};

/// Stores a code for a person's agent.
async fn enter(harness: &impl Harness, person: &Person, code: &str) -> bool {
    let Person { scope, agent, .. } = *person;
    let entered = harness.register().enter_code(scope, agent, &Digest::from_secret(code)).await;
    entered.expect("enter a link code")
}

/// Sends a code to the bot as an author.
async fn send(cast: &Cast<'_>, author: &str, code: &str) -> RedeemResult {
    let sent =
        cast.harness.register().redeem(cast.bot.id, author, &Digest::from_secret(code)).await;
    sent.expect("link a person")
}

async fn share(cast: &Cast<'_>, shared: bool) -> bool {
    let done = cast.harness.register().share(cast.operator, cast.bot.id, shared).await;
    done.expect("share a bot")
}

fn linked(person: &Person) -> RedeemResult {
    let Person { scope, agent, author, .. } = person.clone();
    RedeemResult::Linked { scope, agent, name: author }
}

/// Checks that the sender of a code is bound to its agent, and that it cannot be used again.
pub async fn a_code_links_one_person(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    assert!(share(&cast, true).await);
    assert!(enter(harness, &ann, "c1").await);

    assert_eq!(send(&cast, "u1", "c1").await, linked(&ann));
    assert_eq!(send(&cast, "u1", "c1").await, linked(&ann), "said again");
    assert_eq!(send(&cast, "u2", "c1").await, RedeemResult::Used);
    assert_eq!(send(&cast, "u2", "c2").await, RedeemResult::Unknown);
    let known =
        harness.gate().read_changes(cast.bot.id, None).await.expect("read who may be reached");
    assert_eq!(known.authors, [("u1".to_owned(), vec![(ann.scope, ann.agent)])]);
}

/// Checks that a code is refused on a bot that is not shared, and stays valid.
pub async fn a_code_is_good_on_open_bots_alone(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    assert!(enter(harness, &ann, "c1").await);

    assert_eq!(send(&cast, "u1", "c1").await, RedeemResult::NotHere);
    assert!(!harness.register().share(ann.scope, cast.bot.id, true).await.expect("share a bot"));
    assert_eq!(send(&cast, "u1", "c1").await, RedeemResult::NotHere, "shared by who may not");
    assert!(share(&cast, true).await);
    assert_eq!(send(&cast, "u1", "c1").await, linked(&ann));
    cast.bot = cast.another_bot("other-bot").await;
    assert_eq!(send(&cast, "u1", "c1").await, RedeemResult::Used, "on another bot");
}

/// Checks that an author who guesses is soon blocked, also with a right code.
pub async fn guesses_are_few(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    assert!(share(&cast, true).await);
    assert!(enter(harness, &ann, "c1").await);

    for nth in 0..LINK_TRIES_PER_HOUR {
        assert_eq!(send(&cast, "u1", &format!("guess {nth}")).await, RedeemResult::Unknown);
    }
    assert_eq!(send(&cast, "u1", "c1").await, RedeemResult::TooMany);
    assert_eq!(send(&cast, "u2", "c1").await, linked(&ann), "another person");
}

/// Checks the limit of codes per agent and hour.
pub async fn codes_are_few(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.stranger("ann").await;
    let bob = cast.stranger("bob").await;

    for nth in 0..LINK_CODES_PER_HOUR {
        assert!(enter(harness, &ann, &format!("c{nth}")).await);
    }
    assert!(!enter(harness, &ann, "one more").await);
    assert!(enter(harness, &bob, "another's").await);
    let register = harness.register();
    let foreign = register.enter_code(bob.scope, ann.agent, &Digest::from_secret("foreign")).await;
    assert!(foreign.is_err(), "for an agent of another tenant");
}
