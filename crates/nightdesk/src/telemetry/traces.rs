//! Sends finished steps as traces.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use opentelemetry::KeyValue;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanProcessor};
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

use super::step_layer::StepLayer;
use crate::config::TracesSection as Section;

/// Timeout of one batch of steps.
const EXPORT_WAIT: Duration = Duration::from_secs(5);

/// Sends steps in batches from its own thread. Steps beyond its queue are dropped.
#[derive(Clone, Debug)]
pub(crate) struct TraceExporter(Arc<BatchSpanProcessor>);

impl TraceExporter {
    /// Starts sending to the configured collector; by default there is none.
    pub(crate) fn start(section: &Section, node: &str) -> anyhow::Result<Option<Self>> {
        let Some(url) = &section.otlp_url else { return Ok(None) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(url)
            .with_timeout(EXPORT_WAIT)
            .build()
            .with_context(|| format!("traces.otlp_url is {url}, which is not a usable URL"))?;
        let mut processor = BatchSpanProcessor::builder(exporter).build();
        let named = [
            KeyValue::new("service.name", "nightdesk"),
            KeyValue::new("service.instance.id", node.to_owned()),
        ];
        processor.set_resource(&Resource::builder_empty().with_attributes(named).build());
        Ok(Some(Self(Arc::new(processor))))
    }

    /// Returns the layer that receives steps.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        StepLayer::new(Arc::<BatchSpanProcessor>::clone(&self.0)).only_steps()
    }

    /// Sends the remaining steps.
    pub(crate) fn close(&self) {
        if let Err(error) = self.0.shutdown_with_timeout(EXPORT_WAIT) {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}
