//! Reads memory, children and CPU time of processes from the kernel, and sends signals.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

/// Unit of the kernel's times, on every machine that Linux runs on today.
const TICK: Duration = Duration::from_millis(10);

/// Returns the CPU time of a process, all its threads together.
pub fn cpu(pid: u32) -> Result<Duration> {
    Ok(stat(pid)?.own)
}

/// Returns the CPU time of the calling thread.
pub fn cpu_of_this_thread() -> Result<Duration> {
    let text =
        fs::read_to_string("/proc/thread-self/stat").context("could not look at a thread")?;
    let stat = stat_in(&text).context("could not read what the kernel says of a thread")?;
    Ok(stat.own)
}

/// Returns the CPU time of a process and its children, including those that have ended.
pub fn cpu_with_children(pid: u32) -> Result<Duration> {
    let parent = stat(pid)?;
    let mut cpu = parent.own + parent.ended_children;
    for child in children(pid)? {
        // The time of a child that has ended since is in its parent's account the next time.
        cpu += stat(child).map_or(Duration::ZERO, |stat| stat.own);
    }
    Ok(cpu)
}

/// Returns the children of a process.
pub fn children(pid: u32) -> Result<Vec<u32>> {
    let processes = fs::read_dir("/proc").context("could not list the processes")?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |other: &u32| stat(*other).is_ok_and(|stat| stat.parent == pid);
    Ok(pids.filter(is_child).collect())
}

/// Sends a signal to own processes.
pub fn signal(name: &str, pids: &[u32]) -> Result<()> {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    // The standard library can only kill.
    let status = Command::new("kill").args(["-s", name]).args(&pids).status();
    let status = status.context("could not run kill")?;
    ensure!(status.success(), "could not send {name} to {}", pids.join(" "));
    Ok(())
}

/// Returns the number of open connections at a local port.
pub fn connections(port: u16) -> Result<usize> {
    let table = fs::read_to_string("/proc/net/tcp").context("could not list the connections")?;
    Ok(connections_in(&table, port))
}

fn connections_in(table: &str, port: u16) -> usize {
    const OPEN: &str = "01";
    let local = format!(":{port:04X}");
    let is_one = |line: &&str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        fields.get(1).is_some_and(|own| own.ends_with(&local)) && fields.get(3) == Some(&OPEN)
    };
    table.lines().filter(is_one).count()
}

/// Returns the resident memory of a process, in KiB.
pub fn rss_kib(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))
        .with_context(|| format!("could not look at process {pid}"))?;
    rss_in(&status).with_context(|| format!("process {pid} tells no memory"))
}

fn rss_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// The fields of `/proc/PID/stat` that are used.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    own: Duration,
    /// CPU time of children that have ended and were waited for.
    ended_children: Duration,
}

fn stat(pid: u32) -> Result<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))
        .with_context(|| format!("could not look at process {pid}"))?;
    stat_in(&text).with_context(|| format!("could not read what the kernel says of process {pid}"))
}

fn stat_in(text: &str) -> Option<Stat> {
    // The name is in brackets and may contain any character, also brackets.
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<u32>().ok();
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        own: TICK * (ticks(11)? + ticks(12)?),
        ended_children: TICK * (ticks(13)? + ticks(14)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_says_of_a_process() {
        let tail = "S 7 1 1 0 -1 4194560 1 2 3 4 250 150 30 20 20 0 9 0 5 6 7";
        let want = Stat {
            parent: 7,
            own: Duration::from_secs(4),
            ended_children: Duration::from_millis(500),
        };
        for name in ["(postgres)", "(a b)", "(odd) name) 1 2)"] {
            assert_eq!(stat_in(&format!("42 {name} {tail}")).as_ref(), Some(&want), "{name}");
        }
        assert_eq!(stat_in("42 (short) S 7"), None);
    }

    #[test]
    fn reads_the_memory_of_a_process() {
        assert_eq!(rss_in("VmHWM:\t  9 kB\nVmRSS:\t  5120 kB\n"), Some(5_120));
        assert_eq!(rss_in("Name:\tkthreadd\n"), None);
    }

    #[test]
    fn counts_the_open_connections_of_a_port() {
        let table = "  sl  local_address rem_address   st tx_queue\n\
                     0: 0100007F:2260 00000000:0000 0A 00000000\n\
                     1: 0100007F:2260 0100007F:D431 01 00000000\n\
                     2: 0100007F:D431 0100007F:2260 01 00000000\n";
        assert_eq!(connections_in(table, 0x2260), 1);
    }

    #[test]
    fn looks_at_itself() {
        let own = std::process::id();

        assert!(rss_kib(own).unwrap() > 0);
        // The time grows between the two looks.
        let alone = cpu(own).unwrap();
        assert!(cpu_with_children(own).unwrap() >= alone);
    }
}
