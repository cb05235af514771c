//! Prints `tick` every 20 seconds, and need not run in between: the desk calls it when a tick is due. With `--once` it
//! takes the due fire and exits.

use std::convert::Infallible;
use std::env::args;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_sdk::cron::{CronSettings, FileStore, Fire, Job, Login, Provider, Schedule};
use tokio::net::TcpListener;
use tokio::sync::Notify;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [desk, agent, gateway, secret] =
        ["NIGHTDESK_URL", "NIGHTDESK_AGENT", "NIGHTDESK_GATEWAY", "NIGHTDESK_SECRET"].map(variable);
    let settings = CronSettings::new(desk?, agent?, Login::gateway(gateway?, secret?))
        .called_at(variable("NIGHTDESK_CALLBACK")?);
    let ran = Arc::new(Notify::new());
    let told = Arc::clone(&ran);
    let provider = Provider::start(settings, FileStore::at("ticking.json"), move |fire: Fire| {
        let told = Arc::clone(&told);
        async move {
            say(&format!("tick {}, due at {}", fire.run, fire.fire_at));
            told.notify_one();
            Ok::<_, Infallible>(())
        }
    })?;

    let every = Schedule::every(Duration::from_secs(20))?;
    provider.set(Job::new("tick", every)).await?;

    let listener = TcpListener::bind(variable("NIGHTDESK_LISTEN")?).await?;
    let once = args().any(|given| given == "--once");
    tokio::select! {
        served = axum::serve(listener, provider.router()) => served?,
        () = ran.notified(), if once => {}
        stopped = tokio::signal::ctrl_c() => stopped?,
    }
    // `rest` waits for running jobs and reconciles the next fires with the desk.
    provider.drain().await?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "an example has no configuration of its own")]
fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("set {name}"))
}

#[expect(clippy::print_stdout, reason = "an example has no log of its own")]
fn say(text: &str) {
    println!("{text}");
}
