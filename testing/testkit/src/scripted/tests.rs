//! Tests the promises of the scripted platform.

use nightdesk_types::event::{ChatType, Content, Draft, MessageKind};
use nightdesk_types::{BotId, TenantId, TenantScope};
use nightdesk_vault::Key;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;

mod capabilities;
mod deliver;
mod logs;
mod receive;

const KEY: &str = "k3y";

fn bot(settings: Value) -> Bot {
    Bot {
        id: BotId::from_uuid(Uuid::from_u128(1)),
        operator: TenantScope::for_tenant(TenantId::from_uuid(Uuid::from_u128(2))),
        platform: "discord".to_owned(),
        handle: "desk-bot".to_owned(),
        settings,
        key: Some(Key::new(KEY.to_owned())),
        former_keys: Vec::new(),
    }
}

/// Returns the result of a body with this signature.
fn received(
    body: &[u8],
    signature: &str,
) -> Result<Vec<Result<Draft, ReceiveError>>, ReceiveError> {
    let headers = [(SIGNATURE_HEADER.parse().unwrap(), signature.parse().unwrap())];
    let headers = headers.into_iter().collect();
    let request = SignedRequest::post(&headers, body);
    match Scripted::new().unwrap().receive(&bot(json!({})), &request)? {
        RequestContent::Events(events) => Ok(events),
        RequestContent::Bearing(event, _) => Ok(vec![Ok(*event)]),
        RequestContent::Challenge(_) => panic!("the scripted platform asks nothing"),
    }
}

/// Returns the result of a body with a valid signature.
fn said(body: &Value) -> Result<Vec<Result<Draft, ReceiveError>>, ReceiveError> {
    let body = body.to_string();
    received(body.as_bytes(), &sign(KEY, body.as_bytes()))
}
