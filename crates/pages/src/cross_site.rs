//! Detects posts that a page of another site makes in a person's name.

use axum::http::{HeaderMap, HeaderName, header};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// True if a page of another site made the request. Every browser names the origin of a post; a client that names none is
/// not a browser, and has no cookie of another person.
pub fn is_cross_site(headers: &HeaderMap, public_url: &str) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text(SEC_FETCH_SITE) {
        return site != "same-origin";
    }
    let Some(origin) = text(header::ORIGIN) else { return false };
    let here = text(header::HOST).unwrap_or("?");
    let is_here = origin.split_once("://").is_some_and(|(_, host)| host == here);
    !is_here && origin != public_url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(headers: &[(HeaderName, &'static str)]) -> bool {
        let given = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        let mut headers: HeaderMap = given.collect();
        headers.insert(header::HOST, "127.0.0.1:8800".parse().unwrap());
        is_cross_site(&headers, "https://desk.example.org")
    }

    #[test]
    fn a_post_of_another_site_is_refused() {
        let cases = [
            ("our page", vec![(SEC_FETCH_SITE, "same-origin")], false),
            ("another site", vec![(SEC_FETCH_SITE, "cross-site")], true),
            ("a neighbour", vec![(SEC_FETCH_SITE, "same-site")], true),
            ("a bookmark that posts", vec![(SEC_FETCH_SITE, "none")], true),
            ("not a browser", vec![], false),
            ("an old browser on our page", vec![(header::ORIGIN, "http://127.0.0.1:8800")], false),
            ("behind a proxy", vec![(header::ORIGIN, "https://desk.example.org")], false),
            ("an old browser elsewhere", vec![(header::ORIGIN, "https://evil.test")], true),
            ("one that hides it", vec![(header::ORIGIN, "null")], true),
            ("a name like ours", vec![(header::ORIGIN, "https://127.0.0.1:8800.evil.test")], true),
            (
                "both, and they differ",
                vec![(SEC_FETCH_SITE, "cross-site"), (header::ORIGIN, "http://127.0.0.1:8800")],
                true,
            ),
        ];
        for (name, headers, want) in cases {
            assert_eq!(refused(&headers), want, "{name}");
        }
    }
}
