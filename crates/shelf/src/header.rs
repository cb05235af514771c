//! Parses the header lines of a skill.
//!
//! A header line is `# Key: value`. The header ends with the first line that is neither empty nor begins with `#`;
//! later lines of the same form do not count.

use nightdesk_types::limits::{SKILL_HEADER_LINES_MAX, SKILL_HEADER_VALUES_MAX};

use crate::lines::{TextLine, lines};
use crate::skill::{SkillStatus, SkillType};

/// The content of a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The skill's own name. Its name in the store may differ.
    pub skill: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The tags.
    pub tags: Vec<String>,
    /// The parameters.
    pub vars: Vec<VarDeclared>,
    /// The return values.
    pub returns: Vec<String>,
    /// The requirements.
    pub requires: Vec<String>,
    /// The triggers.
    pub triggers: Vec<TriggerDeclared>,
    /// The targets of the output.
    pub outputs: Vec<OutputDeclared>,
    /// The type of skill.
    pub kind: Option<SkillType>,
    /// The first status line. Only this one counts.
    pub status: Option<StatusLine>,
}

/// A parameter of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarDeclared {
    /// The name.
    pub name: String,
    /// The default value.
    pub default: Option<String>,
}

/// A trigger of a skill: `cron: 0 3 * * *`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerDeclared {
    /// The kind.
    pub source: String,
    /// The time or the event.
    pub name: String,
}

/// A target of a skill's output: `agent: perry`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputDeclared {
    /// The kind.
    pub kind: String,
    /// The address.
    pub target: Option<String>,
}

/// A status line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLine {
    /// The status, if it is a valid one.
    pub status: Option<SkillStatus>,
    /// The signature after the status.
    pub proof: Option<String>,
    /// Offset and length of the line.
    at: (usize, usize),
}

impl Header {
    /// Parses the header of a skill.
    pub fn parse(source: &str) -> Self {
        let mut header = Self::default();
        let of_header =
            |line: &TextLine<'_>| line.text.starts_with('#') || line.text.trim().is_empty();
        for line in lines(source).take(SKILL_HEADER_LINES_MAX).take_while(of_header) {
            header.read(line);
        }
        header
    }

    /// Returns the status in the bytes. Without a status line it is `SkillDraft`.
    pub fn declared_status(&self) -> SkillStatus {
        self.status.as_ref().and_then(|line| line.status).unwrap_or(SkillStatus::Draft)
    }

    fn read(&mut self, line: TextLine<'_>) {
        let said = line.text.strip_prefix('#').and_then(|text| text.trim_start().split_once(':'));
        let Some((key, value)) = said else {
            return;
        };
        let value = value.trim();
        // Only this key is case-sensitive, so that no other spelling can approve a skill.
        if key == "Status" {
            self.status.get_or_insert_with(|| status_line(line, value));
            return;
        }
        match key.to_ascii_lowercase().as_str() {
            "skill" => keep_first(&mut self.skill, value),
            "description" => keep_first(&mut self.description, value),
            "type" => self.kind = self.kind.or_else(|| kind_of(value)),
            "tags" => extend(&mut self.tags, split_list(value)),
            "returns" => extend(&mut self.returns, split_list(value)),
            "requires" => extend(&mut self.requires, split_list(value)),
            "vars" => extend(&mut self.vars, split_list(value).map(|text| var_of(&text))),
            "triggers" => extend(&mut self.triggers, trigger_of(value)),
            "output" => extend(&mut self.outputs, output_of(value)),
            _ => {}
        }
    }
}

/// Returns the bytes with another status. A signature remains only with an approval.
pub fn with_status(source: &str, status: SkillStatus) -> String {
    let proof = Header::parse(source).status.and_then(|line| line.proof);
    match proof.filter(|_| status == SkillStatus::Approved) {
        Some(proof) => with_proof(source, &proof),
        None => with_line(source, &format!("# Status: {status}")),
    }
}

/// Returns the bytes with an approved status and this signature.
pub(crate) fn with_proof(source: &str, proof: &str) -> String {
    with_line(source, &format!("# Status: {} {proof}", SkillStatus::Approved))
}

/// Returns the bytes with another status line in place of the one that counts.
fn with_line(source: &str, said: &str) -> String {
    let Some(StatusLine { at: (at, bytes), .. }) = Header::parse(source).status else {
        return format!("{said}{}{source}", end_of_lines(source));
    };
    [&source[..at], said, &source[at + bytes..]].concat()
}

fn end_of_lines(source: &str) -> &'static str {
    match source.find('\n') {
        Some(at) if source[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn status_line(line: TextLine<'_>, value: &str) -> StatusLine {
    let (word, proof) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    let proof = Some(proof.trim()).filter(|proof| !proof.is_empty());
    StatusLine {
        status: SkillStatus::from_header(word),
        proof: proof.map(ToOwned::to_owned),
        at: (line.at, line.text.len()),
    }
}

fn keep_first(place: &mut Option<String>, value: &str) {
    if !value.is_empty() {
        place.get_or_insert_with(|| value.to_owned());
    }
}

fn extend<T>(list: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    let room = SKILL_HEADER_VALUES_MAX.saturating_sub(list.len());
    list.extend(more.into_iter().take(room));
}

/// Splits at commas that are outside quotes and brackets.
fn split_list(value: &str) -> impl Iterator<Item = String> {
    let (mut parts, mut depth, mut quoted) = (vec![String::new()], 0_u32, false);
    for c in value.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' | '(' if !quoted => depth += 1,
            ']' | '}' | ')' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ',' && depth == 0 && !quoted {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty())
}

fn var_of(text: &str) -> VarDeclared {
    let (name, default) = text.split_once('=').map_or((text, None), |(n, d)| (n, Some(d)));
    VarDeclared { name: name.trim().to_owned(), default: default.map(|d| d.trim().to_owned()) }
}

fn trigger_of(value: &str) -> Option<TriggerDeclared> {
    let (source, name) = value.split_once(':')?;
    Some(TriggerDeclared { source: source.trim().to_owned(), name: name.trim().to_owned() })
}

fn output_of(value: &str) -> Option<OutputDeclared> {
    let (kind, target) = value.split_once(':').map_or((value, None), |(k, t)| (k, Some(t.trim())));
    let target = target.filter(|target| !target.is_empty()).map(ToOwned::to_owned);
    (!kind.trim().is_empty()).then(|| OutputDeclared { kind: kind.trim().to_owned(), target })
}

fn kind_of(value: &str) -> Option<SkillType> {
    match value.to_ascii_lowercase().as_str() {
        "procedural" => Some(SkillType::Procedural),
        "data" => Some(SkillType::Data),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
