//! Tests sockets and sessions.

use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use super::shard::{CONTENT, PLAIN, Shard, identify, resume, url};
use super::*;

async fn closed(fake: &FakeDiscord) {
    let is_closed =
        |fake: &FakeDiscord| fake.sockets().iter().all(|socket| socket.closed.is_some());
    assert!(fake.until(PATIENCE, is_closed).await, "the socket is closed");
}

#[tokio::test]
async fn who_resumes_hears_what_came_after_a_number() {
    let fake = fake().await;
    let (mut shard, ready) = Shard::ready(&fake, PLAIN | CONTENT).await;
    fake.say(ANN, GENERAL, "one");
    assert_eq!(shard.content().await, json!("one"));
    drop(shard);
    closed(&fake).await;
    fake.say(ANN, GENERAL, "two");

    let mut shard = Shard::say(&url(&ready), resume(&ready, 2)).await;
    assert_eq!(shard.content().await, json!("one"), "from the number on, not from what was sent");
    assert_eq!(shard.content().await, json!("two"));
    shard.event("RESUMED").await;
    fake.say(ANN, GENERAL, "three");
    assert_eq!(shard.content().await, json!("three"));
    assert_eq!((fake.identifies().len(), fake.resumes().len()), (1, 1));
    assert!(fake.resumes()[0].is_taken && fake.resumes()[0].at_resume_url);
}

#[tokio::test]
async fn a_session_ends_with_a_goodbye_and_with_time() {
    let fake = fake().await;
    for code in [1000_u16, 1001] {
        fake.settings(|settings| settings.identify_every = Duration::ZERO);
        let (mut shard, ready) = Shard::ready(&fake, PLAIN).await;
        let frame = CloseFrame { code: code.into(), reason: "".into() };
        shard.0.close(Some(frame)).await.unwrap();
        closed(&fake).await;
        let mut shard = Shard::say(&url(&ready), resume(&ready, 1)).await;
        assert_eq!(shard.hear().await, json!({ "op": 9, "d": false }), "{code}");
    }
    fake.settings(|settings| settings.session_life = Duration::ZERO);
    let (shard, ready) = Shard::ready(&fake, PLAIN).await;
    drop(shard);
    closed(&fake).await;
    let mut shard = Shard::say(&url(&ready), resume(&ready, 1)).await;
    assert_eq!(shard.hear().await, json!({ "op": 9, "d": false }), "too late");
}

#[tokio::test]
async fn wrong_words_are_closed_with_their_code() {
    let fake = fake().await;
    fake.settings(|settings| settings.identify_every = Duration::ZERO);
    fake.disallow_intents(TOKEN, CONTENT);
    let cases = [
        (json!({ "op": 77 }), 4001),
        (json!("x".repeat(5_000)), 4002),
        (json!({ "op": 3, "d": {} }), 4003),
        (identify(&json!({ "token": "other" })), 4004),
        (identify(&json!({ "shard": [2, 2] })), 4010),
        (identify(&json!({ "intents": null })), 4013),
        (identify(&json!({ "intents": CONTENT })), 4014),
    ];
    for (said, code) in cases {
        let mut shard = Shard::say(&fake.gateway_url(), said).await;
        assert_eq!(shard.hear().await, json!({ "closed": code }));
    }
    let mut shard = Shard::dial_with(&fake.gateway_url(), "v=6").await;
    assert_eq!(shard.hear().await, json!({ "closed": 4012 }));
    let (mut shard, ready) = Shard::ready(&fake, PLAIN).await;
    shard.tell(identify(&json!({}))).await;
    assert_eq!(shard.hear().await, json!({ "closed": 4005 }));
    let mut shard = Shard::say(&url(&ready), resume(&ready, 99)).await;
    assert_eq!(shard.hear().await, json!({ "closed": 4007 }));
}

#[tokio::test]
async fn who_says_too_much_is_closed() {
    let fake = fake().await;
    let mut shard = Shard::say(&fake.gateway_url(), json!({ "op": 1, "d": null })).await;
    for _ in 0..120 {
        shard.tell(json!({ "op": 1, "d": null })).await;
    }
    for _ in 0..120 {
        assert_eq!(shard.hear().await["op"], json!(11));
    }
    assert_eq!(shard.hear().await, json!({ "closed": 4008 }));
}

