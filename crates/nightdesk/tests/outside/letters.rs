//! Letters from a shell, as the page documents them.

use std::time::Duration;

use nightdesk_sdk::peers::{Letter, Login, Peers};
use nightdesk_sdk::{Agent, Event, Settings};
use nightdesk_types::{Clock as _, SystemClock};
use serde_json::Value;
use tokio::sync::mpsc::channel;
use tokio::time::timeout;

use crate::desk::{value, wait_until};
use crate::docs::{blocks, entered_on};

/// Far less than the sweep interval of a line for which no bell rings.
const AT_ONCE: Duration = Duration::from_secs(5);

/// The delay of a letter that becomes due while the desk is down.
const LATER: Duration = Duration::from_secs(5);

const PAGE: &str = include_str!("../../../../docs/letters.md");

#[test]
fn the_page_shows_how_letters_are_sent_granted_and_taken_from_others() {
    let (mut desk, _) = entered_on("");
    desk.run("nightdesk agent create --tenant acme owl", &[]);
    desk.run("nightdesk tenant create beta", &[]);
    desk.run("nightdesk agent create --tenant beta spy", &[]);
    let [sending, granting, _ways, hooking] = blocks(PAGE, "sh")[..] else {
        panic!("four blocks of commands")
    };
    for block in [sending, granting, hooking] {
        for line in block.lines() {
            desk.run(line, &[]);
        }
    }
    let again = desk.run(sending.lines().next().expect("a command"), &[]);
    assert_eq!(value(&again, "state"), "put");
    desk.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_up_gets_what_a_command_sends_at_once() {
    let (mut desk, entered) = entered_on("");
    desk.run("nightdesk agent create --tenant acme owl", &[]);
    let (said, mut heard) = channel(8);
    let url = format!("http://127.0.0.1:{}", desk.port);
    let settings = Settings::new(url, "gw-helper", entered.get("SECRET"));
    let take = move |event: Event| {
        let said = said.clone();
        async move {
            let Event::Message(message) = event else { return Err("a letter is a message") };
            said.send(message.text().to_owned()).await.map_err(|_| "nobody listens")
        }
    };
    let agent = Agent::connect(settings, take).expect("good settings");
    agent.handshake().await.expect("a line");

    for words in ["one", "two", "three"] {
        let line = format!("nightdesk letter send --tenant acme --agent owl helper {words}");
        assert_eq!(value(&desk.run(&line, &[]), "state"), "put");
        let came = timeout(AT_ONCE, heard.recv()).await.expect("at once");
        assert_eq!(came.as_deref(), Some(words));
    }
    agent.go_idle().await;
    desk.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_is_refused_by_a_full_inbox_and_waits_for_a_desk_that_is_down() {
    let (mut desk, entered) = entered_on("");
    desk.run("nightdesk agent create --tenant acme owl", &[]);
    desk.run("nightdesk tenant quota --tenant acme pending-entries=1", &[]);
    let send =
        |words: &str| format!("nightdesk letter send --tenant acme --agent helper owl {words}");
    desk.run(&send("first"), &[]);

    assert!(desk.fails(&send("second")).contains("the agent's inbox is full"));
    desk.run("nightdesk tenant quota --tenant acme pending-entries=3", &[]);
    let login = Login::gateway("gw-helper", entered.get("SECRET"));
    let helper = Peers::new(format!("http://127.0.0.1:{}", desk.port), login);
    let soon = SystemClock::start().now() + LATER;
    let letter = Letter::new("owl", "third").dispatch_id("d3").when(soon);
    helper.expect("good settings").wake(&letter).await.expect("it is kept");
    let newest = "nightdesk letter list --tenant acme --agent helper --json";
    let kept: Value = serde_json::from_str(&desk.run(newest, &[])).expect("JSON");
    assert_eq!((&kept[0]["dispatch_id"], &kept[0]["state"]), (&"d3".into(), &"scheduled".into()));
    desk.stop();
    let fourth = format!("{} --dispatch-id d4", send("fourth"));
    assert!(desk.fails(&fourth).contains("no desk answers"), "nobody is there to put it");
    tokio::time::sleep(LATER).await;
    desk.serve();
    let id = kept[0]["letter_id"].as_str().expect("an id");
    let show = format!("nightdesk letter show --tenant acme --agent helper {id}");
    wait_until("the desk puts it", || value(&desk.run(&show, &[]), "state") == "put");
    let letter = desk.run(&fourth, &[]);
    assert_eq!(value(&letter, "state"), "put");
    assert_eq!(value(&desk.run(&fourth, &[]), "letter_id"), value(&letter, "letter_id"));
    desk.stop();
}
