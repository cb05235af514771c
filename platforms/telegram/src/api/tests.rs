use super::*;

#[test]
fn a_call_goes_below_the_address() {
    let bot = crate::tests::bot();
    for (base, want) in [
        ("https://a.b", "https://a.b/bot4242:canary-token-7f3a/getMe"),
        ("https://a.b/c/", "https://a.b/c/bot4242:canary-token-7f3a/getMe"),
    ] {
        let request = Api::open(base).unwrap().request(bot.key.as_ref(), "getMe").unwrap();
        assert_eq!(request.build().unwrap().url().as_str(), want);
    }
}
