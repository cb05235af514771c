//! Converts steps of entries to spans of their traces.
//!
//! The ids of a trace and of its first span are derived from the entry's id, so every node adds its steps to the same
//! trace without coordination.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use nightdesk_inbox::trail::{TAKE, TARGET};
use nightdesk_types::{Clock, EntryId, SystemClock};
use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks, SpanProcessor};
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Receives steps and passes them on as spans.
pub(super) struct StepLayer<P> {
    spans: Arc<P>,
    clock: SystemClock,
}

impl<P: SpanProcessor + 'static> StepLayer<P> {
    pub(super) fn new(spans: Arc<P>) -> Self {
        Self { spans, clock: SystemClock::start() }
    }

    /// Returns the layer, which ignores everything but steps.
    pub(super) fn only_steps<S>(self) -> impl Layer<S> + Send + Sync + use<S, P>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        self.with_filter(filter_fn(|metadata: &Metadata<'_>| metadata.target() == TARGET))
    }
}

impl<S: Subscriber, P: SpanProcessor + 'static> Layer<S> for StepLayer<P> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut step = RecordedStep::default();
        event.record(&mut step);
        let now = SystemTime::from(self.clock.now());
        if let Some(span) = step.into_span(now) {
            self.spans.on_end(span);
        }
    }
}

/// A step as it was recorded.
#[derive(Debug, Default)]
struct RecordedStep {
    name: String,
    entry: Option<EntryId>,
    took_us: u64,
    since_us: Option<i64>,
}

impl Visit for RecordedStep {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "step" {
            value.clone_into(&mut self.name);
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "took_us" {
            self.took_us = value;
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        if field.name() == "since_us" {
            self.since_us = Some(value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "entry" {
            self.entry = format!("{value:?}").parse().ok();
        }
    }
}

impl RecordedStep {
    fn into_span(self, ended: SystemTime) -> Option<SpanData> {
        let entry = self.entry?;
        let began = match self.since_us.and_then(|since| u64::try_from(since).ok()) {
            Some(since) => SystemTime::UNIX_EPOCH + Duration::from_micros(since),
            None => ended - Duration::from_micros(self.took_us),
        };
        let root = first_span(entry);
        let is_first = self.name == TAKE;
        let (id, parent) =
            if is_first { (root, SpanId::INVALID) } else { (other_span(entry, &self.name), root) };
        Some(SpanData {
            span_context: context(entry, id),
            parent_span_id: parent,
            parent_span_is_remote: !is_first,
            span_kind: if is_first { SpanKind::Server } else { SpanKind::Internal },
            name: self.name.into(),
            start_time: began.min(ended),
            end_time: ended,
            attributes: attributes(entry),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: InstrumentationScope::builder("nightdesk").build(),
        })
    }
}

fn context(entry: EntryId, id: SpanId) -> SpanContext {
    let trace = TraceId::from(entry.trace_id());
    SpanContext::new(trace, id, TraceFlags::SAMPLED, true, TraceState::default())
}

fn attributes(entry: EntryId) -> Vec<KeyValue> {
    vec![
        KeyValue::new("nightdesk.agent.id", entry.agent.to_string()),
        KeyValue::new("nightdesk.entry.seq", entry.seq.get()),
    ]
}

fn first_span(entry: EntryId) -> SpanId {
    let [.., low] = halves(entry);
    SpanId::from(low | 1)
}

/// Returns one span id per step and entry: a step that is recorded twice is the same step.
fn other_span(entry: EntryId, name: &str) -> SpanId {
    let [high, low] = halves(entry);
    let name = name.bytes().fold(high, |sum, byte| sum.rotate_left(7) ^ u64::from(byte));
    SpanId::from((name ^ low.rotate_left(32)) & !1 | 2)
}

fn halves(entry: EntryId) -> [u64; 2] {
    let trace = entry.trace_id();
    [
        u64::try_from(trace >> 64).unwrap_or(0),
        u64::try_from(trace & u128::from(u64::MAX)).unwrap_or(0),
    ]
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use nightdesk_inbox::trail::{self, PUT};
    use nightdesk_inbox::{AgentPresence, StoredEntry};
    use nightdesk_types::{
        AgentId, Generation, Incarnation, Seq, TenantId, TenantScope, Timestamp,
    };
    use opentelemetry_sdk::error::OTelSdkResult;
    use opentelemetry_sdk::trace::Span;
    use tracing_subscriber::layer::SubscriberExt;
    use uuid::Uuid;

    use super::*;

    #[derive(Debug, Default)]
    struct Kept(Mutex<Vec<SpanData>>);

    impl SpanProcessor for Kept {
        fn on_start(&self, _: &mut Span, _: &opentelemetry::Context) {}

        fn on_end(&self, span: SpanData) {
            self.0.lock().unwrap().push(span);
        }

        fn force_flush(&self) -> OTelSdkResult {
            Ok(())
        }

        fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
            Ok(())
        }
    }

    fn heard(say: impl FnOnce()) -> Vec<SpanData> {
        let kept = Arc::new(Kept::default());
        let layer = StepLayer::new(Arc::<Kept>::clone(&kept)).only_steps();
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), say);
        std::mem::take(&mut *kept.0.lock().unwrap())
    }

    fn stored(seq: i64) -> StoredEntry {
        StoredEntry {
            scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil())),
            agent: AgentId::from_uuid(Uuid::from_u128(0x1234_5678_9abc_def0_0fed_cba9_8765_4321)),
            seq: Seq::new(seq),
            at: Timestamp::UNIX_EPOCH,
            parked: false,
            presence: AgentPresence::Awake,
            incarnation: Incarnation::new(1),
            generation: Generation::new(1),
        }
    }

    #[test]
    fn the_steps_of_an_entry_are_one_trace_under_its_first_step() {
        let spans = heard(|| {
            tracing::info!("not a step");
            trail::trace_stored(PUT, &[stored(1)], Duration::from_millis(2));
            trail::trace_stored(TAKE, &[stored(1)], Duration::from_millis(3));
        });

        let [put, take] = &spans[..] else { panic!("{spans:?}") };
        assert_eq!(put.span_context.trace_id(), take.span_context.trace_id());
        assert_eq!(put.parent_span_id, take.span_context.span_id());
        assert_ne!(put.span_context.span_id(), take.span_context.span_id());
        assert_eq!(take.parent_span_id, SpanId::INVALID);
        let took = take.end_time.duration_since(take.start_time).unwrap();
        assert_eq!(took, Duration::from_millis(3));
    }

    #[test]
    fn another_entry_is_another_trace() {
        let spans = heard(|| trail::trace_stored(TAKE, &[stored(1), stored(2)], Duration::ZERO));

        let [one, other] = &spans[..] else { panic!("{spans:?}") };
        assert_ne!(one.span_context.trace_id(), other.span_context.trace_id());
        assert_ne!(one.span_context.span_id(), other.span_context.span_id());
    }
}
