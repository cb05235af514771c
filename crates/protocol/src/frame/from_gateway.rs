//! Frames from a gateway: hellos, acks, sends, interrupts.

use std::borrow::Cow;

use nightdesk_types::limits::{FRAME_IN_BYTES_MAX, PLATFORM_ID_BYTES_MAX, SHORT_TEXT_BYTES_MAX};
use nightdesk_types::{RequestId, StopId};
use serde::{Deserialize, Serialize};

use super::{Frame, MalformedFrame, TooLong, UNKNOWN_NAME_BYTES_MAX, read_line, read_object};
use crate::action::{self, Action};
use crate::hello::{self, ClientVersion, Hello, RawCommand};
use crate::session_key::SessionKey;
use crate::session_names::SessionNames;
use crate::{text, tolerant};

/// A frame from a gateway.
#[derive(Clone, Debug, PartialEq)]
pub enum FromGateway {
    /// The gateway connects for a bot.
    Hello(Hello),
    /// The gateway acknowledges an entry.
    InboundAck {
        /// The entry's id, as the gateway received it.
        buffer_id: String,
    },
    /// An action on a platform.
    Outbound(Box<Outbound>),
    /// A request to stop a turn on any node.
    Interrupt(Interrupt),
    /// The answer to a stop.
    InterruptResult(InterruptResult),
    /// The gateway is about to sleep or stop.
    GoingIdle,
    /// The live sessions of the agent, in place of those that it named before.
    Sessions(SessionNames),
    /// A frame of a newer contract.
    Unknown {
        /// Its type, truncated.
        kind: String,
    },
    /// An unusable line.
    Malformed(MalformedFrame),
}

/// A gateway's action on a platform.
#[derive(Clone, Debug, PartialEq)]
pub struct Outbound {
    /// The id of the response.
    pub request_id: RequestId,
    /// The action.
    pub action: Action,
    /// The platform, if the gateway knows it.
    pub platform: Option<String>,
    /// The platform's name of the bot, if the gateway knows it.
    pub bot_handle: Option<String>,
}

/// The fields of an `outbound` frame, from an agent that sends no frames. `A` is the action's JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "outbound")]
pub struct OutboundFields<'a, A> {
    /// The id of the response.
    #[serde(rename = "requestId")]
    pub request_id: &'a str,
    /// The action.
    pub action: A,
    /// The platform, if the agent knows it.
    pub platform: Option<&'a str>,
    /// The platform's name of the bot, if the agent knows it.
    #[serde(rename = "botId")]
    pub bot_handle: Option<&'a str>,
}

impl Outbound {
    /// Reads the fields as the frame of a WebSocket, so that the same rules apply. `None` if they break a rule.
    pub fn from_fields<A: Serialize>(fields: &OutboundFields<'_, A>) -> Option<Self> {
        let frame = serde_json::to_vec(fields).ok()?;
        if let FromGateway::Outbound(outbound) = FromGateway::decode(&frame) {
            Some(*outbound)
        } else {
            None
        }
    }
}

/// A request to stop a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "interrupt")]
pub struct Interrupt {
    /// The session of the turn.
    pub session_key: SessionKey,
    /// The reason, for people.
    pub reason: Option<String>,
}

/// The answer to a stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "interrupt_result")]
pub struct InterruptResult {
    /// The id of the stop.
    pub stop_id: StopId,
    /// True if a turn of the session ran and stops.
    pub stopped: bool,
}

impl FromGateway {
    /// Decodes a line. It never fails: an unusable line is [`FromGateway::Malformed`].
    pub fn decode(line: &[u8]) -> Self {
        let read = |line: &[u8]| {
            Ok(read_object::<GatewayEnvelope<'_>>(line)?.map(GatewayEnvelope::into_frame))
        };
        read_line(line, read).unwrap_or_else(Self::Malformed)
    }
}

/// The fields of all frames from a gateway.
#[derive(Deserialize)]
struct GatewayEnvelope<'a> {
    #[serde(borrow, rename = "type", default, deserialize_with = "tolerant::borrowed")]
    kind: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "tolerant::text")]
    platform: Option<String>,
    #[serde(rename = "botId", default, deserialize_with = "tolerant::text")]
    bot_handle: Option<String>,
    #[serde(rename = "command_manifest", default, deserialize_with = "tolerant::some_objects")]
    commands: Option<Vec<RawCommand>>,
    #[serde(default, deserialize_with = "tolerant::object")]
    client: Option<ClientVersion>,
    #[serde(rename = "bufferId", default, deserialize_with = "tolerant::text")]
    buffer_id: Option<String>,
    #[serde(rename = "requestId", default, deserialize_with = "tolerant::text")]
    request_id: Option<String>,
    #[serde(borrow, default, deserialize_with = "tolerant::object")]
    action: Option<action::RawAction<'a>>,
    #[serde(default, deserialize_with = "tolerant::text")]
    session_key: Option<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    reason: Option<String>,
    #[serde(default, deserialize_with = "tolerant::texts")]
    sessions: Vec<String>,
    #[serde(default, deserialize_with = "tolerant::text")]
    stop_id: Option<String>,
    #[serde(default, deserialize_with = "tolerant::truth")]
    stopped: bool,
}

