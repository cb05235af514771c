//! The HTTP route that upgrades a dial to a line.
//!
//! A bad token gets 401 and a dial while the store is down gets 503: the stock client retries after both. Only a
//! gateway that was revoked, as its own secret or a token for its agent proves, gets its upgrade and then 4401, which
//! is final for that client.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use nightdesk_protocol::Bearer;
use nightdesk_protocol::close::Close;
use nightdesk_types::Moment;
use nightdesk_types::limits::REVOKED_HELLO_WAIT;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_util::task::TaskTracker;

use crate::addresses::Addresses;
use crate::desk::Greeting;
use crate::driver::Driver;
use crate::meter::Metered;
use crate::metrics::Dial;
use crate::room::Room;
use crate::socket::Socket;
use crate::store::Caller;

const CANNOT_TELL: &str = "the gateway cannot be identified now; retry later";
const MANY_DIAL: &str = "too many gateways dial now; retry later";

/// State of the route.
struct Door {
    room: Arc<Room>,
    lines: TaskTracker,
    addresses: Addresses,
}

/// Returns the route that gateways dial. Every line runs as a task of `lines`.
pub fn route(room: Arc<Room>, lines: TaskTracker) -> Router {
    let door = Door { room, lines, addresses: Addresses::default() };
    Router::new().route("/relay", get(dial)).with_state(Arc::new(door))
}

async fn dial(
    State(door): State<Arc<Door>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    mut request: Request,
) -> Response {
    let arrived = door.room.clock.moment();
    let now = door.room.clock.now();
    let Some(shown) = bearer(request.headers()).and_then(|text| Bearer::read(text, now)) else {
        return door.refused(from.ip());
    };
    let Room { desk, dials, .. } = &*door.room;
    let greeting = match dials.in_turn(desk.identify(&shown, now)).await {
        Ok(Greeting::Unknown) => return door.refused(from.ip()),
        Ok(greeting) => greeting,
        Err(error) => {
            door.room.metrics.dialled(Dial::Unavailable);
            tracing::warn!(error = &error as &dyn Error, "a dial could not be identified");
            return try_later(CANNOT_TELL);
        }
    };
    if let Greeting::Welcome(_) = greeting
        && !door.admitted(arrived).await
    {
        door.room.metrics.dialled(Dial::PutOff);
        return try_later(MANY_DIAL);
    }
    door.notice(&greeting, from.ip());
    let accepted = accept_key(request.headers());
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let Some((accepted, upgrade)) = accepted.zip(upgrade) else {
        return (StatusCode::UPGRADE_REQUIRED, "a WebSocket upgrade is required").into_response();
    };
    let room = Arc::clone(&door.room);
    door.lines.spawn(async move {
        // A failed upgrade has no line and leaves no record.
        if let Ok(connection) = upgrade.await {
            open(room, greeting, connection).await;
        }
    });
    switching(accepted)
}

impl Door {
    /// Waits until a dial may become a line. Returns false if the client should retry.
    async fn admitted(&self, arrived: Moment) -> bool {
        match self.room.dials.place(arrived, self.room.clock.moment()) {
            Some(Duration::ZERO) => true,
            Some(wait) => {
                sleep(wait).await;
                true
            }
            None => false,
        }
    }

    fn notice(&self, greeting: &Greeting, address: IpAddr) {
        let Greeting::Welcome(caller) = greeting else {
            return self.room.metrics.dialled(Dial::Revoked);
        };
        self.room.metrics.dialled(Dial::Welcome);
        let gateway = caller.gateway;
        if self.addresses.is_elsewhere(gateway, address, self.room.clock.moment()) {
            tracing::warn!(
                gateway.id = %gateway,
                "gateway {gateway} dialled from two addresses within a minute; if its owner \
                 did not move it, rotate its secret"
            );
        }
    }

    fn refused(&self, address: IpAddr) -> Response {
        self.room.metrics.dialled(Dial::Unknown);
        if self.room.failures.count(address, self.room.clock.moment()) {
            (StatusCode::UNAUTHORIZED, "no trusted issuer signed this token").into_response()
        } else {
            let later = [(header::RETRY_AFTER, "60")];
            (StatusCode::TOO_MANY_REQUESTS, later, "too many bad tokens").into_response()
        }
    }
}

async fn open(room: Arc<Room>, greeting: Greeting, connection: Upgraded) {
    let socket = Socket::upgraded(Metered::new(TokioIo::new(connection))).await;
    match greeting {
        Greeting::Welcome(caller) => welcome(room, caller, socket).await,
        Greeting::Revoked => turn_away(socket).await,
        Greeting::Unknown => {}
    }
}

async fn welcome(room: Arc<Room>, caller: Caller, socket: Socket<Metered<TokioIo<Upgraded>>>) {
    Box::pin(Driver::new(room, caller, socket).run()).await;
}

/// Closes the socket of a revoked gateway. The stock client treats a close before its first hello as a temporary fault,
/// so the desk first reads for a moment.
async fn turn_away(mut socket: Socket<Metered<TokioIo<Upgraded>>>) {
    drop(timeout(REVOKED_HELLO_WAIT, socket.hear()).await);
    drop(socket.close(Close::Revoked).await);
    socket.linger().await;
}

/// Returns the bearer token of a request.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
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

fn switching(accepted: HeaderValue) -> Response {
    let headers = [
        (header::CONNECTION, HeaderValue::from_static("upgrade")),
        (header::UPGRADE, HeaderValue::from_static("websocket")),
        (header::SEC_WEBSOCKET_ACCEPT, accepted),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

fn try_later(why: &'static str) -> Response {
    let later = [(header::RETRY_AFTER, "2")];
    (StatusCode::SERVICE_UNAVAILABLE, later, why).into_response()
}
