//! Measures the rate of letters between agents, compared with the events of the road.
//!
//! A letter is posted to `/v1/letters` with the sending agent's gateway token. It counts when the recipient's gateway
//! has received its frame and sent the ack. An event counts as in `road-rate`. Both go to the same agents over the same
//! lines, in turns. The rate limit between two agents is the desk's own, so letters are spread over many pairs.

use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_prove::figures::{micros_each, ratio, share};
use nightdesk_prove::history::{check, lost_and_again};
use nightdesk_prove::phase::Phase;
use nightdesk_prove::platform::Order;
use nightdesk_prove::rate::{Measures, phase, tell_conditions, tell_functions, transactions};
use nightdesk_prove::stage::{DATABASE, Stage};
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};

/// Measures the rate of letters between agents.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    #[command(flatten)]
    measures: Measures,
}

/// Total number of letters.
const LETTERS: &str = "select count(*) from letters";

/// One of the two sides of the comparison.
#[derive(Debug, Default)]
struct Side {
    phase: Phase,
    transactions: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("letters-rate", arguments.work.as_ref(), || prove(&arguments.measures))
}

fn prove(measures: &Measures) -> Result<()> {
    let mut stage = measures.stage()?;
    stage.dial()?;
    let (events, letters) = (Order::Run(measures.phase_ms()), Order::Letters(measures.phase_ms()));
    ui::say("warming up");
    phase(&mut stage, &events)?;
    phase(&mut stage, &letters)?;

    let (mut road, mut written) = (Side::default(), Side::default());
    for turn in 1..=measures.turns {
        let event_rate = road.takes_its_turn(&mut stage, &events)?;
        let letter_rate = written.takes_its_turn(&mut stage, &letters)?;
        ui::say(&format!("turn {turn}: {letter_rate:.0} letters/s, {event_rate:.0} events/s"));
    }

    let (told, acked) = stage.history()?;
    let (lost, doubled) = lost_and_again(&told, &acked);
    tell_conditions(&stage.cluster)?;
    let letters_in_all = stage.cluster.ask(DATABASE, LETTERS)?;
    tell_functions(
        &stage.cluster,
        &["letter_addresses", "letter_facts", "letter_write", "letter_note"],
        letters_in_all.trim().parse()?,
    )?;
    road.tell("an event");
    written.tell("a letter");
    ui::put(&format!(
        "letters-rate: letters_per_s={:.0} road_per_s={:.0} ratio={:.2} lost={lost} doubled={doubled}",
        written.phase.rate(),
        road.phase.rate(),
        ratio(written.phase.rate(), road.phase.rate()),
    ));
    check(&told, &acked)?;
    ensure!(written.phase.events > 0 && road.phase.events > 0, "one side did nothing");
    Ok(())
}

impl Side {
    fn takes_its_turn(&mut self, stage: &mut Stage, order: &Order) -> Result<f64> {
        let before = transactions(&stage.cluster)?;
        let phase = phase(stage, order)?;
        self.transactions += transactions(&stage.cluster)? - before;
        self.phase.add(&phase);
        Ok(phase.rate())
    }

    fn tell(&self, what: &str) {
        let Phase { events, used, .. } = &self.phase;
        ui::put(&format!(
            "{what}: desk_cpu_us={:.1} pg_cpu_us={:.1} redis_cpu_us={:.1} transactions={:.2}",
            micros_each(used.desk, *events),
            micros_each(used.pg, *events),
            micros_each(used.redis, *events),
            share(self.transactions, *events),
        ));
    }
}
