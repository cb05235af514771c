//! The second agent of a trial desk: it sleeps while nothing waits for it, and the desk wakes it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use nightdesk_register::new_secret;
use nightdesk_sdk::wake::Listener;
use nightdesk_sdk::{Agent, Event, SendError, Settings};

use crate::ui;

/// The time without a message after which it sleeps.
pub(super) const SLEEP_AFTER: Duration = Duration::from_secs(20);

/// The reason for which it is awake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SleeperStart {
    /// The trial began.
    Trial,
    /// The desk called it.
    Call,
}

/// The agent, and the address at which the desk wakes it.
pub(super) struct Sleeper {
    calls: Listener,
    secret: String,
}

impl Sleeper {
    /// Listens for calls. The desk's configuration must allow their address, so this comes before the desk's start.
    pub(super) async fn listen() -> anyhow::Result<Self> {
        let secret = new_secret().with(str::to_owned);
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let calls = Listener::bind(any_port, secret.as_str()).await;
        let calls = calls.context("could not listen for the calls of the sleeping agent")?;
        Ok(Self { calls, secret })
    }

    /// Returns the port of its wake URL.
    pub(super) const fn port(&self) -> u16 {
        self.calls.address().port()
    }

    /// Returns the URL with which the desk wakes it.
    pub(super) fn wake_url(&self) -> String {
        format!("http://{}/wake/{}", self.calls.address(), self.secret)
    }

    /// Lives, sleeps and wakes until its gateway is revoked. Returns that reason.
    pub(super) async fn run(&self, settings: Settings) -> anyhow::Error {
        let settings = settings.sleep_after(SLEEP_AFTER);
        let mut start = SleeperStart::Trial;
        loop {
            if let Err(error) = live(settings.clone(), start).await {
                return error.context("the sleeping agent could not live on");
            }
            ui::print_text("the sleeper fell asleep: it has no line any more");
            self.calls.woken().await;
            ui::print_text("the desk woke the sleeper");
            start = SleeperStart::Call;
        }
    }
}

/// Answers messages until it was quiet for long enough.
async fn live(settings: Settings, start: SleeperStart) -> anyhow::Result<()> {
    let was_asleep = Arc::new(AtomicBool::new(start == SleeperStart::Call));
    let take = move |event: Event| answer(event, Arc::clone(&was_asleep));
    let agent = Agent::connect(settings, take)?;
    agent.ended().await?;
    Ok(())
}

/// Answers a message. The first one after a call says that the agent slept.
async fn answer(event: Event, was_asleep: Arc<AtomicBool>) -> Result<(), SendError> {
    let Event::Message(message) = event else { return Ok(()) };
    let text = message.text();
    let answer = if was_asleep.swap(false, Ordering::Relaxed) {
        format!("I slept, and had no connection. The desk kept your message and woke me: {text}")
    } else {
        let secs = SLEEP_AFTER.as_secs();
        format!("I am awake, and sleep after {secs} s of quiet: {text}")
    };
    message.reply(answer).await.map(drop)
}
