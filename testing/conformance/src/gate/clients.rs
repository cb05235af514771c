//! Checks the gate's knowledge of an agent's client: its rules, the threads it takes part in, and its display name.

use nightdesk_types::{ClientRules, Relevance};

use super::super::Harness;
use super::super::cast::{Cast, Person};
use super::super::register::provision::{boot, provision};
use super::{reaches, terms};

/// Checks that an agent without its own rules has its client's, also after a change of the client.
pub async fn relevance_follows_the_client(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let register = harness.register();
    let relevance = async || terms(&cast, &ann).await.relevance;
    let follow = async |rules| {
        register.follow_rules(ann.scope, ann.agent, rules).await.expect("follow the rules");
    };
    assert_eq!(relevance().await, Relevance::default(), "open, before anything is known");

    follow(ClientRules::Hermes020).await;
    let gated =
        Relevance { require_address: true, continues_threads: true, ..Relevance::default() };
    assert_eq!(relevance().await, gated);
    let open = Relevance::default();
    let declared = register.declare(ann.scope, ann.agent, &cast.bot.platform, &open).await;
    declared.expect("declare");
    assert_eq!(
        relevance().await,
        Relevance { continues_threads: true, ..open },
        "what it declared counts"
    );
    follow(ClientRules::Hermes019).await;
    assert_eq!(relevance().await, Relevance::default());

    let taken = cast.take_line(&ann, Some(ClientRules::Hermes020)).await.taken;
    assert_eq!(taken.rules, ClientRules::Hermes020, "the first hello of a line shows them");
    assert_eq!(relevance().await, Relevance { continues_threads: true, ..Relevance::default() });
    assert_eq!(cast.line(&ann).await.taken.rules, taken.rules, "a hello that shows none");
}

/// Checks that an agent takes part where it has received an entry: in that chat, through that bot.
pub async fn an_agent_takes_part_where_it_received_something(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    cast.stored(&ann.says(1).in_chat("thread")).await;
    let takes_part = async |cast: &Cast<'_>, person: &Person, chat: &str| {
        let gate = harness.gate();
        let takes_part = gate.takes_part(person.scope, person.agent, cast.bot.id, chat).await;
        takes_part.expect("read whether an agent takes part")
    };

    assert!(takes_part(&cast, &ann, "thread").await);
    assert!(!takes_part(&cast, &ann, "another").await, "another thread");
    assert!(!takes_part(&cast, &bob, "thread").await, "another agent");
    cast.bot = cast.another_bot("other-bot").await;
    assert!(!takes_part(&cast, &ann, "thread").await, "another bot");
}

/// Checks that an agent uses its display name in a chat with another agent, also of another tenant.
pub async fn agents_of_one_chat_speak_by_their_names(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let mut named = boot("gw-1", "discord", "s1");
    named.description.display_name = Some("Owl".to_owned());
    provision(harness, &ann, &named).await;
    cast.stored(&ann.says(1).in_chat("c1")).await;
    cast.stored(&bob.says(2).in_chat("c2")).await;
    let speaks_as = async |person: &Person, chat: &str| {
        let reaches = reaches(&cast, person, chat).await;
        reaches.into_iter().map(|reach| reach.speaks_as).collect::<Vec<_>>()
    };

    assert_eq!(speaks_as(&ann, "c1").await, [None], "alone there");
    cast.stored(&bob.says(3).in_chat("c1")).await;
    assert_eq!(speaks_as(&ann, "c1").await, [Some("Owl".to_owned())]);
    assert_eq!(speaks_as(&bob, "c1").await, [None], "it has no name");
    assert_eq!(speaks_as(&bob, "c2").await, [None], "alone there");
}
