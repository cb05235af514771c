//! File head: what is said of a file in the head of an answer. People and platforms name files; none of it may
//! become another header, or a path.

const ANYTHING: &str = "application/octet-stream";

/// What a file is, if it was said in the usual form.
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

/// What a file is called: the last part of what was said, once in plain letters and once as it is.
pub fn disposition(filename: Option<&str>) -> String {
    let name = filename.map(last_part).filter(|name| !name.is_empty());
    let Some(name) = name else { return "attachment".to_owned() };
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_graphic() && !"\"\\%;".contains(c) { c } else { '_' })
        .collect();
    let whole: String = name.bytes().map(encoded).collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{whole}")
}

/// What stands behind every separator, without what nobody can see and without dots in front: it is no
/// path, and no hidden file.
fn last_part(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let seen: String = last.chars().filter(|c| !c.is_control()).collect();
    seen.trim().trim_start_matches('.').to_owned()
}

/// A byte as RFC 5987 has it.
fn encoded(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        return char::from(byte).to_string();
    }
    format!("%{byte:02X}")
}

#[cfg(test)]
mod tests;
