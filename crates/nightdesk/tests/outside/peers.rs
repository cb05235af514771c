//! Agents in Rust that write letters to each other and share data.

use std::time::Duration;

use nightdesk_sdk::peers::{
    AgentStatus, DataQuery, Letter, Login, NewData, NewSkill, PeerError, Peers, SkillFilter,
    SkillStatus,
};
use nightdesk_sdk::{Agent, Event, SendError, Settings};
use tokio::time::{sleep, timeout};

use crate::desk::{Desk, value};
use crate::docs::{Variables, entered_on};

const PATIENCE: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Starts a desk with two agents: `helper`, which may be up, and `owl`, which sends requests.
fn two() -> (Desk, Variables, Peers) {
    let (desk, entered) = entered_on("");
    desk.run("nightdesk agent create --tenant acme owl", &[]);
    let token = desk.run("nightdesk issuer token --tenant acme --agent owl", &[]);
    let peers = Peers::new(url(&desk), Login::token(value(&token, "token")));
    (desk, entered, peers.expect("good settings"))
}

fn url(desk: &Desk) -> String {
    format!("http://127.0.0.1:{}", desk.port)
}

async fn helper_dials(desk: &Desk, entered: &Variables) -> Agent {
    let settings = Settings::new(url(desk), "gw-helper", entered.get("SECRET"));
    let agent = Agent::connect(settings, answer).expect("good settings");
    agent.handshake().await.expect("a line");
    agent
}

/// Waits until `helper` is listed as idle. The desk sends the descriptor first and takes the line then.
async fn is_listed_idle(owl: &Peers) {
    loop {
        let known = owl.list_agents().await.expect("a list");
        let helper = known.iter().find(|known| known.agent.agent_id == "helper");
        if helper.expect("it is listed").status == AgentStatus::Idle {
            return;
        }
        sleep(LOOK_EVERY).await;
    }
}

async fn answer(event: Event) -> Result<(), SendError> {
    let Event::Message(message) = event else { return Ok(()) };
    message.reply(format!("you said {}", message.text())).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_asks_another_and_sees_what_came_of_it() {
    let (mut desk, entered, owl) = two();
    let helper = helper_dials(&desk, &entered).await;

    timeout(PATIENCE, is_listed_idle(&owl)).await.expect("the desk has taken the line");
    let question = Letter::new("helper", "hello").dispatch_id("d1");
    for _ in 0..2 {
        let reply = owl.exchange(&question, PATIENCE).await.expect("a reply");
        assert_eq!((reply.content.as_str(), reply.agent_id.as_str()), ("you said hello", "helper"));
    }
    let sent = owl.notify(&Letter::new("helper", "by the way")).await.expect("it is sent");
    assert!(sent.dispatched.iter().all(|way| way.ok), "{sent:?}");
    let woken = owl.wake(&Letter::new("helper", "look")).await.expect("it is sent");
    assert!(woken.dispatched[0].woken.as_ref().expect("a receipt").woken, "{woken:?}");

    let all = owl.letters(None).await.expect("a list");
    assert_eq!(all.len(), 3, "asked twice is asked once: {all:?}");
    let first = owl.letter(&all[2].letter_id).await.expect("a look").expect("it is there");
    assert_eq!(first.reply.as_deref(), Some("you said hello"));
    assert_eq!(owl.letters(Some(&all[0].letter_id)).await.expect("a list").len(), 2);
    assert_eq!(owl.letter("none").await.expect("a look"), None);
    helper.go_idle().await;
    desk.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_answers_for_an_agent_that_sleeps_or_is_not_there() {
    let (mut desk, _, owl) = two();

    let waited = owl.exchange(&Letter::new("helper", "hello"), Duration::from_secs(1)).await;
    let Err(error @ PeerError::Refused { status: 504, .. }) = waited else {
        panic!("nobody replies: {waited:?}")
    };
    assert!(error.passes() && error.to_string().contains("no-reply"), "{error}");
    let nobody = owl.deliver(&Letter::new("nobody", "hello")).await;
    assert!(matches!(&nobody, Err(PeerError::Refused { code, .. }) if code == "no-such-agent"));
    desk.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_share_skills_and_data() {
    let (mut desk, entered, owl) = two();
    let helper = Peers::new(url(&desk), Login::gateway("gw-helper", entered.get("SECRET")));
    let helper = helper.expect("good settings");
    let skill = NewSkill::new("brief", "# Skill: brief\n# Status: Draft\n# Tags: day\n\nt:\n");

    let written = owl.skill_write(&skill).await.expect("it is kept");
    assert_eq!(owl.skill_write(&skill).await.expect("again"), written);
    let theirs = helper.skill_write(&skill.clone().overwriting()).await;
    assert!(matches!(&theirs, Err(PeerError::Refused { status: 409, .. })), "{theirs:?}");
    let changed = owl.skill_status("brief", SkillStatus::Approved).await.expect("a change");
    assert_eq!(changed.previous_status, Some(SkillStatus::Draft));
    let read = helper.skill_read("brief", None).await.expect("a look").expect("it is there");
    assert_eq!((read.status, read.version), (SkillStatus::Approved, changed.version));
    let was = helper.skill_read("brief", Some(&written.version)).await.expect("a look");
    assert_eq!(was.expect("it was there").status, SkillStatus::Draft);
    assert_eq!(
        helper.skill_versions("brief").await.expect("a look").expect("it is there").len(),
        2
    );
    assert_eq!(helper.skill_read("none", None).await.expect("a look"), None);

    let filter = SkillFilter::default().audience("all").domain_tags(&["day"]);
    let catalogue = helper.skill_list(&filter).await.expect("a catalogue");
    let listed = [catalogue.receives, catalogue.skills, catalogue.headless].concat();
    assert_eq!(listed.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>(), ["brief"]);
    let version = catalogue.catalog_version.expect("a version");
    let same = helper.skill_list(&filter.if_none_match(version)).await.expect("a catalogue");
    assert!(same.not_modified, "{same:?}");

    let kettle = NewData::new("The kettle is blue.").tag("kitchen");
    let kept = owl.data_write(&kettle).await.expect("it is kept");
    assert_eq!(owl.data_write(&kettle).await.expect("again"), kept);
    let query = DataQuery::new("kettle").filter("domain_tags", "kitchen").limit(5);
    let found = helper.data_query(&query).await.expect("a look");
    assert_eq!(found.iter().map(|entry| &entry.id).collect::<Vec<_>>(), [&kept.id]);
    let entry = helper.data_read(&kept.id).await.expect("a look").expect("it is there");
    assert_eq!(entry.detail.as_deref(), Some("The kettle is blue."));
    assert_eq!(helper.data_read("none").await.expect("a look"), None);
    let odd = helper.data_query(&DataQuery::new("").filter("colour", "blue")).await;
    assert!(matches!(odd, Err(PeerError::Refused { status: 400..=499, .. })), "{odd:?}");
    desk.stop();
}
