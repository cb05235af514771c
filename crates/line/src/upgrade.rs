//! The HTTP route that upgrades a dial to a line.
//!
//! A bad token gets 401 and a dial while the store is down gets 503: the stock client retries after both. Only a
//! gateway that was revoked, as its own secret or a token for its agent proves, gets its upgrade and then 4401, which
//! is final for that client.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use nightdesk_protocol::Bearer;
use nightdesk_protocol::close::Close;
use nightdesk_types::limits::REVOKED_HELLO_WAIT;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_util::task::TaskTracker;

use crate::addresses::DialAddresses;
use crate::connection_proof::ConnectionProof;
use crate::context::LineContext;
use crate::driver::LineDriver;
use crate::handler::IdentifyOutcome;
use crate::meter::MeteredStream;
use crate::metrics::DialOutcome;
use crate::socket::LineSocket;
use crate::store::AuthenticatedGateway;
use crate::transport::LineTransport;

const CANNOT_TELL: &str = "the gateway cannot be identified now; retry later";
const MANY_DIAL: &str = "too many gateways dial now; retry later";

/// State of the route.
struct DialRoute {
    context: Arc<LineContext>,
    lines: TaskTracker,
    addresses: DialAddresses,
}

/// Returns the route that gateways dial. Every line runs as a task of `lines`.
pub fn route(room: Arc<LineContext>, lines: TaskTracker) -> Router {
    let door = DialRoute { context: room, lines, addresses: DialAddresses::default() };
    Router::new().route("/relay", get(dial)).with_state(Arc::new(door))
}

async fn dial(
    State(door): State<Arc<DialRoute>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    mut request: Request,
) -> Response {
    let arrived = door.context.clock.moment();
    let now = door.context.clock.now();
    let Some(shown) = bearer_token(request.headers()).and_then(|text| Bearer::read(text, now))
    else {
        return door.refuse_token(from.ip());
    };
    let LineContext { desk, dials, .. } = &*door.context;
    let greeting = match desk.identify(&shown, now, dials).await {
        Ok(IdentifyOutcome::Unknown) => return door.refuse_token(from.ip()),
        Ok(greeting) => {
            ConnectionProof::record_in(request.extensions());
            greeting
        }
        Err(error) => {
            door.context.metrics.count_dial(DialOutcome::Unavailable);
            tracing::warn!(error = &error as &dyn Error, "a dial could not be identified");
            return retry_response(CANNOT_TELL);
        }
    };
    if let IdentifyOutcome::Welcome(_) = greeting
        && !dials.wait_for_place(arrived, &*door.context.clock).await
    {
        door.context.metrics.count_dial(DialOutcome::PutOff);
        return retry_response(MANY_DIAL);
    }
    door.record_dial(&greeting, from.ip());
    let accepted = accept_key(request.headers());
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let Some((accepted, upgrade)) = accepted.zip(upgrade) else {
        return (StatusCode::UPGRADE_REQUIRED, "a WebSocket upgrade is required").into_response();
    };
    let room = Arc::clone(&door.context);
    door.lines.spawn(async move {
        // A failed upgrade has no line and leaves no record.
        if let Ok(connection) = upgrade.await {
            run_upgraded(room, greeting, connection).await;
        }
    });
    switching_response(accepted)
}

impl DialRoute {
    fn record_dial(&self, greeting: &IdentifyOutcome, address: IpAddr) {
        let IdentifyOutcome::Welcome(caller) = greeting else {
            return self.context.metrics.count_dial(DialOutcome::Revoked);
        };
        self.context.metrics.count_dial(DialOutcome::Welcome);
        let gateway = caller.gateway;
        if self.addresses.is_elsewhere(gateway, address, self.context.clock.moment()) {
            tracing::warn!(
                gateway.id = %gateway,
                "gateway {gateway} dialled from two addresses within a minute; if its owner \
                 did not move it, rotate its secret"
            );
        }
    }

    fn refuse_token(&self, address: IpAddr) -> Response {
        self.context.metrics.count_dial(DialOutcome::Unknown);
        if self.context.failures.count(address, self.context.clock.moment()) {
            (StatusCode::UNAUTHORIZED, "no trusted issuer signed this token").into_response()
        } else {
            let later = [(header::RETRY_AFTER, "60")];
            (StatusCode::TOO_MANY_REQUESTS, later, "too many bad tokens").into_response()
        }
    }
}

async fn run_upgraded(room: Arc<LineContext>, greeting: IdentifyOutcome, connection: Upgraded) {
    let socket = LineSocket::from_upgrade(MeteredStream::new(TokioIo::new(connection))).await;
    match greeting {
        IdentifyOutcome::Welcome(caller) => run_line(room, caller, socket).await,
        IdentifyOutcome::Revoked => close_revoked(socket).await,
        IdentifyOutcome::Unknown => {}
    }
}

async fn run_line(
    room: Arc<LineContext>,
    caller: AuthenticatedGateway,
    socket: LineSocket<MeteredStream<TokioIo<Upgraded>>>,
) {
    Box::pin(LineDriver::new(room, caller, socket).run()).await;
}

/// Closes the socket of a revoked gateway. The stock client treats a close before its first hello as a temporary fault,
/// so the desk first reads for a moment.
async fn close_revoked(mut socket: LineSocket<MeteredStream<TokioIo<Upgraded>>>) {
    drop(timeout(REVOKED_HELLO_WAIT, socket.next_event()).await);
    drop(socket.close(Close::Revoked).await);
    socket.linger().await;
}

/// Returns the bearer token of a request.
pub fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    bearer_of(headers.get(header::AUTHORIZATION)?)
}

/// Returns the bearer token of an `Authorization` header.
pub fn bearer_of(authorization: &HeaderValue) -> Option<&str> {
    authorization.to_str().ok()?.strip_prefix("Bearer ")
}

/// Returns the response to the client's key, if it is a WebSocket request.
fn accept_key(headers: &HeaderMap) -> Option<HeaderValue> {
    let says = |name, word: &str| {
        headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|value| value.trim().eq_ignore_ascii_case(word))
    };
    let asked = says(header::CONNECTION, "upgrade")
        && says(header::UPGRADE, "websocket")
        && says(header::SEC_WEBSOCKET_VERSION, "13");
    let key = headers.get(header::SEC_WEBSOCKET_KEY)?;
    HeaderValue::try_from(derive_accept_key(key.as_bytes())).ok().filter(|_| asked)
}

fn switching_response(accepted: HeaderValue) -> Response {
    let headers = [
        (header::CONNECTION, HeaderValue::from_static("upgrade")),
        (header::UPGRADE, HeaderValue::from_static("websocket")),
        (header::SEC_WEBSOCKET_ACCEPT, accepted),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

fn retry_response(why: &'static str) -> Response {
    let later = [(header::RETRY_AFTER, "2")];
    (StatusCode::SERVICE_UNAVAILABLE, later, why).into_response()
}
