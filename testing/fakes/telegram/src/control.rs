//! Serves the control for programs, with the same functions as for tests.

use serde_json::{Value, json};

use super::Shared;
use super::fault::Fault;
use super::methods::{Answered, refused};
use super::request::Asked;
use super::world::{Called, World};

pub(super) fn answer(shared: &Shared, what: &str, asked: &Asked) -> Answered {
    let token = asked.text("token").unwrap_or_default();
    let no = || refused(400, "not a control of the fake");
    if what == "calls" {
        return Ok(shared.world().calls.iter().map(told).collect());
    }
    if what == "polls" {
        return Ok(json!(shared.world().bot(token).ok_or_else(no)?.polls));
    }
    shared.change(|world| match what {
        "bot" => {
            world.add_bot(token, asked.text("username").unwrap_or("fake_bot"));
            Ok(json!(true))
        }
        "chat" => {
            world.add_chat(Value::Object(asked.0.clone()));
            Ok(json!(true))
        }
        "happens" => Ok(json!(world.happens(token, asked.json("update").ok_or_else(no)?))),
        "press" => {
            let press = press(world, asked).ok_or_else(no)?;
            Ok(json!(world.happens(token, press)))
        }
        "block" => Ok(json!(world.blocked.insert(asked.number("person").ok_or_else(no)?))),
        "renumber" => {
            world.renumber(token, asked.number("next").ok_or_else(no)?);
            Ok(json!(true))
        }
        "fault" => {
            let fault = Fault::read(&Value::Object(asked.0.clone())).ok_or_else(no)?;
            world.faults.push(fault);
            Ok(json!(true))
        }
        _ => Err(no()),
    })
}

/// Presses a button of a sent message as a person.
fn press(world: &World, asked: &Asked) -> Option<Value> {
    let message = world.message(asked.number("chat_id")?, asked.number("message_id")?)?;
    let from = json!({ "id": asked.number("person")?, "is_bot": false, "first_name": "Ann" });
    let id = format!("press-{}", world.calls.len());
    let query = json!({
        "id": id, "from": from, "message": message, "chat_instance": "1", "data": asked.text("data")?,
    });
    Some(json!({ "callback_query": query }))
}

fn told(call: &Called) -> Value {
    let answered = match &call.answered {
        Ok(result) => json!({ "result": result }),
        Err((status, description)) => json!({ "status": status, "description": description }),
    };
    json!({ "token": call.token, "method": call.method, "asked": call.asked, "answered": answered })
}
