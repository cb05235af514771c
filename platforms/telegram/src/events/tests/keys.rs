use super::*;

fn key(update: &Value) -> String {
    read(update).unwrap().unwrap().key
}

fn with(name: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut update = fixture(name);
    change(&mut update);
    update
}

// F41: after a week without updates, or on another server, Telegram begins at any number.
#[test]
fn a_message_is_the_same_under_any_number_and_another_under_the_same() {
    let message = key(&fixture("message_private"));

    let renumbered = with("message_private", |update| update["update_id"] = json!(3));
    assert_eq!(key(&renumbered), message, "told again, under another number");
    let next = with("message_private", |update| update["message"]["message_id"] = json!(8));
    assert_ne!(key(&next), message, "another message, under an old number");
    let elsewhere = with("message_private", |update| update["message"]["chat"]["id"] = json!(9));
    assert_ne!(key(&elsewhere), message, "another chat counts by itself");
    let anew = with("message_private", |update| update["message"]["date"] = json!(1_900_000_000));
    assert_ne!(key(&anew), message, "a chat that counts anew");
}

#[test]
fn every_edit_is_an_event_of_its_own() {
    let edit = key(&fixture("edited_message"));

    assert_eq!(key(&fixture("edited_message")), edit, "told again");
    assert_ne!(edit, key(&fixture("message_private")));
    let soon = with("edited_message", |update| update["update_id"] = json!(10_003));
    assert_ne!(key(&soon), edit, "a second one within a second");
    let late = with("edited_message", |update| update["edited_message"]["edit_date"] = json!(1));
    assert_ne!(key(&late), edit, "an old number");
}

#[test]
fn every_press_is_an_event_of_its_own() {
    let press = key(&fixture("callback_query"));

    let again = with("callback_query", |update| update["update_id"] = json!(3));
    assert_eq!(key(&again), press);
    let second = with("callback_query", |update| update["callback_query"]["id"] = json!("other"));
    assert_ne!(key(&second), press);
}
