//! Ids on pages: the style sheet shows their beginning, and a copy has the whole.

use std::fmt::Display;

use askama::filters::{Html, escape};

/// The length of an id with its hyphens, and their places in it.
const ID_CHARS: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// Returns a text, escaped, with each id in an element of its own.
pub(crate) fn mark_ids(text: &(impl Display + ?Sized)) -> String {
    let text = text.to_string();
    let (mut html, mut rest) = (String::new(), text.as_str());
    while let Some(at) = find_id(rest) {
        let (plain, id) = rest.split_at(at);
        let (id, after) = id.split_at(ID_CHARS);
        html += &escaped(plain);
        html.extend(["<span class=\"id\" title=\"", id, "\">", id, "</span>"]);
        rest = after;
    }
    html + &escaped(rest)
}

fn find_id(text: &str) -> Option<usize> {
    let starts = text.char_indices().map(|(at, _)| at);
    starts.into_iter().find(|at| text.get(*at..*at + ID_CHARS).is_some_and(is_id))
}

fn is_id(word: &str) -> bool {
    let is_right = |(at, letter): (usize, char)| {
        if HYPHENS.contains(&at) { letter == '-' } else { letter.is_ascii_hexdigit() }
    };
    word.char_indices().all(is_right)
}

fn escaped(text: &str) -> String {
    escape(text, Html).map_or_else(|never| match never {}, |text| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_marked_and_all_else_is_escaped() {
        let id = "0193a1b2-0000-7000-8000-0123456789ab";
        let marked = format!("<span class=\"id\" title=\"{id}\">{id}</span>");
        let cases = [
            ("operator".to_owned(), "operator".to_owned()),
            (id.to_owned(), marked.clone()),
            (format!("token:{id}"), format!("token:{marked}")),
            (format!("é{id} of {id}."), format!("é{marked} of {marked}.")),
            ("<b>".to_owned(), "&#60;b&#62;".to_owned()),
            (String::new(), String::new()),
        ];
        for (text, want) in cases {
            assert_eq!(mark_ids(&text), want, "{text}");
        }
    }
}
