//! Receives a page's post, if its cookie is valid.

use nightdesk_port::{Bot, Receive, ReceiveError, Received, SignedRequest};

use crate::Webchat;
use crate::button::Press;
use crate::session::Session;
use crate::words::{Posted, draft};

impl Receive for Webchat {
    fn receive(&self, bot: &Bot, request: &SignedRequest<'_>) -> Result<Received, ReceiveError> {
        let session = Session::of(bot, request.headers, self.now());
        let visitor = session.ok_or(ReceiveError::BadSignature)?.visitor;
        let posted = Posted::from_json(request.body).map_err(|_| ReceiveError::Unreadable)?;
        let press = match &posted.press {
            Some(value) => {
                let press = Press::read(bot, &visitor, value);
                Some(press.ok_or(ReceiveError::BadSignature)?)
            }
            None => None,
        };
        Ok(Received::Events(vec![Ok(draft(bot, &visitor, posted, press))]))
    }
}
