//! Model: what a node would do with more than this machine can hold.
//!
//! Two questions about scale that no test on two cores answers are put to small models of the
//! desk's own rules: how long a herd of clients takes to come back, and what a hot tenant does to
//! quiet ones. Time is counted and not waited for, and the same numbers come out on every machine:
//! `docs/scale.md` prints them, and a test compares.

mod herd;
mod neighbours;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

pub use herd::{Back, Herd};
pub use neighbours::{Hot, Quiet, quiet_beside};

/// Lines that are lost, as `docs/scale.md` asks.
const LINES: [usize; 3] = [10_000, 50_000, 100_000];

/// Nodes that share them, each of which lets its own in.
const NODES: [usize; 2] = [1, 3];

/// Everything the models say: the text between two fences of `docs/scale.md`.
pub fn report() -> String {
    let mut text = String::new();
    for (nodes, lines) in NODES.into_iter().flat_map(|nodes| LINES.map(|lines| (nodes, lines))) {
        let name = format!("cut {lines}, nodes {nodes}");
        told(&mut text, &name, &Herd::cut(lines.div_ceil(nodes)).comes_back());
    }
    for lines in LINES {
        told(&mut text, &format!("stop {lines}"), &Herd::stopped(lines).comes_back());
    }
    for hot in Hot::ALL {
        let Quiet { p50_us, p99_us, refused_percent } = quiet_beside(hot);
        let (p50, p99) = (tenths(p50_us / 100), tenths(p99_us / 100));
        let name = hot.name();
        line(
            &mut text,
            &format!("{name:<20} p50_ms={p50} p99_ms={p99} refused={refused_percent}%"),
        );
    }
    text
}

/// The last line of the proof.
pub fn summary() -> String {
    let [ten, fifty, hundred] = LINES.map(|lines| Herd::cut(lines).comes_back().all_ms / 1_000);
    let [alone, one, many, flood] = Hot::ALL.map(|hot| tenths(quiet_beside(hot).p99_us / 100));
    format!(
        "scale-model: back_s_10k={ten} back_s_50k={fifty} back_s_100k={hundred} \
         quiet_p99_ms={alone} beside_hot_agent={one} beside_hot_tenant={many} beside_flood={flood}"
    )
}

fn told(text: &mut String, name: &str, back: &Back) {
    let Back { half_ms, all_ms, waiting_peak, dials } = back;
    let (half, all) = (tenths(half_ms / 100), tenths(all_ms / 100));
    line(
        text,
        &format!(
            "{name:<20} half_back_s={half} all_back_s={all} waiting_peak={waiting_peak} \
             dials={dials}"
        ),
    );
}

fn line(text: &mut String, line: &str) {
    // Writing into memory does not fail.
    writeln!(text, "{line}").ok();
}

/// A number of tenths, with its point.
fn tenths(count: u64) -> String {
    format!("{}.{}", count / 10, count % 10)
}
