use super::*;

#[test]
fn an_address_is_one_to_which_a_path_can_be_added() {
    for good in ["https://api.telegram.org", "http://127.0.0.1:8081/", "https://a.b/telegram"] {
        assert!(Api::open(good).is_ok(), "{good}");
    }
    for bad in ["", "api.telegram.org", "ftp://a.b", "https://a.b?x=1", "https://a.b/#c"] {
        assert!(matches!(Api::open(bad), Err(OpenError::Address)), "{bad}");
    }
}

#[test]
fn a_call_goes_below_the_address() {
    let bot = crate::tests::bot();
    for (base, want) in [
        ("https://a.b", "https://a.b/bot4242:canary-token-7f3a/getMe"),
        ("https://a.b/c/", "https://a.b/c/bot4242:canary-token-7f3a/getMe"),
    ] {
        let address = Api::open(base).unwrap().address(bot.key.as_ref(), "getMe");
        assert_eq!(address.as_ref().map(Url::as_str), Some(want));
    }
}
