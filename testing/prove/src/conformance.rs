//! Runs every store and connector against its contract's suite, and every suite against planted faults.

mod connectors;
mod shelf;

use anyhow::{Result, ensure};

use crate::cluster::Cluster;
use crate::ui;

/// The result of one suite on one implementation.
#[derive(Debug)]
pub struct Ran {
    /// Name of the contract.
    pub contract: &'static str,
    /// Name of the implementation.
    pub implementation: &'static str,
    /// Number of cases.
    pub cases: usize,
    /// Number of passed cases.
    pub passed: usize,
    /// The failures, one line each.
    pub failed: String,
}

/// The result of one suite on stores with planted faults.
#[derive(Debug)]
pub struct Planted {
    /// Name of the contract.
    pub contract: &'static str,
    /// Number of planted faults.
    pub planted: usize,
    /// Number of faults that the suite noticed.
    pub caught: usize,
    /// Faults that the suite missed.
    pub missed: Vec<String>,
}

/// All results.
#[derive(Debug, Default)]
pub struct Proof {
    /// Each suite on each implementation.
    pub ran: Vec<Ran>,
    /// Each suite on faulty implementations.
    pub planted: Vec<Planted>,
}

/// Runs all suites, prints the results, and fails if a result is wrong.
pub async fn prove() -> Result<()> {
    let cluster = Cluster::start()?;
    let mut proof = Proof::default();
    shelf::prove(&cluster, &mut proof).await?;
    connectors::prove(&mut proof).await;
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
