//! Stores with one fault each, and the case that must detect it. Several faults are those of existing stores.

mod skill;
mod data;

pub use data::{DataFault, FaultyData, FaultyDataHarness};
pub use skill::{FaultySkills, FaultySkillsHarness, SkillFault};

use super::{DataHarness, SkillHarness, data_store, skill_store};

/// The number of planted faults, and the faults that their case did not detect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planted {
    /// The number of planted faults.
    pub planted: usize,
    /// The undetected faults.
    pub missed: Vec<String>,
}

impl Planted {
    /// Returns the number of detected faults.
    pub const fn caught(&self) -> usize {
        self.planted - self.missed.len()
    }

    fn note(&mut self, fault: String, noticed: bool) {
        self.planted += 1;
        if !noticed {
            self.missed.push(fault);
        }
    }
}

/// Plants every fault of a store of skills into a correct one.
pub async fn plant_in_skills<H: SkillHarness + Clone>(good: &H) -> Planted {
    let mut planted = Planted::default();
    for fault in SkillFault::ALL {
        let harness = FaultySkillsHarness { good: good.clone(), fault };
        let failed = skill_store(&harness).await.failed();
        planted.note(format!("{fault:?}: {failed:?}"), failed.contains(&fault.noticed_by()));
    }
    planted
}

/// Plants every fault of a store of data into a correct one.
pub async fn plant_in_data<H: DataHarness + Clone>(good: &H) -> Planted {
    let mut planted = Planted::default();
    for fault in DataFault::ALL {
        let harness = FaultyDataHarness { good: good.clone(), fault };
        let failed = data_store(&harness).await.failed();
        planted.note(format!("{fault:?}: {failed:?}"), failed.contains(&fault.noticed_by()));
    }
    planted
}
