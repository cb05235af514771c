//! The cookies of the pages.

use axum::http::{HeaderMap, HeaderValue, header};

/// A cookie of the pages. Scripts cannot read it, and other sites cannot send it with a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageCookie {
    /// The session.
    Session,
    /// A login at a provider that is under way.
    Login,
}

impl PageCookie {
    /// Returns the name. Over TLS, its prefix makes browsers accept the cookie from this host only.
    const fn name(self, is_secure: bool) -> &'static str {
        match (self, is_secure) {
            (Self::Session, true) => "__Host-nightdesk",
            (Self::Session, false) => "nightdesk",
            (Self::Login, true) => "__Host-nightdesk-login",
            (Self::Login, false) => "nightdesk-login",
        }
    }

    /// Returns the header that sets the cookie until the browser ends.
    pub(crate) fn set(self, value: &str, public_url: &str) -> Option<HeaderValue> {
        self.header(value, "", public_url)
    }

    /// Returns the header that removes the cookie.
    pub(crate) fn remove(self, public_url: &str) -> Option<HeaderValue> {
        self.header("", "; Max-Age=0", public_url)
    }

    fn header(self, value: &str, more: &str, public_url: &str) -> Option<HeaderValue> {
        let is_secure = is_secure(public_url);
        let (name, secure) = (self.name(is_secure), if is_secure { "; Secure" } else { "" });
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{more}");
        HeaderValue::from_str(&text).ok()
    }

    /// Returns the value that a browser sent.
    pub(crate) fn read(self, headers: &HeaderMap, public_url: &str) -> Option<String> {
        let name = self.name(is_secure(public_url));
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs =
            lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    }
}

fn is_secure(public_url: &str) -> bool {
    public_url.starts_with("https://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_over_tls_is_of_this_host_only() {
        let set = PageCookie::Session.set("nds_1", "https://desk.example.org").unwrap();
        assert_eq!(set, "__Host-nightdesk=nds_1; Path=/; HttpOnly; SameSite=Lax; Secure");
        let local = PageCookie::Session.set("nds_1", "http://127.0.0.1:8800").unwrap();
        assert_eq!(local, "nightdesk=nds_1; Path=/; HttpOnly; SameSite=Lax");
        assert!(PageCookie::Login.set("a\nb", "https://desk.example.org").is_none());
    }

    #[test]
    fn a_cookie_is_read_by_its_exact_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "a=1; nightdesk=plain".parse().unwrap());
        headers.append(header::COOKIE, "__Host-nightdesk=secure;b=2".parse().unwrap());
        let read = |url| PageCookie::Session.read(&headers, url);

        assert_eq!(read("https://desk.example.org").as_deref(), Some("secure"));
        assert_eq!(read("http://127.0.0.1:8800").as_deref(), Some("plain"));
        assert_eq!(PageCookie::Login.read(&headers, "https://desk.example.org"), None);
    }
}
