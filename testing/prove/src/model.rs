//! Models a node with more load than this machine can hold.
//!
//! Small models of the desk's own rules answer two questions about scale that no test on two cores can answer: the time
//! in which a herd of clients comes back, and the effect of a hot tenant on quiet ones. Time is simulated, so the
//! numbers are the same on every machine. `docs/scale.md` prints them, and a test compares.

mod herd;
mod neighbours;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

pub use herd::{Back, Herd};
pub use neighbours::{Hot, Quiet, quiet_beside};

/// Numbers of lost lines in `docs/scale.md`.
const LINES: [usize; 3] = [10_000, 50_000, 100_000];

/// Numbers of nodes that share them. Each node admits its own lines.
const NODES: [usize; 2] = [1, 3];

/// Returns the results of all models: the text between two fences of `docs/scale.md`.
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

/// Returns the last line of the proof.
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

/// Formats a number of tenths with its decimal point.
fn tenths(count: u64) -> String {
    format!("{}.{}", count / 10, count % 10)
}
