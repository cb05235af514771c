//! Tests commands that agents offer, on a bot that two tenants share.

use super::*;

/// Sends a hello with commands of these names.
async fn offers(stage: &Stage, household: &Household, names: &[&str]) -> TestGateway {
    let mut gateway = stage.desk.dial(household).await;
    let commands: Vec<Value> =
        names.iter().map(|name| json!({ "name": name, "description": household.name })).collect();
    let hello = json!({
        "type": "hello", "platform": "discord", "botId": "desk", "command_manifest": commands,
    });
    gateway.say(&hello).await;
    gateway.hear_frame("descriptor").await;
    stage.desk.settled().await;
    gateway
}

const OTHER: u64 = 71;

// T37
#[tokio::test]
async fn what_one_tenant_offers_changes_nothing_for_another() {
    let stage = stage().await;
    stage.fake.guild(&json!({
        "id": OTHER.to_string(), "name": "Away", "owner_id": "1", "members": [],
        "channels": [{ "id": "600", "name": "general" }],
    }));
    stage.fake.join(TOKEN, OTHER);
    let (ann, bob) = (&stage.household, stage.desk.household("bob", "gw-bob").await);
    let bot = stage.bot;
    let on =
        |household: &Household| AgentOnBot { scope: household.scope, agent: household.agent, bot };
    let store = stage.desk.register.store();
    store.bind(on(&bob), &BOB.to_string()).await.expect("bind Bob");
    let guild = |guild: u64| GrantTarget::Scope(guild.to_string());
    let chat = GrantTarget::Chat { chat: GENERAL.to_string(), scope: Some(GUILD.to_string()) };
    for (on, granted) in [(on(ann), guild(GUILD)), (on(&bob), chat), (on(&bob), guild(OTHER))] {
        store.grant(on, &granted, None).await.expect("grant");
    }

    let first = offers(&stage, ann, &["tea", "cake"]).await;
    assert_eq!(stage.fake.commands(BOT, Some(GUILD)), ["cake", "tea"]);
    let known = stage.fake.calls().len();
    drop(first);
    drop(offers(&stage, ann, &["tea", "cake"]).await);
    assert_eq!(stage.fake.calls().len(), known, "nothing is said when nothing changed");

    drop(offers(&stage, &bob, &["tea", "wine"]).await);
    assert_eq!(stage.fake.commands(BOT, Some(GUILD)), ["cake", "tea"], "a chat is not the guild");
    assert_eq!(stage.fake.commands(BOT, Some(OTHER)), ["tea", "wine"]);
    let told = stage.fake.calls_of("POST /applications/{}/guilds/{}/commands");
    let teas = told.iter().filter(|call| call.path.contains(&format!("/guilds/{GUILD}/")));
    let teas: Vec<_> = teas.filter(|call| call.asked["name"] == json!("tea")).collect();
    assert_eq!(teas.len(), 1, "it is Ann's, who had it first: {teas:?}");
    drop(offers(&stage, &bob, &[]).await);
    assert_eq!(stage.fake.commands(BOT, Some(GUILD)), ["cake", "tea"], "Ann's stay");
    assert_eq!(stage.fake.commands(BOT, Some(OTHER)), [""; 0]);
    assert_eq!(stage.fake.commands(BOT, None), [""; 0], "nothing is known everywhere");
}
