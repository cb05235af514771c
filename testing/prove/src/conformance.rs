//! Conformance: every store and connector of ours, put to its contract's suite, and every suite to faults.

mod courier;
mod shelf;

use anyhow::{Result, ensure};

use crate::cluster::Cluster;
use crate::ui;

/// What came of one suite on one implementation.
#[derive(Debug)]
pub struct Ran {
    /// Of which contract.
    pub contract: &'static str,
    /// Which implementation.
    pub implementation: &'static str,
    /// How many cases there are.
    pub cases: usize,
    /// How many passed.
    pub passed: usize,
    /// What is wrong with the others, a line each.
    pub failed: String,
}

/// How many faults were planted into stores of a contract, and which were not noticed.
#[derive(Debug)]
pub struct Planted {
    /// Of which contract.
    pub contract: &'static str,
    /// How many were planted.
    pub planted: usize,
    /// How many were noticed.
    pub caught: usize,
    /// The others.
    pub missed: Vec<String>,
}

/// All of it.
#[derive(Debug, Default)]
pub struct Proof {
    /// Each suite on each implementation.
    pub ran: Vec<Ran>,
    /// Each suite on faulty ones.
    pub planted: Vec<Planted>,
}

/// Runs everything, tells of it, and wants nothing to be wrong.
pub async fn prove() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut proof = Proof::default();
    shelf::prove(&cluster, &mut proof).await?;
    courier::prove(&mut proof).await;
    proof.tell()
}

impl Proof {
    fn tell(&self) -> Result<()> {
        for Ran { contract, implementation, cases, passed, failed } in &self.ran {
            ui::put(&format!("{contract} {implementation} cases={cases} passed={passed}"));
            if cases != passed {
                ui::say(failed);
            }
        }
        for Planted { contract, planted, caught, missed } in &self.planted {
            ui::put(&format!("{contract} planted={planted} caught={caught}"));
            for fault in missed {
                ui::say(fault);
            }
        }
        let (cases, passed) = (sum(&self.ran, |ran| ran.cases), sum(&self.ran, |ran| ran.passed));
        let planted = sum(&self.planted, |planted| planted.planted);
        let caught = sum(&self.planted, |planted| planted.caught);
        ui::put(&format!(
            "conformance: cases={cases} passed={passed} planted={planted} caught={caught}"
        ));
        ensure!(cases == passed, "a store does not keep its contract");
        ensure!(planted == caught, "a suite does not notice a fault");
        Ok(())
    }
}

fn sum<T>(of: &[T], count: impl Fn(&T) -> usize) -> usize {
    of.iter().map(count).sum()
}
