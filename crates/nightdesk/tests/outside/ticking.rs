//! An agent whose job is due every few seconds, and which is off in between.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_sdk::cron::{self, FileStore, Fire, FireResult, Job, Login, Provider, Schedule};
use nightdesk_sdk::{Agent, Event, Settings};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;

use crate::desk::Desk;
use crate::docs::{Variables, entered_on};
use crate::waking::{asleep, wake_url};

const EVERY: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(30);

/// The state that remains while the agent is off: its jobs on disk, and its credentials.
struct Off {
    desk: Desk,
    entered: Variables,
    folder: TempDir,
}

impl Off {
    fn of(desk: Desk, entered: Variables) -> Self {
        Self { desk, entered, folder: tempfile::tempdir().expect("a folder") }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.desk.port)
    }

    /// Starts the agent's jobs, and returns a channel of their runs.
    fn provider(&self, called_at: Option<SocketAddr>) -> (Provider, Receiver<Fire>) {
        let login = Login::gateway("gw-helper", self.entered.get("SECRET"));
        let mut settings = cron::CronSettings::new(self.url(), self.entered.get("AGENT"), login);
        if let Some(address) = called_at {
            settings = settings.called_at(format!("http://{address}"));
        }
        let (ran, runs) = channel(8);
        let run = move |fire: Fire| {
            let ran: Sender<Fire> = ran.clone();
            async move { ran.send(fire).await }
        };
        let file = FileStore::at(self.folder.path().join("jobs.json"));
        (Provider::start(settings, file, run).expect("good settings"), runs)
    }

    /// Runs until the desk knows the job, and exits.
    async fn begin(&self, called_at: Option<SocketAddr>) {
        let (provider, _runs) = self.provider(called_at);
        let every = Schedule::every(EVERY).expect("a schedule");
        provider.set(Job::new("tick", every)).await.expect("the desk keeps it");
        provider.drain().await.expect("it goes");
    }
}

/// Starts the agent for a request, as a systemd socket does, and lets it exit after its run.
async fn started_for(request: TcpStream, off: &Off, called_at: SocketAddr) -> Fire {
    let inside = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = inside.local_addr().expect("a bound port");
    let (provider, mut runs) = off.provider(Some(called_at));
    let serving = tokio::spawn(axum::serve(inside, provider.router()).into_future());
    let passing = tokio::spawn(passed_on(request, address));
    let fire = timeout(PATIENCE, runs.recv()).await.expect("it is run").expect("a fire");
    provider.drain().await.expect("it goes");
    passing.await.expect("the request was passed on");
    serving.abort();
    fire
}

async fn passed_on(mut request: TcpStream, address: SocketAddr) {
    let mut inside = TcpStream::connect(address).await.expect("the agent listens");
    // Either side may hang up at the end.
    tokio::io::copy_bidirectional(&mut request, &mut inside).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_off_is_called_for_each_run() {
    let street = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let called_at = street.local_addr().expect("a bound port");
    let outside = format!(
        "[outside]\nhttp = true\nranges = [\"127.0.0.0/8\"]\nports = [{}]\n",
        called_at.port()
    );
    let (desk, entered) = entered_on(&outside);
    let mut off = Off::of(desk, entered);
    off.begin(Some(called_at)).await;

    let mut fires = Vec::new();
    while fires.len() < 3 {
        let called = timeout(PATIENCE, street.accept()).await.expect("it is called");
        let (request, _) = called.expect("a request");
        fires.push(started_for(request, &off, called_at).await);
    }
    let runs: Vec<u32> = fires.iter().map(|fire| fire.run).collect();
    assert_eq!(runs, [1, 2, 3], "each ran once");
    assert!(fires.is_sorted_by(|one, next| one.fire_at < next.fire_at), "{fires:?}");
    off.desk.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_a_url_is_woken_and_finds_the_fire_in_its_inbox() {
    let street = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = street.local_addr().expect("a bound port").port();
    let (desk, entered, _path) = asleep(port, "");
    let mut off = Off::of(desk, entered);
    off.desk.run(&wake_url(port), &[]);
    off.begin(None).await;

    let called = timeout(PATIENCE, street.accept()).await.expect("it is called");
    drop(called.expect("a request"));
    let (provider, mut runs) = off.provider(None);
    let provider = Arc::new(provider);
    let taking = Arc::clone(&provider);
    let settings = Settings::new(off.url(), "gw-helper", off.entered.get("SECRET"));
    let agent = Agent::connect(settings, move |event| taken(Arc::clone(&taking), event));
    let agent = agent.expect("good settings");
    let fire = timeout(PATIENCE, runs.recv()).await.expect("it is run").expect("a fire");
    assert_eq!((fire.job.id(), fire.run), ("tick", 1));
    agent.go_idle().await;
    off.desk.stop();
}

/// Takes a fire out of an event, as an agent does.
async fn taken(provider: Arc<Provider>, event: Event) -> Result<(), String> {
    let Event::Message(message) = event else { return Err("only messages are sent".to_owned()) };
    let fire = message.content.message.fire.as_ref().ok_or("only fires are sent")?;
    let fired = provider.take_fire(&fire.job_id, &fire.fire_at, &fire.fire_id).await;
    if fired.map_err(|error| error.to_string())? == FireResult::NotNow {
        return Err("it comes again".to_owned());
    }
    Ok(())
}
