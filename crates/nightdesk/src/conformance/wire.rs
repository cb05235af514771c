//! The wires that a trial reads: HTTP/1.1, WebSocket, and the calls of a line in both.

pub(super) mod call;
pub(super) mod http;
pub(super) mod websocket;
