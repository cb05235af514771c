//! Builds Discord's error responses.

use serde_json::{Value, json};

/// A status, and a body with Discord's own code and a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Refusal {
    pub(crate) fn of(status: u16, code: u32, message: &str) -> Self {
        Self { status, body: json!({ "code": code, "message": message }) }
    }

    pub(crate) fn unauthorized() -> Self {
        Self::of(401, 0, "401: Unauthorized")
    }

    pub(crate) fn not_found() -> Self {
        Self::of(404, 0, "404: Not Found")
    }

    pub(crate) fn unknown_message() -> Self {
        Self::of(404, 10_008, "Unknown Message")
    }

    /// Returns the refusal of a body with an invalid field.
    pub(crate) fn form(field: &str, code: &str, message: &str) -> Self {
        let mut refusal = Self::of(400, 50_035, "Invalid Form Body");
        let errors = json!([{ "code": code, "message": message }]);
        refusal.body["errors"] = json!({ field: { "_errors": errors } });
        refusal
    }

    /// Returns the refusal of a text that is too long.
    pub(crate) fn too_long(field: &str, max: usize) -> Self {
        let message = format!("Must be {max} or fewer in length.");
        Self::form(field, "BASE_TYPE_MAX_LENGTH", &message)
    }

    /// Returns the refusal of too many calls.
    pub(crate) fn too_many(retry_after: f64, global: bool) -> Self {
        let message = "You are being rate limited.";
        let body = json!({ "message": message, "retry_after": retry_after, "global": global });
        Self { status: 429, body }
    }
}
