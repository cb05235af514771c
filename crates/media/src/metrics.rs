//! Metrics of files. No label names a tenant.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Metrics of the memory that files use.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    memory_bytes: Gauge<u64, AtomicU64>,
    memory_waits: Gauge<u64, AtomicU64>,
    memory_refusals: Counter,
}

impl Metrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Bytes of memory that are reserved for files on their way";
        registry.register("memory_bytes", help, self.memory_bytes.clone());
        let help = "Files that wait for memory";
        registry.register("memory_waits", help, self.memory_waits.clone());
        let help = "Files that were refused because no memory became free in time";
        registry.register("memory_refusals", help, self.memory_refusals.clone());
    }

    /// Returns the number of files that wait for memory.
    pub fn memory_waits(&self) -> u64 {
        self.memory_waits.get()
    }

    pub(crate) fn show(&self, bytes: u64, waits: usize) {
        self.memory_bytes.set(bytes);
        self.memory_waits.set(u64::try_from(waits).unwrap_or(u64::MAX));
    }

    pub(crate) fn count_refusal(&self) {
        self.memory_refusals.inc();
    }
}
