//! Two nodes over one database without a bell between them: slower, but complete.

use nightdesk_sdk::{Agent, Event, Settings};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::timeout;

use std::time::Duration;

use crate::desk::{Desk, wait_until};
use crate::docs::{Variables, entered_on};
use crate::webchat::{opened, written};

/// The time in which a dead node's lease expires, another node takes over its bots, and the send is processed.
const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(20);

/// An agent on a node's line that answers each message with its text.
struct Echo {
    agent: Agent,
    answered: mpsc::Receiver<bool>,
}

impl Echo {
    async fn on(desk: &Desk, entered: &Variables) -> Self {
        let (answers, answered) = mpsc::channel(8);
        let url = format!("http://127.0.0.1:{}", desk.port);
        let settings = Settings::new(url, "gw-helper", entered.get("SECRET"));
        let agent = Agent::connect(settings, move |event| {
            let answers = answers.clone();
            async move {
                let Event::Message(message) = event else { return Ok(()) };
                let replied = message.reply(message.text()).await;
                answers.send(replied.is_ok()).await
            }
        });
        let agent = agent.expect("good settings");
        agent.handshake().await.expect("a line");
        Self { agent, answered }
    }

    /// Waits for the agent's next answer. Returns true if the desk reported it as sent.
    async fn answers(&mut self) -> bool {
        let answered = timeout(TAKEN_OVER_WITHIN, self.answered.recv()).await;
        answered.expect("in time").expect("the agent runs")
    }
}

/// Starts a desk of two nodes, with the path of a page. The first node owns the page's bot.
fn two_nodes(runtime: &Runtime) -> (Desk, Desk, Variables, String) {
    let (here, mut entered) = entered_on("[node]\nname = \"here\"\n");
    let path = opened(&here, &mut entered);
    let mut there = here.beside("here", "there");
    there.serve();
    runtime.block_on(async {
        let mut echo = Echo::on(&here, &entered).await;
        assert!(written(&here, &path, "first").contains("200 OK"));
        assert!(echo.answers().await);
        echo.agent.go_idle().await;
    });
    (here, there, entered, path)
}

#[test]
fn an_answer_is_said_by_the_bots_owner_and_by_another_when_it_is_gone() {
    let runtime = Runtime::new().expect("a runtime");
    let (mut here, mut there, entered, path) = two_nodes(&runtime);
    runtime.block_on(async {
        let mut echo = Echo::on(&there, &entered).await;
        assert!(written(&there, &path, "second").contains("200 OK"));
        assert!(echo.answers().await);
        here.signal("-KILL");
        assert!(!here.ended());
        assert!(written(&there, &path, "third").contains("200 OK"));
        assert!(echo.answers().await);
        echo.agent.go_idle().await;
    });
    let callers = there
        .sql("select string_agg(node, ' ' order by asked_at) from sends where state = 'settled'");
    assert_eq!(callers, "here here there");
    there.stop();
}

#[test]
fn a_node_that_was_paused_for_long_ends_by_itself() {
    let runtime = Runtime::new().expect("a runtime");
    let (mut here, mut there, ..) = two_nodes(&runtime);
    here.signal("-STOP");
    wait_until("it is taken for dead", || there.log().contains("node here is gone"));
    here.signal("-CONT");

    assert!(!here.ended(), "it does not go on");
    assert!(here.log().contains("node here lost its lease"), "{}", here.log());
    there.stop();
}
