use nightdesk_types::Event;
use serde_json::json;

use super::*;
use crate::tests::bot;

const VISITOR: &str = "0123456789abcdef0123456789abcdef";

fn posted(nonce: &str, text: &str) -> Result<PagePost, PagePostError> {
    PagePost::from_json(json!({ "nonce": nonce, "text": text }).to_string().as_bytes())
}

#[test]
fn a_post_is_taken_within_its_bounds() {
    let (at_most, over) = ("ä".repeat(CHAT_TEXT_CHARS_MAX), "ä".repeat(CHAT_TEXT_CHARS_MAX + 1));
    let (long, longer) = ("n".repeat(CHAT_NONCE_CHARS_MAX), "n".repeat(CHAT_NONCE_CHARS_MAX + 1));
    let cases = [
        ("a text", "n-1_A", "hi", Ok("hi")),
        ("the longest", "n", &at_most, Ok(at_most.as_str())),
        ("one more", "n", &over, Err(PagePostError::TooLong)),
        ("nothing", "n", "", Err(PagePostError::Empty)),
        ("blanks", "n", " \n\t ", Err(PagePostError::Empty)),
        ("what PostgreSQL refuses", "n", "\0", Err(PagePostError::Empty)),
        ("line ends of the wire", "n", " a\r\nb ", Ok("a\nb")),
        ("the longest nonce", &long, "hi", Ok("hi")),
        ("a longer one", &longer, "hi", Err(PagePostError::Unreadable)),
        ("no nonce", "", "hi", Err(PagePostError::Unreadable)),
        ("an odd nonce", "a:b", "hi", Err(PagePostError::Unreadable)),
    ];
    for (name, nonce, text, want) in cases {
        let got = posted(nonce, text).map(|posted| posted.text);
        assert_eq!(got.as_deref(), want.as_ref().copied(), "{name}");
    }
}

#[test]
fn what_is_not_our_pages_is_unreadable() {
    for body in ["", "null", "[]", "{", r#"{"nonce": 7, "text": "a"}"#, r#"{"text": "a"}"#] {
        assert_eq!(PagePost::from_json(body.as_bytes()), Err(PagePostError::Unreadable), "{body}");
    }
}

#[test]
fn a_form_says_the_same_as_the_script() {
    let form = PagePost::from_form("nonce=n1&text=a+%26%0D%0A%C3%A4&other=1".as_bytes()).unwrap();

    assert_eq!(form, posted("n1", "a &\nä").unwrap());
    assert_eq!(PagePost::from_json(&form.to_json()).unwrap(), form);
    assert_eq!(PagePost::from_form(b"text=a"), Err(PagePostError::Unreadable));
}

#[test]
fn an_event_is_a_direct_message_of_its_visitor() {
    let event = Event::normalise(convert_post(&bot(), VISITOR, posted("n1", "hi").unwrap(), None));

    let draft = event.unwrap().into_draft();
    assert_eq!(draft.key, format!("{VISITOR}:n1"));
    assert_eq!(draft.source.platform, "webchat");
    assert_eq!((draft.source.chat_id.as_str(), draft.source.chat_type), (VISITOR, ChatType::Dm));
    assert_eq!(draft.source.user_id.as_deref(), Some(VISITOR));
    assert_eq!(draft.source.user_name.as_deref(), Some("Visitor 0123"));
    let Content::Message(message) = draft.content else { panic!("a message") };
    assert_eq!((message.text.as_str(), message.message_id.as_deref()), ("hi", Some("n1")));
}

#[test]
fn a_pressed_button_says_its_label() {
    let press = Press {
        prompt_id: "p1".to_owned(),
        option_id: "yes".to_owned(),
        label: "Yes, do".to_owned(),
    };
    let posted = PagePost { nonce: "n1".to_owned(), ..PagePost::default() };
    let Content::Message(message) = convert_post(&bot(), VISITOR, posted, Some(press)).content
    else {
        panic!("a message")
    };

    assert_eq!(message.text, "Yes, do");
    let response = message.prompt_response.unwrap();
    assert_eq!((response.prompt_id.as_str(), response.option_id.as_str()), ("p1", "yes"));
}

// T64
#[test]
fn a_hostile_text_stays_in_its_field() {
    let texts = include_str!("../../../../testing/hostile-texts.json");
    let texts: Vec<String> = serde_json::from_str(texts).unwrap();
    let event = |text: &str| {
        let draft = convert_post(&bot(), VISITOR, posted("n1", text).unwrap(), None);
        json!(Event::normalise(draft).unwrap())
    };

    for text in texts {
        let mut told = event(&text);
        let shown = told.pointer_mut("/content/message/text").unwrap().take();
        assert_eq!(shown, text.trim(), "the text is told as it was written");
        let mut plain = event("hello");
        plain.pointer_mut("/content/message/text").unwrap().take();
        assert_eq!(told, plain, "{text}");
    }
}

// T09: a proxy may read the first of two fields, and the desk the second.
#[test]
fn a_post_has_each_field_once() {
    let doubled = [
        r#"{"nonce":"n1","text":"a","text":"b"}"#,
        r#"{"nonce":"n1","nonce":"n2","text":"a"}"#,
        r#"{"nonce":"n1","text":"a","\u0074ext":"b"}"#,
    ];
    for body in doubled {
        assert_eq!(PagePost::from_json(body.as_bytes()), Err(PagePostError::Unreadable), "{body}");
    }
    for form in ["nonce=n1&text=a&text=b", "nonce=n1&nonce=n2&text=a", "nonce=n1&text=a&te%78t=b"] {
        assert_eq!(PagePost::from_form(form.as_bytes()), Err(PagePostError::Unreadable), "{form}");
    }
}

#[test]
fn a_page_has_an_emoji_and_its_ids_may_be_hidden() {
    let can = capabilities();
    assert_eq!((can.emoji, can.is_pii_safe), ("💬", true));
}
