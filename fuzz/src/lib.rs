//! Fuzz targets for untrusted input (`just fuzz`).
//!
//! A target passes arbitrary bytes to the code that receives them first in a desk, and panics if a promise does not
//! hold. The binary runs one target under libFuzzer, which is guided by coverage. The tests replay the seeds of every
//! target and mutations of them, as a part of `just test`.
#![expect(clippy::expect_used, reason = "a target stops at a broken promise")]

mod corpus;
mod input;
mod targets;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

pub use corpus::Corpus;
pub use targets::TARGETS;

/// Processor time that an input may take.
pub const INPUT_CPU_MAX: Duration = Duration::from_millis(50);

/// One kind of untrusted input, and the check of its promise.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// The name, also of the folder of its seeds.
    pub name: &'static str,
    run: fn(&[u8]),
}

impl FuzzTarget {
    /// Returns the target of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Checks an input.
    ///
    /// # Panics
    ///
    /// A promise is broken, or the input takes more processor time than it may. A slow input is measured a second time,
    /// because the first input of a process also pays for the set-up.
    pub fn check(&self, data: &[u8], cpu_max: Duration) {
        if self.measure(data) > cpu_max {
            let took = self.measure(data);
            assert!(took <= cpu_max, "{}: {} ms of processor time", self.name, took.as_millis());
        }
    }

    fn measure(&self, data: &[u8]) -> Duration {
        let began = thread_time();
        (self.run)(data);
        thread_time().saturating_sub(began)
    }
}

/// Returns the processor time of this thread. It does not grow while other processes have the processor.
fn thread_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
