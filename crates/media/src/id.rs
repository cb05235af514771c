//! Ids of files.

use std::fmt;

use aws_lc_rs::rand;
use uuid::Uuid;

/// The path of files, on any desk.
const PATH: &str = "/relay/media/";

/// The id of a file: 128 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MediaId(Uuid);

impl MediaId {
    /// Creates a new random id.
    #[expect(clippy::expect_used, reason = "without random bits nothing here is safe")]
    pub(crate) fn new() -> Self {
        let mut bits = [0; 16];
        rand::fill(&mut bits).expect("the system gives random bits");
        Self(Uuid::from_bytes(bits))
    }

    /// Parses an id: 32 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        is_plain.then(|| Uuid::try_parse(text).ok().map(Self)).flatten()
    }

    /// Returns the id at the end of a desk's URL.
    pub fn from_url(url: &str) -> Option<Self> {
        let (_, id) = url.rsplit_once(PATH)?;
        Self::parse(id)
    }

    /// Returns the file's URL on the desk at this address.
    pub fn url(self, desk: &str) -> String {
        format!("{}{PATH}{self}", desk.trim_end_matches('/'))
    }

    /// Returns the id of a row.
    pub const fn from_uuid(id: Uuid) -> Self {
        Self(id)
    }

    /// Returns the id as a row has it.
    pub const fn uuid(self) -> Uuid {
        self.0
    }
}

impl fmt::Display for MediaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_simple().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_back_from_its_url() {
        let id = MediaId::new();

        for desk in
            ["https://desk.example.org", "https://desk.example.org/", "http://10.0.0.1:8800"]
        {
            assert_eq!(MediaId::from_url(&id.url(desk)), Some(id), "{desk}");
        }
        assert_ne!(id, MediaId::new());
    }

    #[test]
    fn what_is_no_name_leads_nowhere() {
        let id = MediaId::new().to_string();
        let odd = [
            String::new(),
            format!("{id}0"),
            format!("../{}", &id[3..]),
            format!("{{{}}}", &id[2..]),
            id.replace(|c: char| c.is_ascii_digit(), "é"),
            format!("https://elsewhere/media/{id}"),
        ];

        for text in odd {
            assert_eq!(MediaId::parse(&text), None, "{text}");
            assert_eq!(MediaId::from_url(&text), None, "{text}");
        }
    }
}
