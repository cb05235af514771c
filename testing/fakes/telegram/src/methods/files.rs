//! Implements files: sent by id, by URL, or as bytes; and downloaded.

use serde_json::{Value, json};

use super::{Answered, bad, begun, shown};
use crate::request::Asked;
use crate::world::World;

const CAPTION_UTF16_MAX: usize = 1_024;

pub(super) fn send(world: &mut World, token: &str, asked: &Asked, kind: &str) -> Answered {
    let mut message = begun(world, token, asked)?;
    let file =
        asked.0.get(kind).ok_or_else(|| bad(&format!("there is no {kind} in the request")))?;
    let id = match file.as_str() {
        Some(address) if address.starts_with("http") && !address.contains("://files.test/") => {
            return Err(bad("failed to get HTTP URL content"));
        }
        Some(file) => file.rsplit('/').next().unwrap_or(file).to_owned(),
        None => file["file_name"].as_str().unwrap_or("file").to_owned(),
    };
    let file = json!({
        "file_id": id, "file_unique_id": id, "file_size": 7, "width": 1, "height": 1, "duration": 1,
    });
    let sizes = if kind == "photo" { json!([file]) } else { file };
    message.insert(kind.to_owned(), sizes);
    let caption = shown(asked, "caption", CAPTION_UTF16_MAX)?;
    if !caption.is_empty() {
        message.insert("caption".to_owned(), json!(caption));
    }
    Ok(world.keep(Value::Object(message)))
}

pub(super) fn find(asked: &Asked) -> Answered {
    let id = asked.text("file_id").filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| bad("invalid file_id"))?;
    Ok(json!({
        "file_id": id, "file_unique_id": id, "file_size": content(id).len(),
        "file_path": format!("files/{id}"),
    }))
}

/// Returns the content of a file.
pub(crate) fn content(id: &str) -> String {
    format!("what is in {id}")
}
