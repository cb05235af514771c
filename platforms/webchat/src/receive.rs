//! Receives a page's post, if its cookie is valid.

use nightdesk_port::{Bot, Receive, ReceiveError, RequestContent, SignedRequest};

use crate::Webchat;
use crate::button::Press;
use crate::post::{PagePost, convert_post};
use crate::session::VisitorSession;

impl Receive for Webchat {
    fn receive(
        &self,
        bot: &Bot,
        request: &SignedRequest<'_>,
    ) -> Result<RequestContent, ReceiveError> {
        let session = VisitorSession::from_request(bot, request.headers, self.now());
        let visitor = session.ok_or(ReceiveError::BadSignature)?.visitor;
        let posted = PagePost::from_json(request.body).map_err(|_| ReceiveError::Unreadable)?;
        let press = match &posted.press {
            Some(value) => {
                let press = Press::verify(bot, &visitor, value);
                Some(press.ok_or(ReceiveError::BadSignature)?)
            }
            None => None,
        };
        Ok(RequestContent::Events(vec![Ok(convert_post(bot, &visitor, posted, press))]))
    }
}
