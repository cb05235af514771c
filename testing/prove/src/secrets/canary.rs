//! Canary: secrets that are known, and a search for them in everything that leaves the desk.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::World;
use crate::cluster::output;
use crate::procfs::signal;
use crate::stage::DATABASE;

/// What a platform lends.
pub const CAPABILITY: &str = "canary-capability-5f1e7c";

/// What people write. It may be in the database, and nowhere else.
pub const TEXT: &str = "canary-text-88ab01";

/// Searches everything for every secret there was. Answers how many were found, and where.
pub fn search(world: &World, secrets: &[String]) -> Result<Vec<String>> {
    let dump = dump(world)?;
    let log = world.desk.log();
    ensure!(dump.contains("many-0"), "the dump has no tenants: it was not searched");
    ensure!(log.contains("TRACE"), "the log is not fine: it was not searched");
    let metrics = metrics(world)?;
    ensure!(metrics.contains("nightdesk_"), "there are no numbers: they were not searched");
    let traces = String::from_utf8_lossy(&world.sink.traces()).into_owned();
    ensure!(!traces.is_empty(), "no traces came: they were not searched");
    let texts = vec![TEXT.to_owned()];
    let mut hits = Vec::new();
    for (place, text, canaries) in [
        ("the dump", &dump, vec![secrets]),
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

/// Whether a secret is in a text: as it is, as bytes of a dump, or encoded.
fn is_in(text: &str, secret: &str) -> bool {
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

/// Tries to get at the desk's memory: as another process of the same user that has no special rights,
/// and by a core file. Answers how often that succeeded.
pub fn dig(world: &mut World) -> Result<usize> {
    let pid = world.desk.pid();
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).context("no such process")?;
    let core = limits.lines().find(|line| line.starts_with("Max core file size"));
    let core = core.context("there is no limit of core files")?;
    ensure!(core.split_whitespace().filter(|word| *word == "0").count() == 2, "{core}");
    let unprivileged = ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"];
    let folder = world.cluster.folder().to_owned();
    let mut dug = 0;
    for (program, arguments) in [
        ("cat", vec![format!("/proc/{pid}/environ")]),
        ("gcore", vec!["-o".to_owned(), folder.join("dug").display().to_string(), pid.to_string()]),
    ] {
        let mut dig = Command::new("setpriv");
        let tried = dig.args(unprivileged).arg(program).args(&arguments).output();
        let tried = tried.with_context(|| format!("could not run {program}"))?;
        dug += usize::from(tried.status.success());
    }
    signal("ABRT", &[pid])?;
    world.desk.wait_until_it_ended()?;
    let cores = fs::read_dir(&folder).context("could not look for core files")?;
    let is_core = |name: &str| name.starts_with("core") || name.starts_with("dug");
    let names = cores.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(dug + names.filter(|name| is_core(name)).count())
}
