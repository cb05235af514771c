//! A node's logs, traces and metrics.

mod log_queue;
mod logs;
mod traces;
mod step_layer;

use nightdesk_alerts::AlertMetrics;
use nightdesk_api::TlsMetrics;
use nightdesk_bus_redis::Metrics as BellMetrics;
use nightdesk_desk::Desk;
use nightdesk_line::LineContext;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::Config;
use log_queue::LogQueue;
use traces::TraceExporter;

/// The logs and traces of a running process.
pub(crate) struct Telemetry {
    logs: LogQueue,
    traces: Option<TraceExporter>,
}

impl Telemetry {
    /// Sends the last traces and writes the last log lines.
    pub(crate) fn close(self) {
        if let Some(traces) = self.traces {
            traces.close();
        }
        self.logs.write_out();
    }
}

/// Starts logs and traces. Traces are sent until the returned value is closed.
pub(crate) fn start(config: &Config) -> anyhow::Result<Telemetry> {
    let traces = TraceExporter::start(&config.traces, &config.node.name)?;
    let trail = traces.as_ref().map(TraceExporter::layer);
    let logs = logs::queue(config.log.format)?;
    let layer = logs::layer(&config.log, logs.clone())?;
    tracing_subscriber::registry().with(trail).with(layer).init();
    Ok(Telemetry { logs, traces })
}

/// The metrics of parts beside the desk and its lines.
pub(crate) struct OtherMetrics<'m> {
    /// The bell between nodes.
    pub(crate) bell: Option<&'m BellMetrics>,
    /// TLS of the public address.
    pub(crate) tls: Option<&'m TlsMetrics>,
    /// Alerts.
    pub(crate) alerts: &'m AlertMetrics,
}

/// Returns all metrics of this node.
pub(crate) fn metrics(desk: &Desk, room: &LineContext, more: &OtherMetrics<'_>) -> Registry {
    let mut registry = Registry::with_prefix("nightdesk");
    let build: Family<[(&str, &str); 1], Gauge> = Family::default();
    build.get_or_create(&[("version", env!("CARGO_PKG_VERSION"))]).set(1);
    registry.register("build", "The version that runs", build);
    let stops = &desk.stops;
    desk.refusals.register(registry.sub_registry_with_prefix("gate"));
    stops.inbox.metrics().register(registry.sub_registry_with_prefix("inbox"));
    stops.egress.metrics().register(registry.sub_registry_with_prefix("egress"));
    stops.media.metrics().register(registry.sub_registry_with_prefix("media"));
    stops.wake.metrics().register(registry.sub_registry_with_prefix("wake"));
    stops.schedule.metrics().register(registry.sub_registry_with_prefix("schedule"));
    stops.letters.metrics.register(&mut registry);
    room.metrics.register(registry.sub_registry_with_prefix("lines"));
    more.alerts.register(registry.sub_registry_with_prefix("alerts"));
    if let Some(bell) = more.bell {
        bell.register(registry.sub_registry_with_prefix("bell"));
    }
    if let Some(tls) = more.tls {
        tls.register(registry.sub_registry_with_prefix("tls"));
    }
    registry
}
