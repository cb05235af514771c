//! Traces: where finished steps are sent.

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

use super::trail::Trail;
use crate::config::Traces as Section;

/// How long one batch of steps may take on its way.
const EXPORT_WAIT: Duration = Duration::from_secs(5);

/// What sends steps, in batches, from a thread of its own. What does not fit is dropped there.
#[derive(Clone, Debug)]
pub(crate) struct Traces(Arc<BatchSpanProcessor>);

impl Traces {
    /// Begins to send to where the operator says; nowhere by default.
    pub(crate) fn to(section: &Section, node: &str) -> anyhow::Result<Option<Self>> {
        let Some(url) = &section.otlp_url else { return Ok(None) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(url)
            .with_timeout(EXPORT_WAIT)
            .build()
            .with_context(|| format!("traces.otlp_url is {url}, which cannot be sent to"))?;
        let mut processor = BatchSpanProcessor::builder(exporter).build();
        let named = [
            KeyValue::new("service.name", "nightdesk"),
            KeyValue::new("service.instance.id", node.to_owned()),
        ];
        processor.set_resource(&Resource::builder_empty().with_attributes(named).build());
        Ok(Some(Self(Arc::new(processor))))
    }

    /// The layer that hears steps.
    pub(super) fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        Trail::into(Arc::<BatchSpanProcessor>::clone(&self.0)).only_steps()
    }

    /// Sends what is left.
    pub(crate) fn close(&self) {
        if let Err(error) = self.0.shutdown_with_timeout(EXPORT_WAIT) {
            tracing::warn!(%error, "the last steps of traces were not sent");
        }
    }
}
