//! Id: what a file is called here.

use std::fmt;

use aws_lc_rs::rand;
use uuid::Uuid;

/// Where files are asked for, on any desk.
const PATH: &str = "/relay/media/";

/// The name of a file: 128 random bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MediaId(Uuid);

impl MediaId {
    /// A name that no file has.
    #[expect(clippy::expect_used, reason = "without random bits nothing here is safe")]
    pub(crate) fn new() -> Self {
        let mut bits = [0; 16];
        rand::fill(&mut bits).expect("the system gives random bits");
        Self(Uuid::from_bytes(bits))
    }

    /// The name that is written so: 32 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        is_plain.then(|| Uuid::try_parse(text).ok().map(Self)).flatten()
    }

    /// The name at the end of a URL of a desk.
    pub fn of_url(url: &str) -> Option<Self> {
        let (_, id) = url.rsplit_once(PATH)?;
        Self::parse(id)
    }

    /// Where it is asked for, on the desk that is reached there.
    pub fn url(self, desk: &str) -> String {
        format!("{}{PATH}{self}", desk.trim_end_matches('/'))
    }

    /// The name of a row.
    pub const fn from_uuid(id: Uuid) -> Self {
        Self(id)
    }

    /// The same, as a row has it.
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
            assert_eq!(MediaId::of_url(&id.url(desk)), Some(id), "{desk}");
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
            assert_eq!(MediaId::of_url(&text), None, "{text}");
        }
    }
}
