//! F40, F01: under every fault of the gateway, people's messages arrive once and in order.

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use nightdesk_port::{ListenError, SessionBudget};
use nightdesk_testkit::cases::begin;
use nightdesk_types::StoreError;
use tokio::task::JoinSet;

use super::*;

/// A fault after the bot has connected.
enum Trouble {
    Order(Order),
    /// A fault, and the order that triggers it.
    Fault(Kind, Option<Order>),
}

#[tokio::test]
async fn whatever_the_gateway_does_what_is_said_after_it_arrives() {
    let cases: [(&str, Trouble, bool); 13] = [
        ("op 7", Trouble::Order(Order::Reconnect), false),
        ("op 9, true", Trouble::Order(Order::Invalid { resumable: true }), false),
        ("op 9, false", Trouble::Order(Order::Invalid { resumable: false }), true),
        ("closed", Trouble::Order(Order::Close(4000)), false),
        ("4007", Trouble::Order(Order::Close(4007)), true),
        ("4009", Trouble::Order(Order::Close(4009)), true),
        ("cut", Trouble::Order(Order::Cut), false),
        ("a heartbeat asked for", Trouble::Order(Order::Heartbeat), false),
        ("no HELLO", Trouble::Fault(Kind::NoHello, Some(Order::Cut)), false),
        ("a dead resume URL", Trouble::Fault(Kind::DeadResumeUrl, Some(Order::Reconnect)), false),
        ("closed at resume", Trouble::Fault(Kind::CloseAtResume(4009), Some(Order::Cut)), true),
        ("invalid at resume", Trouble::Fault(Kind::InvalidAtResume(false), Some(Order::Cut)), true),
        ("repeats", Trouble::Fault(Kind::Repeat, None), false),
    ];
    let mut all = JoinSet::new();
    for (name, trouble, is_lost) in cases {
        all.spawn(goes_on_after(name, trouble, is_lost));
    }
    all.join_all().await;
}

async fn goes_on_after(name: &'static str, trouble: Trouble, is_lost: bool) {
    let case = begin("discord", "fault", name);
    let mut stage = stage().await;
    stage.arrive().await;
    let sessions = stage.fake.identifies().len();
    let order = match trouble {
        Trouble::Order(order) => Some(order),
        Trouble::Fault(kind, order) => {
            stage.fake.fault(Fault::gateway(1, kind));
            order
        }
    };
    if let Some(order) = order {
        assert_eq!(stage.fake.order(order), 1, "{name}");
    }
    if is_lost {
        stage.begins_anew(name).await;
    }
    for text in ["after", "later"] {
        stage.fake.say(ANN, GENERAL, text);
    }
    assert_eq!(stage.texts(2).await, ["after", "later"], "{name}");
    let begun = stage.fake.identifies().len() - sessions;
    assert_eq!(begun, usize::from(is_lost), "{name}");
    case.passed();
}

impl Stage {
    /// Listens until a new session reports that events may be missing.
    async fn begins_anew(&mut self, name: &str) {
        let told = self.discord.listen(&self.bot, self.cursor.as_deref()).await.unwrap();
        assert!(told.iter().any(|one| one.is_after_gap), "{name}: {told:?}");
        self.cursor = told.last().map(|one| one.cursor.clone());
    }
}

#[tokio::test]
async fn a_number_that_never_comes_is_a_gap_that_is_told_of() {
    let mut stage = stage().await;
    stage.arrive().await;
    let case = begin("discord", "fault", "a sequence gap");
    stage.fake.fault(Fault::gateway(1, Kind::Gap));
    stage.fake.say(ANN, GENERAL, "lost");
    stage.fake.say(ANN, GENERAL, "after");
    let heard = stage.heard().await;
    assert_eq!(said(&heard)[0].1.text, "after");
    assert!(heard.iter().any(|one| one.is_after_gap));
    assert_eq!(stage.fake.identifies().len(), 1);
    case.passed();
}

