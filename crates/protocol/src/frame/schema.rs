//! JSON Schemas of the frames, made of the types that encode them. `just gen` writes them to `docs/frames.schema.json`.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::Value;

use super::from_gateway::{AckFrame, OutboundFrame, SessionsFrame};
use super::to_gateway::{DescriptorFrame, InterruptInboundFrame, OutboundResultFrame};
use super::{Interrupt, InterruptResult};
use crate::event::{MessageFrame, PassthroughFrame};
use crate::hello::Hello;

/// Returns the schemas of all frames in one document: `ToGateway` and `FromGateway` accept every frame of a direction.
pub fn schemas() -> Value {
    let settings = SchemaSettings::draft2020_12();
    // Both directions describe what is sent. The desk reads more forms than these.
    let mut sent = settings.clone().for_serialize().into_generator();
    let mut read = settings.for_deserialize().into_generator();
    let to_gateway = to_gateway(&mut sent);
    let from_gateway = from_gateway(&mut read);
    let mut definitions = sent.take_definitions(true);
    definitions.extend(read.take_definitions(true));
    definitions.insert("ToGateway".to_owned(), to_gateway.into());
    definitions.insert("FromGateway".to_owned(), from_gateway.into());
    json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Frames of the line",
        "description": "A reader ignores fields and frames that it does not know.",
        "anyOf": [{ "$ref": "#/$defs/ToGateway" }, { "$ref": "#/$defs/FromGateway" }],
        "$defs": definitions,
    })
    .into()
}

fn to_gateway(generator: &mut SchemaGenerator) -> Schema {
    one_of(&[
        frame::<DescriptorFrame<'_>>(generator),
        entry::<MessageFrame<'_>>(generator),
        entry::<PassthroughFrame<'_>>(generator),
        frame::<OutboundResultFrame<'_>>(generator),
        frame::<InterruptInboundFrame<'_>>(generator),
        has_tag("type", "going_idle_ack"),
    ])
}

fn from_gateway(generator: &mut SchemaGenerator) -> Schema {
    one_of(&[
        frame::<Hello>(generator),
        frame::<AckFrame<'_>>(generator),
        frame::<OutboundFrame<'_>>(generator),
        frame::<Interrupt>(generator),
        frame::<InterruptResult>(generator),
        frame::<SessionsFrame<'_>>(generator),
        has_tag("type", "going_idle"),
    ])
}

fn one_of(frames: &[Schema]) -> Schema {
    json_schema!({ "oneOf": frames })
}

fn frame<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    tagged::<T>("type", generator)
}

/// Returns the schema of an entry's frame. The id is no field of the type: the desk inserts it into stored bytes.
fn entry<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let id = json_schema!({
        "type": "object",
        "properties": {
            "bufferId": { "type": "string", "description": "The id for the ack." },
        },
    });
    json_schema!({ "allOf": [frame::<T>(generator), id] })
}

/// Returns the schema of a struct that serde tags with its name. schemars leaves out the tag of a struct.
pub(crate) fn tagged<T: JsonSchema>(tag: &str, generator: &mut SchemaGenerator) -> Schema {
    let tag = has_tag(tag, &T::schema_name());
    json_schema!({ "allOf": [generator.subschema_for::<T>(), tag] })
}

fn has_tag(tag: &str, name: &str) -> Schema {
    json_schema!({
        "type": "object",
        "properties": { tag: { "const": name } },
        "required": [tag],
    })
}
