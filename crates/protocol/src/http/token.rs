//! `POST …/oauth/token`: a gateway or agent requests an access token.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::secret::Secret;
use crate::tolerant;

/// The header in which the stock client sends its refresh token.
pub const REFRESH_TOKEN_HEADER: &str = "x-nous-refresh-token";

/// A token request.
#[derive(Clone, Debug)]
pub enum TokenRequest {
    /// The client authenticates with its own secret.
    ClientCredentials {
        /// The client's id.
        client_id: String,
        /// The client's secret.
        client_secret: Secret,
        /// The requested scope.
        scope: Option<String>,
    },
    /// The client exchanges a refresh token for a new one.
    RefreshToken {
        /// The client's id.
        client_id: String,
        /// The token, from the header or the form.
        refresh_token: Secret,
    },
}

impl TokenRequest {
    /// Parses a form. The client authenticates in the form or with HTTP Basic in `authorization`; `refresh_token` is
    /// the value of [`REFRESH_TOKEN_HEADER`].
    pub fn read(
        form: &[u8],
        authorization: Option<&str>,
        refresh_token: Option<&str>,
    ) -> Result<Self, TokenRequestError> {
        let (id, secret) = (field(form, "client_id")?, field(form, "client_secret")?);
        let (client_id, secret) = match (authorization, id, secret) {
            // A client that authenticates twice is refused, as the RFC requires.
            (Some(_), _, Some(_)) => return Err(TokenRequestError::InvalidRequest),
            (Some(basic), id, None) => {
                let (shown, secret) = read_basic(basic).ok_or(TokenRequestError::InvalidClient)?;
                let same = id.is_none_or(|id| id == shown);
                (same.then_some(shown).ok_or(TokenRequestError::InvalidRequest)?, Some(secret))
            }
            (None, id, secret) => {
                (id.ok_or(TokenRequestError::InvalidRequest)?, secret.map(Secret::new))
            }
        };
        match field(form, "grant_type")?.as_deref() {
            Some("client_credentials") => Ok(Self::ClientCredentials {
                client_id,
                client_secret: secret.ok_or(TokenRequestError::InvalidClient)?,
                scope: field(form, "scope")?,
            }),
            Some("refresh_token") => {
                let in_form = field(form, "refresh_token")?;
                let shown = refresh_token.map(str::to_owned).or(in_form);
                let refresh_token =
                    shown.map(Secret::new).ok_or(TokenRequestError::InvalidGrant)?;
                Ok(Self::RefreshToken { client_id, refresh_token })
            }
            Some(_) => Err(TokenRequestError::UnsupportedGrantType),
            None => Err(TokenRequestError::InvalidRequest),
        }
    }

    /// Encodes the form. It contains no refresh token, which goes into the header.
    pub fn form(&self) -> String {
        let mut form = form_urlencoded::Serializer::new(String::new());
        match self {
            Self::ClientCredentials { client_id, client_secret, scope } => form
                .append_pair("grant_type", "client_credentials")
                .append_pair("client_id", client_id)
                .append_pair("client_secret", client_secret.expose())
                .extend_pairs(scope.iter().map(|scope| ("scope", scope))),
            Self::RefreshToken { client_id, refresh_token: _ } => {
                form.append_pair("grant_type", "refresh_token").append_pair("client_id", client_id)
            }
        };
        form.finish()
    }
}

/// Returns a field, which may occur only once.
fn field(form: &[u8], name: &str) -> Result<Option<String>, TokenRequestError> {
    let mut found = form_urlencoded::parse(form).filter(|(key, _)| key == name);
    let value = found.next().map(|(_, value)| Cow::into_owned(value));
    if found.next().is_some() { Err(TokenRequestError::InvalidRequest) } else { Ok(value) }
}

