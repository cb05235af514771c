//! Measures the time and the memory of a verdict over a long history.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_judge::{EntryState, Event, Record, judge};
use rustix::time::{ClockId, clock_gettime};

/// Generates the history of a run without violations, and measures its verdict.
#[derive(Debug, Parser)]
struct Arguments {
    /// Approximate number of records.
    #[arg(long, default_value_t = 10_000_000)]
    events: u64,

    /// Number of agents.
    #[arg(long, default_value_t = 1_000)]
    agents: u64,
}

/// Records per message: sent, confirmed, handed over, acked and probed.
const EVENTS_PER_MESSAGE: u64 = 5;

/// Interval of messages, delay of the handover, and delay of the ack.
const EVERY_NS: u64 = 100_000;
const HANDED_AFTER_NS: u64 = 3_000_000;
const ACKED_AFTER_NS: u64 = 8_000_000;

/// Number of faults during the run, each on for half of its period.
const FAULTS: u64 = 100;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir().context("could not make a folder")?;
    make_up(folder.path(), &arguments).context("could not write the history")?;

    let (began, cpu_before) = (Instant::now(), cpu_secs());
    let verdict = judge(folder.path())?;
    // On a busy machine the CPU time is more meaningful.
    let (secs, cpu_secs) = (began.elapsed().as_secs(), cpu_secs() - cpu_before);

    ensure!(verdict.counts.is_empty(), "not clean: {}", verdict.summary());
    put(&verdict.summary());
    let (events, rss_mib) = (verdict.events, peak_rss_mib()?);
    put(&format!(
        "judge-rate: events={events} seconds={secs} cpu_seconds={cpu_secs} rss_mib={rss_mib}"
    ));
    Ok(())
}

fn make_up(folder: &Path, arguments: &Arguments) -> Result<()> {
    let messages = arguments.events / EVENTS_PER_MESSAGE;
    let end_ns = messages * EVERY_NS + HANDED_AFTER_NS + ACKED_AFTER_NS;
    driver(folder, arguments.agents, end_ns)?;
    platform(folder, arguments.agents, messages)?;
    gateways(folder, arguments.agents, messages)?;
    tables(folder, arguments.agents, messages, end_ns)
}

fn driver(folder: &Path, agents: u64, end_ns: u64) -> Result<()> {
    let mut driver = History::create(folder, "driver")?;
    driver.note(0, Event::Begin { seed: 1, faults: true })?;
    for number in 0..agents {
        driver.note(0, Event::Wakeable { agent: agent(number) })?;
    }
    for fault in 0..FAULTS {
        let (id, at_ns) = (format!("f{fault}"), fault * end_ns / FAULTS);
        let (fault, target) = ("cut".to_owned(), "node-1/redis".to_owned());
        driver.note(at_ns, Event::FaultOn { id: id.clone(), fault, target })?;
        driver.note(at_ns + end_ns / FAULTS / 2, Event::FaultOff { id })?;
    }
    driver.note(end_ns, Event::Quiesce)?;
    driver.end(end_ns)
}

fn platform(folder: &Path, agents: u64, messages: u64) -> Result<()> {
    let mut platform = History::create(folder, "platform")?;
    for message in 0..messages {
        let at_ns = message * EVERY_NS;
        let id = format!("event-{message:016}");
        platform.note(
            at_ns,
            Event::PlatSend {
                id: id.clone(),
                bot: "bot".to_owned(),
                chat: format!("chat-{}", message % agents),
                user: "user".to_owned(),
                nonce: nonce(message),
                expect: vec![agent(message % agents)],
                order: Some(message),
            },
        )?;
        platform.note(at_ns + EVERY_NS / 2, Event::PlatAck { id, attempt: 1, status: 200 })?;
    }
    platform.end(messages * EVERY_NS)
}

fn gateways(folder: &Path, agents: u64, messages: u64) -> Result<()> {
    let mut gateways = History::create(folder, "gateways")?;
    for number in 0..agents {
        let (conn, gateway) = (format!("line-{number}"), format!("gateway-{number}"));
        gateways.note(0, Event::GwOpen { conn, gateway, agent: agent(number) })?;
    }
    let behind = ACKED_AFTER_NS / EVERY_NS;
    for at in 0..messages + behind {
        let at_ns = at * EVERY_NS + HANDED_AFTER_NS;
        if at < messages {
            gateways.note(
                at_ns,
                Event::GwRecv {
                    conn: format!("line-{}", at % agents),
                    agent: agent(at % agents),
                    buffer_id: buffer_id(at),
                    nonce: nonce(at),
                    bytes: 700,
                    passthrough: false,
                },
            )?;
        }
        if let Some(acked) = at.checked_sub(behind) {
            let (conn, agent) = (format!("line-{}", acked % agents), agent(acked % agents));
            let buffer_id = buffer_id(acked);
            gateways.note(at_ns, Event::GwAck { conn, agent, buffer_id })?;
        }
    }
    gateways.end((messages + behind) * EVERY_NS + HANDED_AFTER_NS)
}

fn tables(folder: &Path, agents: u64, messages: u64, end_ns: u64) -> Result<()> {
    let mut tables = History::create(folder, "tables")?;
    for message in 0..messages {
        let (agent, seq) = (agent(message % agents), message / agents + 1);
        let (buffer_id, state) = (buffer_id(message), EntryState::Acked);
        tables.note(end_ns, Event::Inbox { agent, seq, buffer_id, state })?;
    }
    tables.end(end_ns)
}

fn agent(number: u64) -> String {
    format!("agent-{number:06}")
}

fn nonce(message: u64) -> String {
    format!("nonce-{message:016x}")
}

fn buffer_id(message: u64) -> String {
    format!("entry-{message:018}")
}

/// A generated history of one process.
struct History {
    out: BufWriter<File>,
    proc: String,
    n: u64,
}

impl History {
    fn create(folder: &Path, proc: &str) -> Result<Self> {
        let out = BufWriter::new(File::create_new(folder.join(format!("{proc}.jsonl")))?);
        Ok(Self { out, proc: proc.to_owned(), n: 0 })
    }

    fn note(&mut self, at_ns: u64, ev: Event) -> Result<()> {
        self.n += 1;
        let record = Record { at_ns, proc: self.proc.clone(), n: self.n, ev };
        serde_json::to_writer(&mut self.out, &record)?;
        Ok(self.out.write_all(b"\n")?)
    }

    fn end(mut self, at_ns: u64) -> Result<()> {
        self.note(at_ns, Event::End)?;
        Ok(self.out.flush()?)
    }
}

/// Returns the CPU time of this process.
fn cpu_secs() -> i64 {
    clock_gettime(ClockId::ProcessCPUTime).tv_sec
}

/// Returns the peak resident memory of this process.
fn peak_rss_mib() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("could not look at ourselves")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    Ok(kib.context("the kernel tells no memory")? / 1024)
}

#[expect(clippy::print_stdout, reason = "the one place that puts figures out")]
fn put(text: &str) {
    println!("{text}");
}