#[tokio::test]
async fn a_bucket_identifies_once_in_five_seconds() {
    let fake = fake().await;
    fake.max_concurrency(TOKEN, 2);
    let first = Shard::say(&fake.gateway_url(), identify(&json!({ "shard": [0, 3] }))).await;
    let mut other = Shard::say(&fake.gateway_url(), identify(&json!({ "shard": [1, 3] }))).await;
    other.event("READY").await;

    let mut same = Shard::say(&fake.gateway_url(), identify(&json!({ "shard": [2, 3] }))).await;
    assert_eq!(same.hear().await, json!({ "op": 9, "d": false }));
    let soon: Vec<bool> = fake.identifies().iter().map(|one| one.is_too_soon).collect();
    assert_eq!(soon, [false, false, true]);
    drop(first);
}

#[tokio::test]
async fn the_thousandth_identify_costs_the_token() {
    let fake = fake().await;
    fake.settings(|settings| settings.identify_every = Duration::ZERO);
    fake.starts_left(TOKEN, 1);
    let (mut shard, _) = Shard::ready(&fake, PLAIN).await;
    let (_, info) = get(&fake, "/gateway/bot").await;
    assert_eq!(info["session_start_limit"]["remaining"], json!(0));

    let mut last = Shard::say(&fake.gateway_url(), identify(&json!({}))).await;
    assert_eq!(last.hear().await, json!({ "closed": 4004 }));
    assert_eq!(shard.hear().await, json!({ "closed": 4004 }), "all sessions end");
    assert_eq!(get(&fake, "/users/@me").await.0, 401);
}

#[tokio::test]
async fn words_need_an_intent() {
    let fake = fake().await;
    let (mut shard, _) = Shard::ready(&fake, PLAIN).await;
    let to_bot = format!("<@{BOT}> hello");
    fake.say(ANN, GENERAL, "hello");
    fake.say(ANN, GENERAL, &to_bot);
    fake.say(ANN, HIDDEN, "where it sees nothing");
    fake.say(ANN, fake.direct(BOT, ANN), "hello");

    assert_eq!(shard.content().await, json!(""));
    assert_eq!(shard.content().await, json!(to_bot));
    assert_eq!(shard.content().await, json!("hello"));
}

#[tokio::test]
async fn a_guild_is_heard_on_its_shard_and_people_on_the_first() {
    let fake = fake().await;
    fake.settings(|settings| settings.identify_every = Duration::ZERO);
    let shard_of_guild = (GUILD >> 22) % 7;
    let asked = |shard: u64| identify(&json!({ "shard": [shard, 7], "intents": PLAIN | CONTENT }));
    let mut its = Shard::say(&fake.gateway_url(), asked(shard_of_guild)).await;
    let mut first = Shard::say(&fake.gateway_url(), asked(0)).await;
    assert_eq!(its.event("READY").await["guilds"][0]["id"], json!(GUILD.to_string()));
    its.event("GUILD_CREATE").await;
    assert_eq!(first.event("READY").await["guilds"], json!([]));

    fake.say(ANN, GENERAL, "in the guild");
    fake.say(ANN, fake.direct(BOT, ANN), "for you alone");
    assert_eq!(its.content().await, json!("in the guild"));
    assert_eq!(first.content().await, json!("for you alone"));
}

#[tokio::test]
async fn a_bot_hears_that_it_came_into_a_thread_and_left_it() {
    let fake = fake().await;
    let (mut shard, _) = Shard::ready(&fake, PLAIN | CONTENT).await;
    let thread = fake.private_thread(GENERAL, ANN, "a");
    fake.say(ANN, thread, "before");
    fake.thread_member(thread, BOT, true);
    fake.say(ANN, thread, "after");
    fake.thread_member(thread, BOT, false);
    fake.say(ANN, thread, "later");
    fake.say(ANN, GENERAL, "elsewhere");

    assert_eq!(shard.event("THREAD_CREATE").await["id"], json!(thread.to_string()));
    let came = shard.event("THREAD_MEMBERS_UPDATE").await;
    assert_eq!(came["added_members"][0]["user_id"], json!(BOT.to_string()));
    assert_eq!(shard.content().await, json!("after"));
    let left = shard.event("THREAD_MEMBERS_UPDATE").await;
    assert_eq!(left["removed_member_ids"], json!([BOT.to_string()]));
    assert_eq!(shard.content().await, json!("elsewhere"));
}

