//! Checks the promises of the store of chats on our own pages.

use std::time::Duration;

use nightdesk_types::send::PromptOption;
use nightdesk_types::{BotId, Timestamp};
use nightdesk_webchat::store::{
    AgentMessage, ChatLine, ChatPrompt, ChatUpdate, LineAuthor, LineChange, Store, VisitorChat,
    VisitorMessage, WriteOutcome,
};

use super::Harness;
use super::cast::{id_of, tenant};

/// More lines than any check writes.
const MANY: usize = 20_000;

/// Returns a chat of a bot of this operator.
pub(super) async fn chat(harness: &impl Harness, operator: &str, visitor: &str) -> VisitorChat {
    let scope = tenant(harness, operator).await;
    VisitorChat {
        scope,
        bot: BotId::from_uuid(id_of("bot", "webchat")),
        visitor: visitor.to_owned(),
    }
}

fn at(secs: i64) -> Timestamp {
    Timestamp::from_second(1_795_000_000 + secs).expect("a time")
}

/// Returns a visitor's message, this many seconds after the start.
pub(super) fn said(nonce: &str, secs: i64) -> VisitorMessage {
    VisitorMessage { at: at(secs), nonce: nonce.to_owned(), text: format!("said {nonce}") }
}

fn answer(text: &str, secs: i64) -> AgentMessage {
    AgentMessage { at: at(secs), text: text.to_owned(), prompt: None }
}

async fn says(store: &dyn Store, chat: &VisitorChat, nonce: &str, secs: i64) -> WriteOutcome {
    store.write_visitor_message(chat, &said(nonce, secs)).await.expect("write what was said")
}

async fn answers(store: &dyn Store, chat: &VisitorChat, text: &str, secs: i64) -> i64 {
    store.write_agent_message(chat, &answer(text, secs)).await.expect("write an answer")
}

async fn since(store: &dyn Store, chat: &VisitorChat, after: i64) -> ChatUpdate {
    store.lines_since(chat, after, MANY).await.expect("read what changed")
}

async fn latest(store: &dyn Store, chat: &VisitorChat) -> ChatUpdate {
    store.latest_lines(chat, MANY).await.expect("read the chat")
}

fn texts(news: &ChatUpdate) -> Vec<&str> {
    news.lines.iter().map(|line| line.text.as_str()).collect()
}

fn numbers(news: &ChatUpdate) -> Vec<(i64, i64)> {
    news.lines.iter().map(|line| (line.message, line.seq)).collect()
}

/// Checks that a transcript is read as it was written.
pub async fn a_transcript_is_read_as_it_was_written(harness: &impl Harness) {
    let (store, chat) = (harness.webchat(), chat(harness, "op", "ann").await);
    assert_eq!(latest(&*store, &chat).await, ChatUpdate::default(), "a chat nobody wrote in");
    let option = PromptOption { id: "y".to_owned(), label: "Yes".to_owned(), style: None };
    let prompt = Some(ChatPrompt { id: "p".to_owned(), options: vec![option] });
    says(&*store, &chat, "n1", 0).await;
    let asked = AgentMessage { prompt: prompt.clone(), ..answer("sure?", 1) };
    store.write_agent_message(&chat, &asked).await.expect("write a question");

    let news = latest(&*store, &chat).await;
    let line = ChatLine {
        seq: 1,
        message: 1,
        at: at(0),
        author: LineAuthor::Visitor,
        text: "said n1".to_owned(),
        nonce: Some("n1".to_owned()),
        prompt: None,
        edited: false,
        deleted: false,
    };
    let question = ChatLine {
        seq: 2,
        message: 2,
        at: at(1),
        author: LineAuthor::Agent,
        text: "sure?".to_owned(),
        nonce: None,
        prompt,
        ..line.clone()
    };
    assert_eq!(news, ChatUpdate { head: 2, lines: vec![line, question], status: None });
    assert_eq!(since(&*store, &chat, 0).await, news);
}

/// Checks that a repeated line is written once.
pub async fn a_repeat_is_written_once(harness: &impl Harness) {
    let (store, chat) = (harness.webchat(), chat(harness, "op", "ann").await);

    assert_eq!(says(&*store, &chat, "n1", 0).await, WriteOutcome::New);
    assert_eq!(says(&*store, &chat, "n1", 5).await, WriteOutcome::Before);
    assert_eq!(says(&*store, &chat, "n2", 6).await, WriteOutcome::New);
    assert_eq!(numbers(&latest(&*store, &chat).await), [(1, 1), (2, 2)], "it took no number");
    assert_eq!(latest(&*store, &chat).await.lines[0].at, at(0), "the first time counts");
}

/// Checks that lines come in the order of their numbers, and are shown in the order of their times.
pub async fn a_late_line_is_shown_where_it_was_said(harness: &impl Harness) {
    let (store, chat) = (harness.webchat(), chat(harness, "op", "ann").await);
    answers(&*store, &chat, "answer", 1).await;
    says(&*store, &chat, "n1", 0).await;

    assert_eq!(texts(&latest(&*store, &chat).await), ["said n1", "answer"]);
    assert_eq!(texts(&since(&*store, &chat, 0).await), ["answer", "said n1"]);
    assert_eq!(texts(&since(&*store, &chat, 1).await), ["said n1"]);
    assert_eq!(texts(&since(&*store, &chat, 2).await), Vec::<&str>::new());
}

