//! Checks commands.

use nightdesk_register::{AgentOnBot, CommandDigest, HeldCommand};
use nightdesk_types::GrantTarget;

use crate::Harness;
use crate::cast::{Cast, Person};

/// Checks that a name belongs to the first agent that had it in a guild, for as long as the guild is granted to it.
pub async fn a_command_has_one_agent_in_each_guild(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let on =
        |person: &Person| AgentOnBot { scope: person.scope, agent: person.agent, bot: cast.bot.id };
    let register = harness.register();
    let claim = async |person: &Person, guild: &str| {
        register.claim_command(on(person), guild, "tea").await.expect("claim a name")
    };
    let whole = |guild: &str| GrantTarget::Scope(guild.to_owned());
    let chat = GrantTarget::Chat { chat: "c1".to_owned(), scope: Some("g1".to_owned()) };
    assert!(!claim(&ann, "g1").await, "nothing was granted there");
    for (person, granted) in [(&ann, whole("g1")), (&bob, chat.clone()), (&bob, whole("g2"))] {
        register.grant(on(person), &granted, None).await.expect("grant");
    }

    assert!(!claim(&bob, "g1").await, "a chat is not the guild");
    assert!(claim(&ann, "g1").await);
    assert!(claim(&ann, "g1").await, "it is still hers");
    assert!(claim(&bob, "g2").await, "another guild is another place");
    assert!(register.release(on(&ann), &whole("g1")).await.expect("release"));
    register.grant(on(&bob), &whole("g1"), None).await.expect("grant");
    assert!(claim(&bob, "g1").await, "whose guild it is not any more has no name there");
    assert!(!claim(&ann, "g1").await);
}

/// Checks that only the agent with the name knows and changes the state of a command at the platform.
pub async fn what_was_told_of_a_command_is_kept(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let (ann, bob) = (cast.person("ann").await, cast.person("bob").await);
    let on =
        |person: &Person| AgentOnBot { scope: person.scope, agent: person.agent, bot: cast.bot.id };
    let register = harness.register();
    let whole = GrantTarget::Scope("g1".to_owned());
    register.grant(on(&ann), &whole, None).await.expect("grant");
    assert!(register.claim_command(on(&ann), "g1", "tea").await.expect("claim a name"));
    let held = async |person: &Person| {
        let held = register.commands_of(person.scope, person.agent, cast.bot.id).await;
        held.expect("read commands")
    };
    let nothing =
        HeldCommand { scope_id: "g1".to_owned(), name: "tea".to_owned(), registered: None };
    assert_eq!(held(&ann).await, std::slice::from_ref(&nothing));

    let told = Some((CommandDigest::from_bytes(b"tea"), "77".to_owned()));
    let told = HeldCommand { registered: told, ..nothing.clone() };
    register.note_command(on(&ann), &told).await.expect("note");
    register.note_command(on(&bob), &nothing).await.expect("note nothing");
    register.drop_command(on(&bob), "g1", "tea").await.expect("drop nothing");
    assert_eq!((held(&ann).await, held(&bob).await), (vec![told], vec![]));
    register.drop_command(on(&ann), "g1", "tea").await.expect("drop");
    assert_eq!(held(&ann).await, []);
}
