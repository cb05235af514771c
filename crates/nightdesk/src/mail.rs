//! Sends alerts as mails, through the operator's SMTP server.

use std::fmt::Display;

use anyhow::Context;
use async_trait::async_trait;
use lettre::message::Mailbox;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use nightdesk_alerts::{AlertFailure, AlertMessage, AlertSender, AlertWay, MailAddress, WayTarget};
use nightdesk_types::limits::MAIL_COMMAND_WAIT;

use crate::config::{MailSection, MailTls};

/// The header by which programs recognise a mail that needs no automatic answer (RFC 3834).
const AUTO_SUBMITTED: HeaderName = HeaderName::new_from_ascii_str("Auto-Submitted");

/// Sends mails.
pub(crate) struct SmtpMailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

nightdesk_types::opaque_debug!(SmtpMailer);

impl SmtpMailer {
    /// Opens the mailer. It connects for each mail.
    pub(crate) fn open(mail: &MailSection) -> anyhow::Result<Self> {
        let server = mail.server.as_str();
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(server)
            .port(mail.port())
            .timeout(Some(MAIL_COMMAND_WAIT))
            .tls(tls(mail)?);
        if let (Some(user), Some(password)) = (&mail.user, mail.password()?) {
            builder = builder.credentials(Credentials::new(user.clone(), password));
        }
        let from = mailbox(&mail.sender()?).context("mail.from cannot be used")?;
        Ok(Self { transport: builder.build(), from })
    }

    fn compose(&self, to: &MailAddress, message: &AlertMessage) -> anyhow::Result<Message> {
        let id = format!("<{}@{}>", message.id, self.from.email.domain());
        let builder = Message::builder()
            .from(self.from.clone())
            .to(mailbox(to)?)
            .message_id(Some(id))
            .subject(message.subject.as_str())
            .raw_header(HeaderValue::new(AUTO_SUBMITTED, "auto-generated".to_owned()))
            .header(ContentType::TEXT_PLAIN);
        Ok(builder.body(format!("{}\n", message.text))?)
    }
}

#[async_trait]
impl AlertSender for SmtpMailer {
    async fn send(&self, way: &AlertWay, message: &AlertMessage) -> Result<(), AlertFailure> {
        let WayTarget::Mail(to) = &way.target else {
            return Err(AlertFailure("the way has no mail address".to_owned()));
        };
        let mail = self.compose(to, message).map_err(failure)?;
        self.transport.send(mail).await.map(drop).map_err(failure)
    }
}

/// Returns the encryption of the connection.
fn tls(mail: &MailSection) -> anyhow::Result<Tls> {
    let parameters = || -> anyhow::Result<TlsParameters> {
        let mut builder = TlsParameters::builder(mail.server.clone());
        if let Some(file) = &mail.root_certificate_file {
            let name = || format!("mail.root_certificate_file {}", file.display());
            let pem = std::fs::read(file).with_context(name)?;
            builder = builder.add_root_certificate(Certificate::from_pem(&pem).with_context(name)?);
        }
        Ok(builder.build()?)
    };
    Ok(match mail.tls {
        MailTls::Full => Tls::Wrapper(parameters()?),
        MailTls::Starttls => Tls::Required(parameters()?),
        MailTls::None => Tls::None,
    })
}

fn mailbox(address: &MailAddress) -> anyhow::Result<Mailbox> {
    let email = address.as_str().parse::<Address>();
    Ok(Mailbox::new(None, email.with_context(|| format!("{address} is no mail address"))?))
}

fn failure(error: impl Display) -> AlertFailure {
    AlertFailure(format!("the mail server did not take it: {error:#}"))
}

#[cfg(test)]
mod tests {
    use nightdesk_alerts::{WayCoverage, WayKind};
    use nightdesk_types::{AlertWayId, TenantScope, Timestamp};

    use super::*;

    fn section() -> MailSection {
        MailSection {
            server: "127.0.0.1".to_owned(),
            port: Some(9),
            tls: MailTls::None,
            user: None,
            password_file: None,
            from: "desk@example.org".to_owned(),
            root_certificate_file: None,
        }
    }

    fn message() -> AlertMessage {
        let way = AlertWayId::from_uuid(uuid::Uuid::from_u128(1));
        let message = AlertMessage::for_test(way, TenantScope::desk_own(), Timestamp::UNIX_EPOCH);
        AlertMessage { text: "Bücher fehlen".to_owned(), ..message }
    }

    #[tokio::test]
    async fn a_mail_has_one_recipient_and_is_marked_as_automatic() {
        let mailer = SmtpMailer::open(&section()).unwrap();
        let to = MailAddress::parse("ops@example.org").unwrap();
        let mail = mailer.compose(&to, &message()).unwrap();
        let text = String::from_utf8(mail.formatted()).unwrap();

        for line in [
            "From: desk@example.org\r\n",
            "To: ops@example.org\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "Subject: Nightdesk: test of a way for alerts\r\n",
            "@example.org>\r\n",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(mail.envelope().to().len(), 1);
    }

    #[tokio::test]
    async fn a_server_that_is_away_is_a_failure() {
        let mailer = SmtpMailer::open(&section()).unwrap();
        let to = MailAddress::parse("ops@example.org").unwrap();
        let way = AlertWay {
            scope: TenantScope::desk_own(),
            id: AlertWayId::from_uuid(uuid::Uuid::from_u128(1)),
            target: WayTarget::Mail(to),
            coverage: WayCoverage::Own,
        };

        assert_eq!(way.target.kind(), WayKind::Mail);
        let AlertFailure(reason) = mailer.send(&way, &message()).await.unwrap_err();
        assert!(reason.starts_with("the mail server did not take it"), "{reason}");
    }

    #[test]
    fn a_certificate_file_that_is_missing_is_named() {
        let file = "/nonexistent/roots.pem".into();
        let mail =
            MailSection { tls: MailTls::Full, root_certificate_file: Some(file), ..section() };
        let error = SmtpMailer::open(&mail).map(drop).unwrap_err();

        assert!(format!("{error:#}").contains("/nonexistent/roots.pem"), "{error:#}");
    }
}