/// Checks that a change of a line comes after it, under the next number.
pub async fn a_changed_line_comes_again(harness: &impl Harness) {
    let (store, chat) = (harness.webchat(), chat(harness, "op", "ann").await);
    let first = answers(&*store, &chat, "one", 0).await;
    let second = answers(&*store, &chat, "two", 1).await;
    let edit = LineChange::Edit("three".to_owned());
    assert!(store.change_line(&chat, first, &edit).await.expect("edit"));

    let news = since(&*store, &chat, 2).await;
    assert_eq!((news.head, numbers(&news)), (3, vec![(first, 3)]));
    assert!(news.lines[0].edited && news.lines[0].text == "three");
    assert!(store.change_line(&chat, second, &LineChange::Delete).await.expect("delete"));
    let news = since(&*store, &chat, 3).await;
    assert_eq!((news.head, numbers(&news)), (4, vec![(second, 4)]));
    assert!(news.lines[0].deleted && news.lines[0].text.is_empty());
    assert_eq!(texts(&latest(&*store, &chat).await), ["three", ""], "both keep their places");
}

/// Checks that only the agent's own lines in this chat can be changed.
pub async fn only_an_agents_own_line_is_changed(harness: &impl Harness) {
    let (store, ann) = (harness.webchat(), chat(harness, "op", "ann").await);
    let bob = VisitorChat { visitor: "bob".to_owned(), ..ann.clone() };
    says(&*store, &ann, "n1", 0).await;
    let own = answers(&*store, &ann, "one", 1).await;
    let edit = LineChange::Edit("x".to_owned());

    for (name, chat, message) in
        [("a visitor's", &ann, 1), ("no line", &ann, 9), ("another chat's", &bob, own)]
    {
        assert!(!store.change_line(chat, message, &edit).await.expect("edit"), "{name}");
    }
    assert!(store.change_line(&ann, own, &LineChange::Delete).await.expect("delete"));
    assert!(!store.change_line(&ann, own, &edit).await.expect("edit"), "a deleted one");
    assert_eq!(latest(&*store, &ann).await.head, 3, "what changed nothing took no number");
}

/// Checks that a status stands until it is removed or the agent writes, and that it is no line.
pub async fn a_status_goes_when_the_agent_speaks(harness: &impl Harness) {
    let (store, chat) = (harness.webchat(), chat(harness, "op", "ann").await);
    let status = async || latest(&*store, &chat).await.status.map(|status| status.text);
    store.set_status(&chat, Some("waking…")).await.expect("show");
    assert_eq!(status().await.as_deref(), Some("waking…"), "before anything was said");

    says(&*store, &chat, "n1", 0).await;
    assert_eq!(status().await.as_deref(), Some("waking…"), "the visitor changes nothing of it");
    store.set_status(&chat, Some("typing…")).await.expect("show");
    let news = since(&*store, &chat, 1).await;
    assert_eq!(news.status.as_ref().map(|status| status.text.as_str()), Some("typing…"));
    assert!(news.status.expect("one").stood < Duration::from_secs(5));
    assert_eq!(numbers(&latest(&*store, &chat).await), [(1, 1)]);
    answers(&*store, &chat, "one", 1).await;
    assert_eq!(status().await, None);
    store.set_status(&chat, Some("typing…")).await.expect("show");
    store.set_status(&chat, None).await.expect("take it away");
    assert_eq!(status().await, None);
}

/// Checks that a read is bounded, and that the next one continues where it ended.
pub async fn a_look_at_a_chat_is_bounded(harness: &impl Harness) {
    let (store, chat) = (harness.webchat(), chat(harness, "op", "ann").await);
    for number in 0..5 {
        says(&*store, &chat, &format!("n{number}"), number).await;
    }

    let news = store.lines_since(&chat, 1, 2).await.expect("read");
    assert_eq!((news.head, numbers(&news)), (5, vec![(2, 2), (3, 3)]));
    let news = store.latest_lines(&chat, 2).await.expect("read");
    assert_eq!((news.head, numbers(&news)), (5, vec![(4, 4), (5, 5)]));
}

/// Checks that chats of two visitors, bots and tenants are separate.
pub async fn chats_do_not_meet(harness: &impl Harness) {
    let (store, ann) = (harness.webchat(), chat(harness, "op", "ann").await);
    let others = [
        VisitorChat { visitor: "bob".to_owned(), ..ann.clone() },
        VisitorChat { bot: BotId::from_uuid(id_of("bot", "another")), ..ann.clone() },
        chat(harness, "another operator", "ann").await,
    ];
    says(&*store, &ann, "n1", 0).await;

    for other in &others {
        assert_eq!(latest(&*store, other).await, ChatUpdate::default());
        assert_eq!(
            says(&*store, other, "n1", 0).await,
            WriteOutcome::New,
            "its nonces are its own"
        );
    }
}

/// Checks that with concurrent writers numbers have no gap, and that a concurrent reader misses no line.
pub async fn who_reads_along_misses_nothing(harness: &impl Harness) {
    const WRITERS: usize = 4;
    const EACH: usize = 25;
    let (store, chat) = (harness.webchat(), chat(harness, "op", "ann").await);
    let writer = async |number: usize| {
        for line in 0..EACH {
            says(&*store, &chat, &format!("n{number}-{line}"), 0).await;
        }
    };
    let reader = async || {
        let mut seen: Vec<i64> = Vec::new();
        while seen.len() < WRITERS * EACH {
            let news = since(&*store, &chat, seen.last().copied().unwrap_or(0)).await;
            seen.extend(news.lines.iter().map(|line| line.seq));
            // A store in memory never waits by itself.
            tokio::task::yield_now().await;
        }
        seen
    };
    let (seen, ..) = tokio::join!(reader(), writer(0), writer(1), writer(2), writer(3));

    let count = i64::try_from(WRITERS * EACH).expect("few");
    assert_eq!(seen, (1..=count).collect::<Vec<_>>());
}
