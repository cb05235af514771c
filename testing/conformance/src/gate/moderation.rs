//! Checks the right of an agent to change messages of others.

use nightdesk_types::{GrantTarget, Principal};

use super::super::Harness;
use super::super::cast::{Cast, Person};
use super::{grant, reaches};

/// Checks that moderation holds in the granted chat, or on the whole bot, until the grant is released.
pub async fn an_agent_moderates_where_it_was_allowed_to(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.stranger("ann").await, cast.stranger("bob").await);
    for chat in ["c1", "c2"] {
        assert!(grant(&cast, &ann, chat, Principal::Any).await);
    }
    assert!(grant(&cast, &bob, "c3", Principal::Any).await);
    let register = harness.register();
    let allow = async |person: &Person, chat: &str| {
        let granted = GrantTarget::for_chat(None, chat);
        let allowed = register.allow_moderation(cast.on_bot(person), &granted).await;
        allowed.expect("allow moderation")
    };
    let is_moderator = async |person: &Person, chat: &str| {
        let reaches = reaches(&cast, person, chat).await;
        reaches.iter().map(|reach| reach.is_moderator).collect::<Vec<_>>()
    };
    assert_eq!(is_moderator(&ann, "c1").await, [false], "a grant alone");

    assert!(allow(&ann, "c1").await);
    assert!(!allow(&bob, "c1").await, "without the grant");
    assert_eq!(is_moderator(&ann, "c1").await, [true]);
    assert_eq!(is_moderator(&ann, "c2").await, [false], "another chat");
    let c1 = GrantTarget::for_chat(None, "c1");
    assert!(register.release(cast.on_bot(&ann), &c1).await.expect("release a grant"));
    assert!(grant(&cast, &ann, "c1", Principal::Any).await);
    assert_eq!(is_moderator(&ann, "c1").await, [false], "it ended with its grant");
    assert!(grant(&cast, &bob, "*", Principal::Any).await);
    assert!(allow(&bob, "*").await);
    assert_eq!(is_moderator(&bob, "c3").await, [true], "the whole bot");
}
