//! `/v1/line/…`: a line over HTTP requests, for agents that keep no WebSocket open.
//!
//! The node that holds a line serves its requests; any other node passes them on to it.

mod caller;
mod local_request;

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use nightdesk_line::{LineName, LineOpening, PollError, TakenFrames};
use nightdesk_protocol::close::Close;
use nightdesk_protocol::frame::{InterruptResult, Outbound, OutboundFields};
use nightdesk_protocol::hello::Hello;
use nightdesk_protocol::http::line::{
    AckRequest, IdleRequest, LineHello, SendRequest, SessionsRequest, StoppedRequest, TakeRequest,
    TakeResponse,
};
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::limits::{
    ACKS_PER_REQUEST_MAX, FRAME_IN_BYTES_MAX, HELLOS_MAX, LINE_REQUEST_BYTES_MAX, TAKE_WAIT,
    TAKE_WAIT_MAX,
};
use nightdesk_types::{StopId, Transport};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::RequestBody;
use crate::problem::{self, Problem, Problems};
use crate::state::ApiState;
use local_request::LocalRequest;

pub(crate) use caller::LineCaller;
pub(crate) use local_request::pass_on;

pub(crate) fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(take))
        .routes(routes!(ack))
        .routes(routes!(send))
        .routes(routes!(sessions))
        .routes(routes!(stopped))
        .routes(routes!(idle))
}

/// A request to a line that exists.
pub(crate) trait LineRequestBody: RequestBody + Serialize {
    /// The path of the route.
    const PATH: &'static str;

    /// The line of a request that names none.
    const UNNAMED: UnnamedLine;

    /// The name of the line, if the request has one.
    fn line(&self) -> Option<&str>;
}

/// The line of a request that names none.
#[derive(Clone, Copy, Debug)]
pub(crate) enum UnnamedLine {
    /// A new one.
    New,
    /// That on which the desk posts entries to the agent.
    Posted,
    /// The same, and if the agent has no line, it opens.
    PostedOrOpened,
}

macro_rules! line_requests {
    ($($request:ident $path:literal $unnamed:ident $bytes_max:expr, $line:expr, $expected:literal;)+) => {
        $(
            impl RequestBody for $request {
                const EXPECTED: &'static str = $expected;
                const BYTES_MAX: usize = $bytes_max;
            }

            impl LineRequestBody for $request {
                const PATH: &'static str = $path;
                const UNNAMED: UnnamedLine = UnnamedLine::$unnamed;

                fn line(&self) -> Option<&str> {
                    let line: fn(&Self) -> Option<&str> = $line;
                    line(self)
                }
            }
        )+
    };
}

line_requests! {
    TakeRequest "/v1/line/take" New LINE_REQUEST_BYTES_MAX, |it| it.line.as_deref(),
        "send JSON with line, if there is one, wait_seconds, at most sixteen hellos, and client";
    AckRequest "/v1/line/ack" Posted LINE_REQUEST_BYTES_MAX, |it| it.line.as_deref(),
        "send JSON with line, unless the entries were posted, and at most 64 buffer_ids";
    SendRequest "/v1/line/send" PostedOrOpened FRAME_IN_BYTES_MAX, |it| it.line.as_deref(),
        "send JSON with line, unless the desk posts entries to the agent, request_id and action";
    SessionsRequest "/v1/line/sessions" New LINE_REQUEST_BYTES_MAX, |it| Some(&it.line),
        "send JSON with line, and sessions: the names of at most 64 live sessions";
    StoppedRequest "/v1/line/stopped" New LINE_REQUEST_BYTES_MAX, |it| Some(&it.line),
        "send JSON with line, stop_id and stopped";
    IdleRequest "/v1/line/idle" New LINE_REQUEST_BYTES_MAX, |it| Some(&it.line),
        "send JSON with line";
}

/// Returns the frames of a line as soon as there are any. Without a line, it opens one.
#[utoipa::path(
    post, path = "/v1/line/take", tag = "line", security(("agent" = []), ("access_token" = [])),
    request_body = TakeRequest,
    responses((status = 200, description = "The frames that the agent does not have yet", body = TakeResponse), Problems)
)]
async fn take(
    State(api): State<ApiState>,
    LocalRequest { caller, request }: LocalRequest<TakeRequest>,
) -> Result<Json<TakeResponse>, Problem> {
    take_frames(&api, &caller, request, Transport::Polling).await.map(Json)
}

