//! Connects to Redis and receives its push messages.

use std::sync::Arc;

use nightdesk_bus::LineRegistry;
use nightdesk_types::is_loopback_host;
use nightdesk_types::limits::{BELL_WAIT, HINTS_WAITING_MAX};
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, PushInfo,
    PushKind, RedisError, Value,
};
use tokio::sync::mpsc;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_util::sync::CancellationToken;

/// Redis is not usable.
#[derive(Debug, thiserror::Error)]
#[error("could not reach Redis")]
pub struct ConnectError(#[from] RedisError);

/// Push messages from Redis.
#[derive(Debug)]
pub(crate) struct Pushes {
    /// The messages on subscribed channels.
    pub(crate) hints: mpsc::Receiver<Vec<u8>>,
    /// Cancelled when the connection is lost.
    pub(crate) lost: CancellationToken,
}

/// Returns true if the URL leads to another machine without TLS. An unreadable URL does not; it is refused later.
pub fn is_remote_plaintext(url: &str) -> bool {
    let Ok(info) = url.into_connection_info() else { return false };
    let address = info.addr();
    let is_safe = matches!(address, ConnectionAddr::TcpTls { .. } | ConnectionAddr::Unix(_));
    let is_here = matches!(address, ConnectionAddr::Tcp(host, _) if is_loopback_host(host));
    !is_safe && !is_here
}

/// Creates a client without connecting.
pub(crate) fn client(url: &str, password: Option<&str>) -> Result<Client, ConnectError> {
    // Only the first provider of a process counts, and all callers install the same one.
    drop(aws_lc_rs::default_provider().install_default());
    let info = url.into_connection_info()?;
    let mut settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    if let Some(password) = password {
        settings = settings.set_password(password);
    }
    Ok(Client::open(info.set_redis_settings(settings))?)
}

/// Connects. If the queue of hints is full, a further hint puts all lines in doubt.
pub(crate) async fn connect(
    client: &Client,
    ears: &Arc<LineRegistry>,
) -> Result<(MultiplexedConnection, Pushes), RedisError> {
    let (hint, hints) = mpsc::channel(HINTS_WAITING_MAX);
    let lost = CancellationToken::new();
    let (ears, losing) = (Arc::clone(ears), lost.clone());
    let pushed = move |push: PushInfo| -> Result<(), ()> {
        if push.kind == PushKind::Disconnection {
            losing.cancel();
        } else if push.kind == PushKind::Message && hint.try_send(payload(push.data)).is_err() {
            ears.lines_in_doubt().doubt_all();
        }
        Ok(())
    };
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(BELL_WAIT))
        .set_response_timeout(Some(BELL_WAIT))
        .set_push_sender(pushed);
    let connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    Ok((connection, Pushes { hints, lost }))
}

/// Returns the payload of a message, which consists of its channel and its payload.
fn payload(data: Vec<Value>) -> Vec<u8> {
    match data.into_iter().nth(1) {
        Some(Value::BulkString(bytes)) => bytes,
        // Not a hint of the desk; the seal refuses it.
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_connection_to_another_machine_is_found() {
        let cases = [
            ("redis://127.0.0.1:6379", false),
            ("redis://localhost", false),
            ("redis://[::1]:6379", false),
            ("redis+unix:///run/redis.sock", false),
            ("rediss://redis.internal:6379", false),
            ("valkeys://192.0.2.1:6379", false),
            ("redis://redis.internal:6379", true),
            ("redis://192.0.2.1", true),
            ("valkey://user@redis.internal/0", true),
            ("redis://localhost.example.org", true),
        ];
        for (url, want) in cases {
            assert_eq!(is_remote_plaintext(url), want, "{url}");
        }
    }
}