/// Returns id and secret from HTTP Basic: each form-encoded, then both in base64.
fn read_basic(header: &str) -> Option<(String, Secret)> {
    let (scheme, text) = header.split_once(' ')?;
    let bytes =
        STANDARD.decode(text.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let text = String::from_utf8(bytes).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some((decode_form_value(id)?, Secret::new(decode_form_value(secret)?)))
}

/// Decodes one form value.
fn decode_form_value(text: &str) -> Option<String> {
    if text.contains(['&', '=']) {
        return None;
    }
    Some(
        form_urlencoded::parse(text.as_bytes())
            .next()
            .map_or_else(String::new, |(key, _)| key.into_owned()),
    )
}

/// The response with a token.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = TokenAnswer))]
pub struct TokenResponse {
    /// The new access token.
    pub access_token: Secret,
    /// The token type: `Bearer`.
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    pub token_type: String,
    /// The lifetime. The stock client reads an absent one as zero.
    #[serde(rename = "expires_in")]
    pub expires_in_secs: u64,
    /// The next refresh token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<Secret>,
    /// The scope of the token.
    #[serde(default, deserialize_with = "tolerant::text", skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// The reason why no token is issued, in the terms of RFC 6749.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", rename_all = "snake_case")]
pub enum TokenRequestError {
    /// The form lacks a field.
    #[error("request is incomplete")]
    InvalidRequest,
    /// No client with that id and secret exists.
    #[error("client is not known")]
    InvalidClient,
    /// The refresh token is no longer valid. Clients then drop it.
    #[error("grant is not valid")]
    InvalidGrant,
    /// The desk does not support this grant type.
    #[error("grant type is not supported")]
    UnsupportedGrantType,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_that_lacks_something_is_refused_in_the_words_of_the_rfc() {
        let cases = [
            ("", TokenRequestError::InvalidRequest),
            ("grant_type=client_credentials", TokenRequestError::InvalidRequest),
            ("client_id=c", TokenRequestError::InvalidRequest),
            ("grant_type=client_credentials&client_id=c", TokenRequestError::InvalidClient),
            ("grant_type=refresh_token&client_id=c", TokenRequestError::InvalidGrant),
            ("grant_type=password&client_id=c", TokenRequestError::UnsupportedGrantType),
            (
                "grant_type=client_credentials&client_id=c&client_id=d",
                TokenRequestError::InvalidRequest,
            ),
            ("grant_type=x&grant_type=x&client_id=c", TokenRequestError::InvalidRequest),
        ];
        for (form, want) in cases {
            assert_eq!(
                TokenRequest::read(form.as_bytes(), None, None).unwrap_err(),
                want,
                "{form}"
            );
        }
        let body = serde_json::to_string(&TokenRequestError::InvalidGrant).unwrap();
        assert_eq!(body, r#"{"error":"invalid_grant"}"#);
    }

    #[test]
    fn a_client_may_show_itself_by_basic_instead() {
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        let read =
            |form: &str, header: &str| TokenRequest::read(form.as_bytes(), Some(header), None);
        let form = "grant_type=client_credentials";

        for form in [form.to_owned(), format!("{form}&client_id=c+d")] {
            let TokenRequest::ClientCredentials { client_id, client_secret, scope } =
                read(&form, &basic("c+d:s%3A1")).unwrap()
            else {
                unreachable!("the grant of a client");
            };
            assert_eq!((client_id.as_str(), scope), ("c d", None));
            assert!(client_secret.is("s:1"));
        }
        let cases = [
            (
                "another id",
                format!("{form}&client_id=e"),
                basic("c:s"),
                TokenRequestError::InvalidRequest,
            ),
            (
                "both",
                format!("{form}&client_secret=s"),
                basic("c:s"),
                TokenRequestError::InvalidRequest,
            ),
            (
                "another scheme",
                form.to_owned(),
                "Bearer x".to_owned(),
                TokenRequestError::InvalidClient,
            ),
            ("no colon", form.to_owned(), basic("c"), TokenRequestError::InvalidClient),
            ("not base64", form.to_owned(), "Basic !".to_owned(), TokenRequestError::InvalidClient),
        ];
        for (name, form, header, refused) in cases {
            assert_eq!(read(&form, &header).unwrap_err(), refused, "{name}");
        }
    }

    #[test]
    fn a_refresh_token_may_stand_in_the_form() {
        let form = b"grant_type=refresh_token&client_id=c&refresh_token=rt%2B1";

        let read = TokenRequest::read(form, None, None).unwrap();
        let TokenRequest::RefreshToken { client_id, refresh_token } = read else {
            unreachable!("the grant of a refresh token");
        };
        assert_eq!(client_id, "c");
        assert!(refresh_token.is("rt+1"));
    }

    #[test]
    fn an_answer_says_all_a_client_wants() {
        let answer = TokenResponse {
            access_token: Secret::new("at"),
            token_type: "Bearer".to_owned(),
            expires_in_secs: 3600,
            refresh_token: Some(Secret::new("rt")),
            scope: None,
        };

        let body = serde_json::to_string(&answer).unwrap();
        insta::assert_snapshot!(body, @r#"{"access_token":"at","token_type":"Bearer","expires_in":3600,"refresh_token":"rt"}"#);
        assert!(!format!("{answer:?}").contains("rt\""), "a token is not shown");
    }
}