/// Acknowledges entries of a line. The desk stores the acknowledgement within moments; one that is lost with its node is
/// repeated when the entry comes again.
#[utoipa::path(
    post, path = "/v1/line/ack", tag = "line", security(("agent" = []), ("access_token" = [])),
    request_body = AckRequest,
    responses((status = 204, description = "The acknowledgements are taken"), Problems)
)]
async fn ack(
    State(api): State<ApiState>,
    LocalRequest { caller, request }: LocalRequest<AckRequest>,
) -> Result<StatusCode, Problem> {
    ack_entries(&api, &caller, request)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Performs an action of the agent on a platform, and returns its result.
#[utoipa::path(
    post, path = "/v1/line/send", tag = "line", security(("agent" = []), ("access_token" = [])),
    request_body = SendRequest,
    responses((status = 200, description = "The result, as in an outbound_result frame", body = serde_json::Value), Problems)
)]
async fn send(
    State(api): State<ApiState>,
    LocalRequest { caller, request }: LocalRequest<SendRequest>,
) -> Result<Json<Box<RawValue>>, Problem> {
    send_action(&api, &caller, &request).await.map(Json)
}

/// Names the live sessions of the agent, in place of those that it named before. They end with the line.
#[utoipa::path(
    post, path = "/v1/line/sessions", tag = "line", security(("agent" = []), ("access_token" = [])),
    request_body = SessionsRequest,
    responses((status = 204, description = "The desk stores the sessions within moments"), Problems)
)]
async fn sessions(
    State(api): State<ApiState>,
    LocalRequest { caller, request }: LocalRequest<SessionsRequest>,
) -> Result<StatusCode, Problem> {
    let SessionsRequest { line, sessions } = request;
    let line = read_line_name(&line)?;
    let sessions = SessionNames::check(sessions);
    let sessions = sessions.map_err(|bad| problem::BAD_REQUEST.with_detail(bad.to_string()))?;
    let told = api.polled.tell(caller.gateway.agent, &line, FromGateway::Sessions(sessions));
    told.map_err(poll_problem)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reports whether an order to stop a turn stopped one.
#[utoipa::path(
    post, path = "/v1/line/stopped", tag = "line", security(("agent" = []), ("access_token" = [])),
    request_body = StoppedRequest,
    responses((status = 204, description = "The answer is taken"), Problems)
)]
async fn stopped(
    State(api): State<ApiState>,
    LocalRequest { caller, request }: LocalRequest<StoppedRequest>,
) -> Result<StatusCode, Problem> {
    report_stopped(&api, &caller, &request)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends a line whose agent sleeps. Entries that it did not acknowledge wait in the inbox.
#[utoipa::path(
    post, path = "/v1/line/idle", tag = "line", security(("agent" = []), ("access_token" = [])),
    request_body = IdleRequest,
    responses((status = 204, description = "The line ends"), Problems)
)]
async fn idle(
    State(api): State<ApiState>,
    LocalRequest { caller, request }: LocalRequest<IdleRequest>,
) -> Result<StatusCode, Problem> {
    let line = read_line_name(&request.line)?;
    api.polled.end(caller.gateway.agent, &line).map_err(poll_problem)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes frames of a line on this node, or opens a line here.
pub(crate) async fn take_frames(
    api: &ApiState,
    caller: &LineCaller,
    request: TakeRequest,
    transport: Transport,
) -> Result<TakeResponse, Problem> {
    let TakeRequest { line, wait_seconds, hellos, client } = request;
    if hellos.len() > HELLOS_MAX {
        return Err(problem::BAD_REQUEST.with_detail(TakeRequest::EXPECTED));
    }
    let wait = wait_seconds.map_or(TAKE_WAIT, Duration::from_secs).min(TAKE_WAIT_MAX);
    let agent = caller.gateway.agent;
    let (line, descriptors) = if let Some(line) = line {
        (read_line_name(&line)?, Vec::new())
    } else {
        let hellos = hellos.into_iter().map(hello).collect();
        let opening = LineOpening { caller: caller.gateway, transport, hellos, client };
        let opened = api.polled.open(opening).await.map_err(poll_problem)?;
        (opened.line, opened.frames)
    };
    let taken = api.polled.take(agent, &line, wait).await.map_err(poll_problem)?;
    Ok(take_response(taken, descriptors))
}

/// Acknowledges entries of a line on this node.
pub(crate) fn ack_entries(
    api: &ApiState,
    caller: &LineCaller,
    request: AckRequest,
) -> Result<(), Problem> {
    let AckRequest { line, buffer_ids } = request;
    if buffer_ids.len() > ACKS_PER_REQUEST_MAX {
        return Err(problem::BAD_REQUEST.with_detail(AckRequest::EXPECTED));
    }
    let agent = caller.gateway.agent;
    let taken = match line {
        Some(line) => api.polled.ack(agent, &read_line_name(&line)?, buffer_ids),
        None => api.posted.ack(agent, buffer_ids),
    };
    taken.map_err(poll_problem)
}

/// Performs an action on a line of this node, and returns its result.
pub(crate) async fn send_action(
    api: &ApiState,
    caller: &LineCaller,
    request: &SendRequest,
) -> Result<Box<RawValue>, Problem> {
    let outbound = read_outbound(request)
        .ok_or_else(|| problem::BAD_REQUEST.with_detail(SendRequest::EXPECTED))?;
    let agent = caller.gateway.agent;
    let sent = match &request.line {
        Some(line) => api.polled.send(agent, &read_line_name(line)?, outbound).await,
        None => api.posted.send(agent, outbound).await,
    };
    let frame = sent.map_err(poll_problem)?;
    let is_unrecorded = frame.outcome().is_none_or(|outcome| outcome.is_unrecorded());
    frame.result().filter(|_| !is_unrecorded).ok_or_else(|| {
        problem::UNAVAILABLE.with_detail("repeat the request with the same request_id")
    })
}

/// Passes the answer to a stop to a line of this node.
pub(crate) fn report_stopped(
    api: &ApiState,
    caller: &LineCaller,
    request: &StoppedRequest,
) -> Result<(), Problem> {
    let StoppedRequest { line, stop_id, stopped } = request;
    let stop_id = StopId::new(stop_id.as_str())
        .ok_or_else(|| problem::BAD_REQUEST.with_detail(StoppedRequest::EXPECTED))?;
    let answer = InterruptResult { stop_id, stopped: *stopped };
    let (agent, line) = (caller.gateway.agent, read_line_name(line)?);
    api.polled.tell(agent, &line, FromGateway::InterruptResult(answer)).map_err(poll_problem)
}

fn read_outbound(request: &SendRequest) -> Option<Outbound> {
    let SendRequest { line: _, request_id, platform, bot_id, action } = request;
    Outbound::from_fields(&OutboundFields {
        request_id,
        action,
        platform: platform.as_deref(),
        bot_handle: bot_id.as_deref(),
    })
}

fn hello(hello: LineHello) -> Hello {
    let LineHello { platform, bot_id } = hello;
    Hello {
        platform: platform.trim().to_ascii_lowercase(),
        bot_handle: bot_id,
        commands: None,
        client: None,
    }
}

fn take_response(taken: TakenFrames, descriptors: Vec<Frame>) -> TakeResponse {
    let raw = |frames: Vec<Frame>| frames.into_iter().filter_map(raw_frame).collect();
    TakeResponse {
        line: taken.line.to_string(),
        descriptors: raw(descriptors),
        frames: raw(taken.frames),
    }
}

fn raw_frame(frame: Frame) -> Option<Box<RawValue>> {
    RawValue::from_string(frame.into_string().trim_end().to_owned()).ok()
}

fn read_line_name(text: &str) -> Result<LineName, Problem> {
    text.parse().map_err(|_| {
        problem::BAD_REQUEST
            .with_detail("line is no name of a line; take without a line to open one")
    })
}

/// The problem of a request that its line did not take.
pub(crate) fn poll_problem(error: PollError) -> Problem {
    match error {
        PollError::Gone(Some(Close::Revoked)) => {
            problem::REVOKED.with_detail("the gateway was revoked; ask the operator for another")
        }
        PollError::Gone(Some(Close::TryLater)) | PollError::Unavailable => {
            problem::UNAVAILABLE.with_detail("the line could not be opened now; retry")
        }
        PollError::Gone(close) => problem::LINE_GONE.with_detail(format!(
            "{}; take without a line to open a new one, on which unacknowledged entries come again",
            close.map_or("the line ended, or another node held it", Close::reason)
        )),
        PollError::Busy => {
            problem::TOO_MANY.with_detail("too many requests wait for the line; send fewer at once")
        }
        PollError::TimedOut => problem::UNAVAILABLE
            .with_detail("the send did not end in time; repeat it with the same request_id"),
    }
}
