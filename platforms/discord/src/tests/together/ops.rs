//! Makes every op that the adapter claims to support, on the fake.

use nightdesk_port::{Platform, Receipt};
use nightdesk_testkit::cases::begin;
use nightdesk_testkit::memory_file;

use super::*;

/// Returns one op of each kind, for an existing message and thread.
fn every_op(message: &str, thread: &str) -> Vec<Op> {
    let [message_id, content] = [message, "words"].map(str::to_owned);
    let [thread_name, card_id] = ["plans", "c"].map(str::to_owned);
    let option = PromptOption { id: "yes".to_owned(), label: "Yes".to_owned(), style: None };
    vec![
        text("hi"),
        Op::Edit { message_id: message_id.clone(), content: content.clone() },
        Op::Typing { content: None },
        Op::Draft { draft_id: 1, content: content.clone(), is_final: false },
        Op::TaskCard { card_id: card_id.clone(), chunks: Vec::new() },
        Op::TaskCardStop { card_id },
        Op::SendMedia {
            media_kind: "document".to_owned(),
            source_url: String::new(),
            content: content.clone(),
            reply_to: None,
            filename: None,
        },
        Op::Prompt {
            content: content.clone(),
            prompt_kind: "approval".to_owned(),
            prompt_id: "a1b2c3.d4e5f607".to_owned(),
            options: vec![option],
            reply_to: None,
            timeout_s: None,
        },
        Op::React { message_id: message_id.clone(), emoji: "👀".to_owned(), remove: false },
        Op::ThreadCreate { thread_name: thread_name.clone() },
        Op::ThreadRename { message_id: thread.to_owned(), thread_name },
        Op::GetChatInfo,
        Op::FollowUp { session_key: String::new(), kind: String::new(), content },
        Op::Delete { message_id },
    ]
}

impl Stage {
    /// Makes an op as the desk does, with a capability or a file where it is required.
    async fn does(&mut self, op: Op) -> Result<Receipt, DeliverError> {
        let send = to(GENERAL, op);
        match send.op.name() {
            "follow_up" => {
                let lent = self.lent().await;
                self.discord.follow_up(&self.bot, &send, &lent).await
            }
            "send_media" => {
                let file = memory_file("a cat");
                self.discord.upload(&self.bot, &send, &file, "s1").await
            }
            _ => self.discord.deliver(&self.bot, &send).await,
        }
    }

    /// Returns the capability of a command.
    async fn lent(&mut self) -> Key {
        self.fake.command(BOT, ANN, GENERAL, ("ask", &json!([])));
        let lent = self.heard().await.into_iter().find_map(|one| one.capability).unwrap();
        // The next listen call stores the events, and then the interaction is confirmed.
        self.fake.say(ANN, GENERAL, "tick");
        self.heard().await;
        let is_taken = |fake: &FakeDiscord| fake.interactions()[0].answered.is_some();
        assert!(self.fake.until(Duration::from_secs(5), is_taken).await);
        lent.secret
    }
}

#[tokio::test]
async fn what_it_says_it_can_do_it_does_and_nothing_else() {
    let mut stage = stage().await;
    stage.arrive().await;
    let offered = stage.discord.capabilities(&stage.bot).ops;
    let message = stage.deliver(GENERAL, text("first")).await.unwrap().message_id.unwrap();
    let open = Op::ThreadCreate { thread_name: "first".to_owned() };
    let thread = stage.deliver(GENERAL, open).await.unwrap().thread_id.unwrap();
    let ops = every_op(&message, &thread);
    assert!(offered.iter().all(|name| ops.iter().any(|op| op.name() == *name)), "{offered:?}");
    for op in ops {
        let name = op.name();
        if !offered.contains(&name) {
            let calls = stage.fake.calls().len();
            let refused = stage.does(op).await;
            assert!(matches!(refused, Err(DeliverError::Unsupported)), "{name}: {refused:?}");
            assert_eq!(stage.fake.calls().len(), calls, "{name}");
            continue;
        }
        let case = begin("discord", "op", name);
        stage.does(op).await.unwrap();
        let last = stage.fake.calls().pop().unwrap();
        assert!((200..300).contains(&last.answered.0), "{name}: {last:?}");
        case.passed();
    }
}
