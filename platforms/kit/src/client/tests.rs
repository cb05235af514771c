//! Tests of addresses, and of responses that explode.

use super::*;

mod exploding;

const FORM: &str = "https://a.b";

#[test]
fn an_address_is_one_to_which_a_path_can_be_added() {
    for good in ["https://api.telegram.org", "http://127.0.0.1:8081/", "https://a.b/telegram"] {
        assert!(BaseUrl::parse(good, FORM).is_ok(), "{good}");
    }
    for bad in ["", "api.telegram.org", "ftp://a.b", "https://a.b?x=1", "https://a.b/#c"] {
        let refused = BaseUrl::parse(bad, FORM);
        assert!(matches!(refused, Err(OpenError::Address { form: FORM })), "{bad}");
    }
}

#[test]
fn a_path_goes_below_the_address() {
    for (base, want) in [("https://a.b", "https://a.b/x/y"), ("http://a.b/c/", "http://a.b/c/x/y")]
    {
        let url = BaseUrl::parse(base, FORM).unwrap().join("x/y");
        assert_eq!(url.as_ref().map(Url::as_str), Some(want));
    }
}
