//! Checks bots and nodes.

use std::time::Duration;

use nightdesk_register::{GreetedBot, NewBot, StoredBot};
use nightdesk_types::{BotId, DataKeyId, Principal};
use serde_json::json;

use crate::Harness;
use crate::cast::{Cast, Person, bot, id_of, new_bot, secret, tenant};
use crate::gate::grant;

/// Checks that a bot is found by its path and by its id, as it was created.
pub async fn a_bot_is_found_by_path_and_by_id(harness: &impl Harness) {
    let operator = tenant(harness, "operator").await;
    let sealed = Some((b"sealed".to_vec(), DataKeyId::new(1)));
    let new = NewBot { sealed, path: "secret-path".to_owned(), ..new_bot("desk-bot") };
    let register = harness.register();
    let id = register.create_bot(operator, &new).await.expect("enter a bot");
    bot(harness, operator, "other-bot").await;
    assert_eq!(id.uuid(), new.id);

    for found in [
        register.bot_at("secret-path").await.expect("find a bot"),
        register.bot(id).await.expect("find a bot"),
    ] {
        let found: StoredBot = found.expect("it was entered");
        assert_eq!((found.id, found.operator), (id, operator.tenant()));
        assert_eq!((found.platform, found.adapter), (new.platform.clone(), new.adapter.clone()));
        assert_eq!((found.handle, found.settings), (new.handle.clone(), new.settings.clone()));
        let key = found.keys.first().expect("it has a key");
        assert_eq!((key.row, key.sealed.as_slice()), (new.id, &b"sealed"[..]));
        let (_, wrapped) = register.data_key(operator).await.expect("read a tenant's key");
        assert_eq!(key.wrapped, wrapped);
    }
    assert!(register.bot_at("desk-bot").await.expect("find a bot").is_none());
    let nobodys = BotId::from_uuid(id_of("bot", "nobody's"));
    assert!(register.bot(nobodys).await.expect("find a bot").is_none());
}

/// Checks that a bot's path and its name on the platform are unique.
pub async fn a_bot_is_entered_once(harness: &impl Harness) {
    let operator = tenant(harness, "operator").await;
    let other = tenant(harness, "other").await;
    let register = harness.register();
    register.create_bot(operator, &new_bot("desk-bot")).await.expect("enter a bot");
    let fresh = new_bot("fresh");
    let named = |handle: &str, path: &str| NewBot {
        handle: handle.to_owned(),
        path: path.to_owned(),
        ..fresh.clone()
    };

    let same_path = register.create_bot(other, &named("b", "desk-bot")).await;
    assert!(same_path.is_err(), "a path leads to one bot");
    let same_handle = register.create_bot(operator, &named("desk-bot", "p2")).await;
    assert!(same_handle.is_err(), "an operator has each account once");
    let others = register.create_bot(other, &named("desk-bot", "p2")).await;
    assert!(others.is_ok(), "another operator may have one of the same name");
    let keyless = register.bot_at("p2").await.expect("find a bot").expect("it was entered");
    assert_eq!(keyless.keys, [], "a bot need not have a key");
}

/// Checks that bots of an adapter are found over all tenants, also those whose platform posts by itself.
pub async fn bots_to_be_looked_after_are_found_by_adapter(harness: &impl Harness) {
    let (operator, other) = (tenant(harness, "operator").await, tenant(harness, "other").await);
    let register = harness.register();
    let enter = async |scope, name: &str, adapter: &str, settings| {
        let adapter = adapter.to_owned();
        let new = NewBot { adapter, settings, ..new_bot(name) };
        register.create_bot(scope, &new).await.expect("enter a bot")
    };
    let asked = enter(operator, "asked", "telegram", json!({})).await;
    let told_so = enter(other, "told-so", "telegram", json!({ "updates": "poll" })).await;
    let posted = enter(operator, "posted", "telegram", json!({ "updates": "webhook" })).await;
    enter(operator, "another's", "elsewhere", json!({})).await;

    let adapters = ["telegram".to_owned(), "nobody's".to_owned()];
    let mut found = register.listening_bots(&adapters).await.expect("find bots");
    found.sort_unstable();
    let mut want = [asked, told_so, posted];
    want.sort_unstable();
    assert_eq!(found, want);
    assert_eq!(register.listening_bots(&[]).await.expect("find bots"), []);
}

/// Checks that a bot uses its new key, and that its previous key is available for a while.
pub async fn a_rotated_bot_key_overlaps_with_the_new_one(harness: &impl Harness) {
    let (operator, other) = (tenant(harness, "operator").await, tenant(harness, "other").await);
    let sealed = Some((b"first".to_vec(), DataKeyId::new(1)));
    let register = harness.register();
    let new = NewBot { sealed, ..new_bot("desk-bot") };
    let bot = register.create_bot(operator, &new).await.expect("enter a bot");
    let rotate = async |scope, name: &str, overlap| {
        let rotated = register.rotate_bot_key(scope, bot, &secret(name), overlap).await;
        rotated.expect("replace a bot's key")
    };
    let keys = async || {
        let found = register.bot(bot).await.expect("find a bot").expect("it was entered");
        found.keys.into_iter().map(|key| key.sealed).collect::<Vec<_>>()
    };

    assert!(!rotate(other, "thief", Duration::ZERO).await, "only its operator");
    assert!(rotate(operator, "second", Duration::from_hours(1)).await);
    assert_eq!(keys().await, [b"second".to_vec(), b"first".to_vec()], "newest first");
    assert!(rotate(operator, "third", Duration::ZERO).await);
    assert_eq!(keys().await, [b"third".to_vec()], "without an overlap they end at once");
}

/// Checks that an agent may greet for the bots on which it has a binding or grant, and for no other.
pub async fn an_agents_bots_are_those_it_is_known_on(harness: &impl Harness) {
    let mut cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let mut want = vec![greeted(&cast)];
    cast.another_bot("nobodys-bot").await;
    cast.bot = cast.another_bot("other-bot").await;
    assert_eq!(bots_of(harness, &ann).await, want);
    grant(&cast, &ann, "c1", Principal::OwnerOnly).await;
    want.push(greeted(&cast));
    want.sort_by_key(|bot| bot.id);

    assert_eq!(bots_of(harness, &ann).await, want);
    assert_eq!(bots_of(harness, &bob).await.len(), 1);
    let foreign = Person { scope: bob.scope, ..ann.clone() };
    assert_eq!(bots_of(harness, &foreign).await, [], "not in another tenant's name");
}

fn greeted(cast: &Cast<'_>) -> GreetedBot {
    let (platform, handle) = (cast.bot.platform.clone(), cast.bot.handle.clone());
    GreetedBot { id: cast.bot.id, platform, handle }
}

async fn bots_of(harness: &impl Harness, person: &Person) -> Vec<GreetedBot> {
    let bots = harness.register().bots_of(person.scope, person.agent).await;
    let mut bots = bots.expect("find an agent's bots");
    bots.sort_by_key(|bot| bot.id);
    bots
}
