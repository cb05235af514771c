//! Response headers of a file. People and platforms choose file names, so no name may become another header or a path.

const ANYTHING: &str = "application/octet-stream";

/// Returns the media type, if it has the usual form.
pub fn mime(mime: Option<&str>) -> &str {
    let is_token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
    };
    let essence = mime.map(|mime| mime.split(';').next().unwrap_or_default().trim());
    let essence = essence.filter(|essence| {
        essence.split_once('/').is_some_and(|(kind, sub)| is_token(kind) && is_token(sub))
    });
    essence.unwrap_or(ANYTHING)
}

/// Returns the content disposition with the last part of the name, once in plain ASCII and once encoded.
pub fn disposition(filename: Option<&str>) -> String {
    let name = filename.map(last_part).filter(|name| !name.is_empty());
    let Some(name) = name else { return "attachment".to_owned() };
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_graphic() && !"\"\\%;".contains(c) { c } else { '_' })
        .collect();
    let whole: String = name.bytes().map(encode_byte).collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{whole}")
}

/// Returns the part after the last separator, without control characters and leading dots, so that it is neither a path
/// nor a hidden file.
fn last_part(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let seen: String = last.chars().filter(|c| !c.is_control()).collect();
    seen.trim().trim_start_matches('.').to_owned()
}

/// Encodes a byte as in RFC 5987.
fn encode_byte(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        return char::from(byte).to_string();
    }
    format!("%{byte:02X}")
}

#[cfg(test)]
mod tests;
