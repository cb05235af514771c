//! Metrics of files. No label names a tenant.

use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Metrics of the memory that files use.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    reserved_bytes: Gauge<u64, AtomicU64>,
    waits: Gauge<u64, AtomicU64>,
    refusals: Counter,
}

impl Metrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Bytes of memory that are reserved for files on their way";
        registry.register("memory_bytes", help, self.reserved_bytes.clone());
        let help = "Files that wait for memory";
        registry.register("memory_waits", help, self.waits.clone());
        let help = "Files that were refused because no memory became free in time";
        registry.register("memory_refusals", help, self.refusals.clone());
    }

    /// Returns the number of files that wait for memory.
    pub fn memory_waits(&self) -> u64 {
        self.waits.get()
    }

    pub(crate) fn show(&self, bytes: u64, waits: usize) {
        self.reserved_bytes.set(bytes);
        self.waits.set(u64::try_from(waits).unwrap_or(u64::MAX));
    }

    pub(crate) fn count_refusal(&self) {
        self.refusals.inc();
    }
}
