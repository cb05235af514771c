//! Writes logs to stderr, for a person or for a program.

use anyhow::Context;
use nightdesk_inbox::trail;
use tracing::Subscriber;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use super::log_queue::{DropNotice, LogQueue};
use crate::config::{LogFormat, LogSection};

/// Libraries that would log messages or tokens at a finer level. Steps are excluded too, because traces carry them.
const HUSHED: [&str; 3] = ["tungstenite=info", "tokio_tungstenite=info", "hyper=info"];

/// The reason for dropped lines.
const READER_STOOD: &str = "the reader of the log stood still";

/// Starts the queue of log lines to stderr.
pub(super) fn queue(format: LogFormat) -> anyhow::Result<LogQueue> {
    let notice: DropNotice = match format {
        LogFormat::Pretty => |lost| format!("{lost} log lines were dropped: {READER_STOOD}\n"),
        LogFormat::Json => |lost| {
            let message = format!("{lost} log lines were dropped: {READER_STOOD}");
            format!("{}\n", serde_json::json!({ "level": "WARN", "message": message }))
        },
    };
    LogQueue::start(std::io::stderr(), notice).context("could not start the thread of the log")
}

/// Returns the layer that writes logs to the queue.
pub(super) fn layer<S>(
    log: &LogSection,
    queue: LogQueue,
) -> anyhow::Result<Box<dyn Layer<S> + Send + Sync>>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let written = fmt::layer().with_writer(queue);
    let filter = filter(&log.filter)?;
    Ok(match log.format {
        LogFormat::Pretty => written.with_filter(filter).boxed(),
        LogFormat::Json => written.json().flatten_event(true).with_filter(filter).boxed(),
    })
}

fn filter(directives: &str) -> anyhow::Result<EnvFilter> {
    let filter = EnvFilter::try_new(directives).with_context(|| {
        format!("log.filter is `{directives}`; write it like info or nightdesk_line=debug,info")
    })?;
    let trail = format!("{}=off", trail::TARGET);
    let hushed = HUSHED.iter().copied().chain([trail.as_str()]);
    Ok(hushed.filter_map(|directive| directive.parse().ok()).fold(filter, EnvFilter::add_directive))
}
