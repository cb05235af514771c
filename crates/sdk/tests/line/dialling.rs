//! An agent without a line.

use nightdesk_sdk::{Agent, AgentError, BadSettings, Event, SendError, Settings, Status, Trouble};
use tokio::net::TcpListener;

use crate::wire::Street;

async fn ignore(_: Event) -> Result<(), SendError> {
    Ok(())
}

fn is_refused(status: &Status) -> bool {
    matches!(status, Status::Resting { why: Trouble::Refused { status: 401 }, .. })
}

#[tokio::test]
async fn a_bad_secret_is_shown_and_dialled_with_again() {
    let street = Street::open().await;
    let url = format!("ws://{}/relay", street.desk.address());
    let agent = Agent::connect(Settings::new(url, "gw-1", "guessed"), ignore).expect("good form");

    for _ in 0..2 {
        let Status::Resting { why, .. } = agent.wait_until(is_refused).await else {
            unreachable!("only resting is waited for")
        };
        assert!(why.to_string().contains("name and secret"), "says what to do: {why}");
        agent.wait_until(|status| matches!(status, Status::Dialling)).await;
    }
}

#[tokio::test]
async fn a_revoked_gateway_hears_it_twice_and_gives_up() {
    let street = Street::open().await;
    let agent = Agent::connect(street.settings(), ignore).expect("good settings");
    agent.handshake().await.expect("a line");

    let revoked = street.desk.register.store().revoke(street.ann.scope, "gw-1").await;
    assert!(revoked.expect("the store works"));
    street.wire.cut();
    assert_eq!(agent.ended().await, Err(AgentError::Revoked));
    assert_eq!(agent.handshake().await, Err(AgentError::Revoked));
    let place = nightdesk_sdk::Place::chat("discord", "c1");
    assert_eq!(agent.desk().send(&place, "late").await, Err(SendError::Over));
}

#[tokio::test(start_paused = true)]
async fn a_desk_that_is_not_there_is_named_and_waited_for() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let address = listener.local_addr().expect("a bound port");
    drop(listener);
    let settings = Settings::new(format!("http://{address}"), "gw-1", "s");
    let agent = Agent::connect(settings, ignore).expect("good settings");

    let place = nightdesk_sdk::Place::chat("discord", "c1");
    assert_eq!(agent.desk().send(&place, "text").await, Err(SendError::NoLine));
    let Err(AgentError::NoLine(Some(Trouble::Unreachable(_)))) = agent.handshake().await else {
        unreachable!("nobody listens there")
    };
    agent.wait_until(|status| matches!(status, Status::Dialling)).await;
}

#[tokio::test]
async fn what_answers_without_tls_is_no_desk_for_https() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let address = listener.local_addr().expect("a bound port");
    let settings = Settings::new(format!("https://{address}"), "gw-1", "s");
    let agent = Agent::connect(settings, ignore).expect("good settings");

    drop(listener.accept().await.expect("it dials"));
    let status = agent.wait_until(|status| matches!(status, Status::Resting { .. })).await;
    assert!(matches!(status, Status::Resting { why: Trouble::Unreachable(_), .. }), "{status:?}");
}

#[tokio::test]
async fn settings_that_cannot_be_right_are_refused_before_a_dial() {
    let bad = Agent::connect(Settings::new("desk.example", "gw-1", "s"), ignore);

    assert_eq!(bad.err(), Some(BadSettings::Url));
}
