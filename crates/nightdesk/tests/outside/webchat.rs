//! The commands of the web chat page and their effect for a visitor.

use crate::desk::{Desk, ask, value};
use crate::docs::{Variables, blocks, entered};

const PAGE: &str = include_str!("../../../../docs/webchat.md");

/// Opens a page by the document's commands. Returns its path on the desk.
pub(crate) fn opened(desk: &Desk, entered: &mut Variables) -> String {
    let mut url = String::new();
    for line in blocks(PAGE, "sh")[0].lines() {
        let answer = entered.run(desk, line);
        if line.starts_with("nightdesk bot") {
            value(&answer, "url").clone_into(&mut url);
        }
    }
    let own = url.strip_prefix(&format!("http://127.0.0.1:{}", desk.port));
    own.expect("an address of the desk").to_owned()
}

/// Writes on a page as a new visitor. Returns the desk's response.
pub(crate) fn written(desk: &Desk, path: &str, text: &str) -> String {
    let body = format!(r#"{{"nonce":"n1","text":"{text}"}}"#);
    let rest =
        format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    ask(desk.port, "POST", &format!("{path}/messages"), &rest)
}

#[test]
fn a_visitor_is_heard_after_the_pages_commands() {
    let (mut desk, mut entered) = entered();
    let path = opened(&desk, &mut entered);
    let page = desk.get(&path);
    assert!(page.contains("200 OK") && page.contains("How can I help?"), "{page}");
    let sent = written(&desk, &path, "hello");
    assert!(sent.contains("200 OK") && sent.contains(r#""result":"sent""#), "{sent}");

    entered.set("CODE", "0123456789abcdef0123456789abcdef");
    for line in blocks(PAGE, "sh")[1].lines() {
        entered.run(&desk, line);
    }
    desk.stop();
}
