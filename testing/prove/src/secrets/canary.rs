//! Searches everything that leaves the desk for known secrets.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::World;
use crate::cluster::output;
use crate::stage::DATABASE;

/// Value of a lent capability.
pub const CAPABILITY: &str = "canary-capability-5f1e7c";

/// Text of every message. An agent gets it, and it is in plain form nowhere else.
pub const TEXT: &str = "canary-text-88ab01";

/// Searches everything for every secret. Returns the findings with their places.
pub fn search(world: &World, secrets: &[String]) -> Result<Vec<String>> {
    let dump = dump(world)?;
    let log = world.desk.log();
    ensure!(dump.contains("many-0"), "the dump has no tenants: it was not searched");
    for table in ["inbox_entries_", "letters ", "media ", "webchat_messages "] {
        let rows = format!("INSERT INTO public.{table}");
        ensure!(dump.contains(&rows), "the dump has no {table}: no message was searched");
    }
    ensure!(log.contains("TRACE"), "the log is not fine: it was not searched");
    let metrics = metrics(world)?;
    ensure!(metrics.contains("nightdesk_"), "there are no numbers: they were not searched");
    let traces = String::from_utf8_lossy(&world.sink.traces()).into_owned();
    ensure!(!traces.is_empty(), "no traces came: they were not searched");
    let texts = vec![TEXT.to_owned()];
    let mut hits = Vec::new();
    for (place, text, canaries) in [
        ("the dump", &dump, vec![secrets, &texts]),
        ("the log", &log, vec![secrets, &texts]),
        ("the metrics", &metrics, vec![secrets, &texts]),
        ("the traces", &traces, vec![secrets, &texts]),
    ] {
        let canaries = canaries.into_iter().flatten();
        let found = canaries.filter(|canary| is_in(text, canary));
        hits.extend(found.map(|canary| format!("{} in {place}", &canary[..8])));
    }
    Ok(hits)
}

/// Returns true if a text contains a secret: plain, as bytes of a dump, or encoded.
pub(crate) fn is_in(text: &str, secret: &str) -> bool {
    let raw = STANDARD.decode(secret).ok().filter(|raw| raw.len() >= 16);
    let forms = [
        Some(secret.to_owned()),
        Some(hex::encode(secret)),
        Some(STANDARD.encode(secret)),
        raw.map(hex::encode),
    ];
    forms.into_iter().flatten().any(|form| text.contains(&form))
}

fn dump(world: &World) -> Result<String> {
    let mut dump = world.cluster.client("pg_dump");
    dump.args(["--inserts", "-d", &world.cluster.admin_url(DATABASE)]);
    output(&mut dump)
}

fn metrics(world: &World) -> Result<String> {
    let mut stream = TcpStream::connect(world.metrics).context("there are no numbers")?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).context("could not wait for numbers")?;
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nhost: desk\r\nconnection: close\r\n\r\n")
        .context("could not ask for numbers")?;
    let mut text = String::new();
    stream.read_to_string(&mut text).context("could not read the numbers")?;
    Ok(text)
}
