//! Tests button presses.

use nightdesk_gate::{BotPrompt, Store as _};

use super::*;

/// Returns a press on a button of the bot's own message.
pub(super) fn press(id: &str) -> Value {
    let message = json!({
        "message_id": 7, "date": 1, "chat": { "id": ANN, "type": "private" },
        "from": { "id": 4242, "is_bot": true, "first_name": "Desk" },
        "reply_markup": { "inline_keyboard": [[{ "text": "Yes", "callback_data": "hp1:a:yes" }]] },
    });
    let from = json!({ "id": ANN, "is_bot": false, "first_name": "Ann" });
    json!({ "callback_query": { "id": id, "from": from, "message": message, "data": "hp1:a:yes" } })
}

#[tokio::test]
async fn a_pressed_button_is_let_go_once_the_press_is_stored() {
    let stage = stage(json!({})).await;
    let answers = || {
        let calls = stage.fake.calls().into_iter();
        calls.filter(|call| call.method == "answerCallbackQuery").collect::<Vec<_>>()
    };
    stage.desk.listen();
    let (household, store) = (&stage.household, &stage.desk.store);
    let asked = BotPrompt { bot: stage.bot, id: "a" };
    assert!(store.record_prompt(household.scope, household.agent, asked).await.expect("ask"));
    stage.fake.happens(TOKEN, press("1"));
    stage.has(1).await;
    until("the button is let go", async || !answers().is_empty()).await;
    assert_eq!(answers()[0].asked["callback_query_id"], json!("1"));
    assert_eq!(answers()[0].answered, Ok(json!(true)));

    // A failed answer to the press has no other effect.
    stage.fake.misbehave(Fault::refuse("answerCallbackQuery", 1, 400, "Bad Request: …"));
    stage.fake.happens(TOKEN, press("2"));
    stage.has(2).await;
    until("it is tried", async || answers().len() == 2).await;
    stage.says([3]);
    stage.has(3).await;
    assert_eq!(answers().len(), 2, "it is one call");
}
