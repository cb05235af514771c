//! Tests of a bot in so many servers that Discord requires several sockets.

use super::*;

/// A guild of the second of two sockets.
const FAR: u64 = 71 << 22;
const FAR_ROOM: u64 = 600;

#[tokio::test]
async fn a_bot_that_grows_is_told_over_several_sockets_and_each_goes_on_elsewhere() {
    let mut stage = stage().await;
    stage.arrive().await;
    stage.fake.say(ANN, GENERAL, "one");
    assert_eq!(stage.texts(1).await, ["one"]);

    // The bot joins another guild, and Discord requires one more socket.
    stage.fake.guild(&json!({
        "id": FAR.to_string(), "name": "Far", "owner_id": "1",
        "members": [{ "user": { "id": ANN.to_string() }, "roles": [] }],
        "channels": [{ "id": FAR_ROOM.to_string(), "name": "far" }],
    }));
    stage.fake.join(TOKEN, FAR);
    stage.fake.shards(TOKEN, 2);
    stage.fake.order(Order::Close(4011));
    let both = |fake: &FakeDiscord| {
        let of_two = fake.identifies().into_iter().filter(|one| one.shard.1 == 2);
        of_two.map(|one| one.shard.0).collect::<Vec<_>>() == [0, 1]
    };
    let mut gaps = 0;
    while !both(&stage.fake) || gaps < 2 {
        let heard = stage.discord.listen(&stage.bot, stage.cursor.as_deref()).await.unwrap();
        gaps += heard.iter().filter(|one| one.is_after_gap).count();
        stage.cursor = heard.last().map(|one| one.cursor.clone()).or(stage.cursor.take());
    }
    stage.fake.say(ANN, GENERAL, "near");
    assert_eq!(stage.texts(1).await, ["near"]);
    stage.fake.say(ANN, FAR_ROOM, "far");
    assert_eq!(stage.texts(1).await, ["far"]);

    // Another node resumes both sessions.
    let begun = stage.fake.identifies().len();
    stage.discord.leave(&stage.bot).await;
    stage.discord = node(&stage.fake);
    stage.fake.say(ANN, GENERAL, "here");
    stage.fake.say(ANN, FAR_ROOM, "and there");
    let mut texts = stage.texts(2).await;
    texts.sort();
    assert_eq!(texts, ["and there", "here"]);
    assert_eq!(stage.fake.identifies().len(), begun, "it begins none");
}
