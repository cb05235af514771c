//! Z10: the keys of both client generations equal those of a second implementation, which follows the clients' code
//! over loose JSON values.

use nightdesk_protocol::session_key::{
    KeySource, SESSION_KEY_BYTES_MAX, SessionKey, Sharing, newest_key, stock_key,
};
use serde::Deserialize;
use serde_json::Value;

/// The platforms that the clients know.
const CLIENT_PLATFORMS: &str = "local telegram discord whatsapp whatsapp_cloud slack signal \
    mattermost matrix homeassistant email sms dingtalk api_server webhook msgraph_webhook feishu \
    wecom wecom_callback weixin bluebubbles qqbot yuanbao relay google_chat irc line ntfy photon \
    raft simplex teams";

/// The input has the form of a golden vector: a source and options.
pub(super) fn run(data: &[u8]) {
    let Ok(case) = serde_json::from_slice::<Value>(data) else { return };
    if !case["source"].is_object() {
        return;
    }
    let source = KeySource::deserialize(&case["source"]).expect("any object is a source");
    let flag = |name: &str| case["options"][name].as_bool();
    let sharing = Sharing {
        group_sessions_per_user: flag("group_sessions_per_user").unwrap_or(true),
        thread_sessions_per_user: flag("thread_sessions_per_user").unwrap_or(false),
        profile: case["options"]["profile"].as_str().map(str::to_owned),
    };
    let stock = stock_key(&source, &sharing).ok();
    compare(stock.as_ref(), ReferenceClient::Stock, &case["source"], &sharing);
    let newest = newest_key(&source, &sharing).ok();
    compare(newest.as_ref(), ReferenceClient::Newest, &case["source"], &sharing);
}

fn compare(ours: Option<&SessionKey>, client: ReferenceClient, source: &Value, sharing: &Sharing) {
    let theirs = client.key(source, sharing).ok();
    let fits = |key: &String| key.len() <= SESSION_KEY_BYTES_MAX && !key.contains('\0');
    assert_eq!(ours.map(SessionKey::as_str), theirs.filter(fits).as_deref(), "{client:?} {source}");
}

/// The client raises an exception.
struct ClientRaises;

/// A generation of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReferenceClient {
    Stock,
    Newest,
}

impl ReferenceClient {
    fn key(self, source: &Value, sharing: &Sharing) -> Result<String, ClientRaises> {
        let platform = platform_of(&source["platform"]);
        let kind = source.get("chat_type").cloned().unwrap_or_else(|| Value::from("dm"));
        let mut parts = vec!["agent".to_owned(), self.namespace(sharing), platform.clone()];
        if kind == "dm" {
            parts.push("dm".to_owned());
            parts.extend(self.scope(source, &platform)?);
            let chat = match text_of(&source["chat_id"])? {
                Some(chat) if platform == "whatsapp" => Some(whatsapp_number(&chat)?),
                chat => chat,
            };
            let chat = chat.filter(|chat| !chat.is_empty());
            parts.extend(match chat {
                None => participant(source, &platform)?,
                chat => chat,
            });
            parts.extend(text_of(&source["thread_id"])?);
            return Ok(parts.join(":"));
        }
        let opens = self == Self::Newest
            && !is_true(&source["thread_id"])
            && is_true(&source["prospective_thread_id"]);
        parts.push(self.kind(&kind, opens)?);
        parts.extend(self.scope(source, &platform)?);
        let thread = if opens { &source["prospective_thread_id"] } else { &source["thread_id"] };
        let thread = self.shared_part(thread)?;
        parts.extend(self.shared_part(&source["chat_id"])?);
        let is_apart = sharing.group_sessions_per_user
            && (thread.is_none() || sharing.thread_sessions_per_user);
        parts.extend(thread);
        parts.extend(participant(source, &platform)?.filter(|_| is_apart));
        Ok(parts.join(":"))
    }

    fn namespace(self, sharing: &Sharing) -> String {
        match (self, sharing.profile.as_deref().unwrap_or("")) {
            (_, "" | "default") => "main".to_owned(),
            (Self::Newest, "main") => "main~".to_owned(),
            (_, profile) => profile.to_owned(),
        }
    }

    fn scope(self, source: &Value, platform: &str) -> Result<Option<String>, ClientRaises> {
        let has_scope = self == Self::Newest && platform == "slack";
        if has_scope { text_of(&source["scope_id"]) } else { Ok(None) }
    }

    fn kind(self, kind: &Value, opens_thread: bool) -> Result<String, ClientRaises> {
        match (self, kind) {
            (_, _) if opens_thread => Ok("thread".to_owned()),
            (_, Value::String(kind)) => Ok(kind.clone()),
            (Self::Newest, Value::Null) => Ok("None".to_owned()),
            (Self::Newest, kind) if is_true(kind) => text_of(kind)?.ok_or(ClientRaises),
            (Self::Stock | Self::Newest, _) => Err(ClientRaises),
        }
    }

    /// Returns a part of a shared chat's key. The stock client joins it as it is, which fails for a number.
    fn shared_part(self, part: &Value) -> Result<Option<String>, ClientRaises> {
        let is_joined_raw = self == Self::Stock && !part.is_string() && is_true(part);
        if is_joined_raw { Err(ClientRaises) } else { text_of(part) }
    }
}

fn platform_of(platform: &Value) -> String {
    let name = strip(platform.as_str().unwrap_or_default()).to_lowercase();
    let known = CLIENT_PLATFORMS.split_whitespace().find(|known| *known == name);
    known.unwrap_or("relay").to_owned()
}

/// Python's truth of a value.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// The text of a true value. The desk does not follow the clients' texts of lists, objects, truths and fractions.
fn text_of(value: &Value) -> Result<Option<String>, ClientRaises> {
    match value {
        value if !is_true(value) => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Number(number) if !number.is_f64() => Ok(Some(number.to_string())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(ClientRaises)
        }
    }
}

fn participant(source: &Value, platform: &str) -> Result<Option<String>, ClientRaises> {
    let alt = &source["user_id_alt"];
    let user = text_of(if is_true(alt) { alt } else { &source["user_id"] })?;
    match user {
        Some(user) if platform == "whatsapp" => {
            let number = whatsapp_number(&user)?;
            Ok(Some(if number.is_empty() { user } else { number }))
        }
        user => Ok(user),
    }
}

fn whatsapp_number(address: &str) -> Result<String, ClientRaises> {
    let first = normalise_whatsapp(address);
    if first.is_empty() {
        return Ok(first);
    }
    let second = normalise_whatsapp(&first);
    let checked = second.strip_suffix('\n').unwrap_or(&second);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "@.+-".contains(letter);
    if !checked.is_empty() && checked.chars().all(is_plain) {
        Ok(second)
    } else {
        Err(ClientRaises)
    }
}

fn normalise_whatsapp(address: &str) -> String {
    let address = strip(address).replacen('+', "", 1);
    let before_device = address.split(':').next().unwrap_or_default();
    before_device.split('@').next().unwrap_or_default().to_owned()
}

fn strip(text: &str) -> &str {
    let is_space = |letter: char| letter.is_whitespace() || matches!(letter, '\u{1c}'..='\u{1f}');
    text.trim_start_matches(is_space).trim_end_matches(is_space)
}