#[tokio::test]
async fn hearts_that_are_not_heard_are_replaced() {
    let mut stage = stage().await;
    let case = begin("discord", "fault", "no ACK");
    stage.fake.settings(|settings| settings.heartbeat_every = Duration::from_millis(400));
    stage.fake.fault(Fault::gateway(2, Kind::NoAck));
    stage.arrive().await;
    let is_replaced = |fake: &FakeDiscord| !fake.resumes().is_empty();
    let listening = stage.discord.listen(&stage.bot, stage.cursor.as_deref());
    let (is_replaced, _) = tokio::join!(
        stage.fake.until(Duration::from_secs(5), is_replaced),
        tokio::time::timeout(Duration::from_secs(3), listening),
    );
    assert!(is_replaced);
    stage.fake.say(ANN, GENERAL, "alive");
    assert_eq!(stage.texts(1).await, ["alive"]);
    case.passed();
}

#[tokio::test]
async fn fatal_codes_never_spin() {
    for code in [4004, 4013, 4014] {
        let case = begin("discord", "fault", &code.to_string());
        let stage = stage().await;
        stage.fake.fault(Fault::gateway(100, Kind::CloseAtIdentify(code)));
        for _ in 0..5 {
            assert!(stage.discord.listen(&stage.bot, None).await.is_err(), "{code}");
        }
        assert_eq!(stage.fake.identifies().len(), 1, "{code}");
        case.passed();
    }
}

/// A budget of one session.
struct One(AtomicBool);

#[async_trait]
impl SessionBudget for One {
    async fn spend(&self, _bot: &Bot) -> Result<bool, StoreError> {
        Ok(!self.0.swap(true, Ordering::SeqCst))
    }
}

#[tokio::test]
async fn whoever_has_begun_often_enough_begins_no_more() {
    let case = begin("discord", "fault", "1,000th IDENTIFY");
    let mut stage = stage().await;
    stage.discord = node_with(&stage.fake, Arc::new(One(AtomicBool::new(false))));
    stage.arrive().await;
    assert_eq!(stage.fake.order(Order::Invalid { resumable: false }), 1);
    for _ in 0..5 {
        let heard = stage.discord.listen(&stage.bot, stage.cursor.as_deref()).await;
        assert!(matches!(heard, Err(ListenError::Barred { .. })), "{heard:?}");
    }
    assert_eq!(stage.fake.identifies().len(), 1, "Discord would have taken the token away");
    case.passed();
}

// F01
#[tokio::test]
async fn nodes_die_and_nothing_is_lost_or_out_of_order() {
    const ALL: usize = 300;
    let mut stage = stage().await;
    stage.arrive().await;
    let mut texts: Vec<String> = Vec::new();
    for number in 0..ALL {
        stage.fake.say(ANN, GENERAL, &number.to_string());
        if number % 60 == 30 {
            // The node receives some events and dies, before or after they are stored.
            let heard = stage.discord.listen(&stage.bot, stage.cursor.as_deref()).await.unwrap();
            if number % 120 == 30 {
                texts.extend(said(&heard).into_iter().map(|(_, message)| message.text));
                stage.cursor = heard.last().map(|one| one.cursor.clone()).or(stage.cursor.take());
            }
            stage.discord = node(&stage.fake);
        }
    }
    let missing = ALL - texts.len();
    texts.extend(stage.texts(missing).await);
    let want: Vec<String> = (0..ALL).map(|number| number.to_string()).collect();
    assert_eq!(texts, want);
    assert_eq!(stage.fake.identifies().len(), 1, "all others went on");
}

#[tokio::test]
async fn nobody_is_told_of_a_number_that_is_not_stored() {
    let mut stage = stage().await;
    stage.arrive().await;
    let stored: Value = serde_json::from_str(stage.cursor.as_deref().unwrap()).unwrap();
    for text in ["one", "two"] {
        stage.fake.say(ANN, GENERAL, text);
    }
    drop(stage.discord.listen(&stage.bot, stage.cursor.as_deref()).await);
    stage.fake.order(Order::Heartbeat);
    let has_beaten = |fake: &FakeDiscord| fake.sockets().iter().any(|one| one.heartbeats > 0);
    assert!(stage.fake.until(Duration::from_secs(5), has_beaten).await);
    let named = stage.fake.sockets()[0].last_heartbeat_seq;
    assert!(named <= stored["seq"].as_u64(), "{named:?} {stored}");
    stage.fake.order(Order::Reconnect);
    let has_resumed = |fake: &FakeDiscord| !fake.resumes().is_empty();
    assert!(stage.fake.until(Duration::from_secs(5), has_resumed).await);
    assert!(stage.fake.resumes()[0].seq <= stored["seq"].as_u64().unwrap());
}