impl GatewayEnvelope<'_> {
    fn into_frame(mut self) -> FromGateway {
        let Some(kind) = self.kind.take() else {
            return FromGateway::Malformed(MalformedFrame::NoType);
        };
        let frame = match kind.as_ref() {
            "hello" => self.hello(),
            "inbound_ack" => self.inbound_ack(),
            "outbound" => self.outbound(),
            "interrupt" => self.interrupt(),
            "interrupt_result" => self.interrupt_result(),
            "going_idle" => Ok(FromGateway::GoingIdle),
            "sessions" => Ok(FromGateway::Sessions(SessionNames::from_usable(self.sessions))),
            unknown => {
                Ok(FromGateway::Unknown { kind: text::cut(unknown, UNKNOWN_NAME_BYTES_MAX) })
            }
        };
        frame.unwrap_or_else(FromGateway::Malformed)
    }

    fn hello(self) -> Result<FromGateway, MalformedFrame> {
        let Self { platform, bot_handle, commands, client, .. } = self;
        let hello = Hello::from(hello::RawHello { platform, bot_handle, commands, client });
        if hello.platform.len() > PLATFORM_ID_BYTES_MAX {
            return Err(MalformedFrame::Missing("platform"));
        }
        if hello.bot_handle.len() > PLATFORM_ID_BYTES_MAX {
            return Err(MalformedFrame::Missing("botId"));
        }
        Ok(FromGateway::Hello(hello))
    }

    fn inbound_ack(self) -> Result<FromGateway, MalformedFrame> {
        let buffer_id = self.buffer_id.filter(|id| !id.is_empty());
        let buffer_id = buffer_id.ok_or(MalformedFrame::Missing("bufferId"))?;
        Ok(FromGateway::InboundAck { buffer_id })
    }

    fn outbound(self) -> Result<FromGateway, MalformedFrame> {
        let request_id = self.request_id.and_then(RequestId::new);
        let request_id = request_id.ok_or(MalformedFrame::Missing("requestId"))?;
        Ok(FromGateway::Outbound(Box::new(Outbound {
            request_id,
            action: self.action.map_or_else(Action::missing_action, action::RawAction::into_action),
            platform: self.platform.filter(|platform| is_tag(platform)),
            bot_handle: self.bot_handle.filter(|handle| is_tag(handle)),
        })))
    }

    fn interrupt(self) -> Result<FromGateway, MalformedFrame> {
        let session_key = self.session_key.and_then(SessionKey::new);
        let session_key = session_key.ok_or(MalformedFrame::Missing("session_key"))?;
        let reason = self.reason.map(|reason| text::cut(reason, SHORT_TEXT_BYTES_MAX));
        Ok(FromGateway::Interrupt(Interrupt { session_key, reason }))
    }

    fn interrupt_result(self) -> Result<FromGateway, MalformedFrame> {
        let stop_id = self.stop_id.and_then(StopId::new);
        let stop_id = stop_id.ok_or(MalformedFrame::Missing("stop_id"))?;
        Ok(FromGateway::InterruptResult(InterruptResult { stop_id, stopped: self.stopped }))
    }
}

/// Returns true if the text may be the name of a platform or a bot.
fn is_tag(name: &str) -> bool {
    (1..=PLATFORM_ID_BYTES_MAX).contains(&name.len())
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "inbound_ack")]
pub(super) struct AckFrame<'a> {
    #[serde(rename = "bufferId")]
    buffer_id: &'a str,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "outbound")]
pub(super) struct OutboundFrame<'a> {
    #[serde(rename = "requestId")]
    request_id: &'a RequestId,
    action: &'a Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<&'a str>,
    #[serde(rename = "botId", skip_serializing_if = "Option::is_none")]
    bot_handle: Option<&'a str>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename = "sessions")]
pub(super) struct SessionsFrame<'a> {
    sessions: &'a SessionNames,
}

/// The frames that a gateway sends, for the SDK.
impl Frame {
    /// Encodes a hello for a bot.
    pub fn hello(hello: &Hello) -> Result<Self, TooLong> {
        from_gateway(hello)
    }

    /// Encodes the ack of an entry.
    pub fn inbound_ack(buffer_id: &str) -> Result<Self, TooLong> {
        from_gateway(&AckFrame { buffer_id })
    }

    /// Encodes an action on a platform.
    pub fn outbound(outbound: &Outbound) -> Result<Self, TooLong> {
        let Outbound { request_id, action, platform, bot_handle } = outbound;
        let (platform, bot_handle) = (platform.as_deref(), bot_handle.as_deref());
        from_gateway(&OutboundFrame { request_id, action, platform, bot_handle })
    }

    /// Encodes a request to stop a turn.
    pub fn interrupt(interrupt: &Interrupt) -> Result<Self, TooLong> {
        from_gateway(interrupt)
    }

    /// Encodes the live sessions of the agent.
    pub fn sessions(sessions: &SessionNames) -> Result<Self, TooLong> {
        from_gateway(&SessionsFrame { sessions })
    }

    /// Encodes the answer to a stop.
    pub fn interrupt_result(answer: &InterruptResult) -> Result<Self, TooLong> {
        from_gateway(answer)
    }

    /// Encodes the announcement that a gateway is about to sleep or stop.
    pub fn going_idle() -> Self {
        Self("{\"type\":\"going_idle\"}\n".to_owned())
    }
}

fn from_gateway(frame: &impl Serialize) -> Result<Frame, TooLong> {
    Frame::encode_within(FRAME_IN_BYTES_MAX, frame)
}