#[tokio::test]
async fn it_misbehaves_on_command() {
    let fake = fake().await;
    let (mut shard, ready) = Shard::ready(&fake, PLAIN | CONTENT).await;
    fake.fault(Fault::gateway(1, Kind::Gap));
    fake.fault(Fault::gateway(1, Kind::Repeat));
    fake.say(ANN, GENERAL, "lost");
    fake.say(ANN, GENERAL, "twice");
    for _ in 0..2 {
        let frame = shard.hear().await;
        assert_eq!((&frame["s"], &frame["d"]["content"]), (&json!(4), &json!("twice")));
    }
    fake.fault(Fault::gateway(1, Kind::NoAck));
    shard.tell(json!({ "op": 1, "d": 3 })).await;
    shard.tell(json!({ "op": 1, "d": 4 })).await;
    assert_eq!(shard.hear().await["op"], json!(11));
    fake.order(Order::Reconnect);
    assert_eq!(shard.hear().await["op"], json!(7), "the first heartbeat was not acknowledged");
    assert_eq!((fake.sockets()[0].heartbeats, fake.sockets()[0].last_heartbeat_seq), (2, Some(4)));

    fake.fault(Fault::gateway(1, Kind::DeadResumeUrl));
    let dead = TcpStream::connect(url(&ready).strip_prefix("ws://").unwrap()).await.unwrap();
    assert!(client_async(url(&ready), dead).await.is_err());
    let mut again = Shard::say(&url(&ready), resume(&ready, 4)).await;
    again.event("RESUMED").await;
    assert_eq!(shard.hear().await, json!({ "closed": 4000 }), "another has its session");
    fake.order(Order::Close(4009));
    assert_eq!(again.hear().await, json!({ "closed": 4009 }));
    let mut late = Shard::say(&url(&ready), resume(&ready, 4)).await;
    assert_eq!(late.hear().await, json!({ "op": 9, "d": false }), "4009 ended the session");
}

#[tokio::test]
async fn a_socket_may_hear_no_hello() {
    let fake = fake().await;
    fake.fault(Fault::gateway(1, Kind::NoHello));
    let mut shard = Shard::dial(&fake.gateway_url()).await;
    shard.tell(json!({ "op": 1, "d": null })).await;
    assert_eq!(shard.hear().await["op"], json!(11), "that is the first it hears");
}

#[tokio::test]
async fn a_socket_without_heartbeats_is_closed_and_its_session_lives() {
    let fake = fake().await;
    fake.settings(|settings| settings.heartbeat_every = Duration::from_millis(100));
    let (mut shard, ready) = Shard::ready(&fake, PLAIN).await;
    assert_eq!(shard.hear().await, json!({ "closed": 4000 }));
    let mut shard = Shard::say(&url(&ready), resume(&ready, 2)).await;
    shard.event("RESUMED").await;
}

#[test]
fn two_sockets_overlap_while_both_send_heartbeats() {
    let secs = Duration::from_secs;
    let socket = |began: u64, last: u64| Socket {
        shard: Some((0, 1)),
        began: Some(secs(began)),
        last_heartbeat: Some(secs(last)),
        ..Socket::default()
    };
    let elsewhere = Socket { shard: Some((1, 2)), ..socket(0, 100) };

    assert_eq!(overlap(&[socket(0, 40), elsewhere.clone()]), secs(0));
    assert_eq!(overlap(&[socket(0, 40), socket(50, 90), elsewhere.clone()]), secs(0));
    assert_eq!(overlap(&[socket(0, 40), socket(25, 90), elsewhere]), secs(15));
}
