//! Stores files under a path, with URLs that expire.

use aws_lc_rs::digest::{SHA256, digest};
use bytes::Bytes;
use serde_json::{Value, json};

use super::World;

impl World {
    /// Stores a file. Returns its attachment object.
    pub(crate) fn keep_file(
        &mut self,
        channel: u64,
        name: &str,
        kind: &str,
        bytes: Bytes,
    ) -> Value {
        let id = self.new_id();
        let path = format!("/attachments/{channel}/{id}/{name}");
        let url = self.address_of(&path);
        let size = bytes.len();
        self.files.insert(path, (kind.to_owned(), bytes));
        json!({
            "id": id.to_string(), "filename": name, "content_type": kind, "size": size,
            "url": url, "proxy_url": url,
        })
    }

    /// Returns a new URL of a file.
    fn address_of(&self, path: &str) -> String {
        let until = self.wall().as_second().unsigned_abs() + self.settings.link_life.as_secs();
        let until = format!("{until:x}");
        format!("{}{path}?ex={until}&is=0&hm={}", self.url, mark(path, &until))
    }

    /// Returns true if a URL is still valid.
    pub(crate) fn is_good(&self, path: &str, until: &str, shown: &str) -> bool {
        let now = self.wall().as_second().unsigned_abs();
        let is_over = u64::from_str_radix(until, 16).is_ok_and(|until| now > until);
        !is_over && mark(path, until) == shown
    }

    /// Returns a message with new URLs for its files.
    pub(crate) fn told_now(&self, message: &Value) -> Value {
        let mut message = message.clone();
        for file in message["attachments"].as_array_mut().into_iter().flatten() {
            let Some(url) = file["url"].as_str() else { continue };
            let path = url.strip_prefix(&self.url).and_then(|path| path.split('?').next());
            let url = self.address_of(path.unwrap_or_default());
            (file["url"], file["proxy_url"]) = (json!(url), json!(url));
        }
        message
    }
}

fn mark(path: &str, until: &str) -> String {
    hex::encode(digest(&SHA256, format!("{path} {until}").as_bytes()))
}
