//! The certificate of the public address: read at the start, and again whenever its files change.

use std::sync::Arc;

use anyhow::Context;
use nightdesk_api::{CertificateError, CertificatePair, OfferedCertificate, ServedCertificate};
use nightdesk_types::limits::CERTIFICATE_LOOK_EVERY;
use nightdesk_types::{Clock, SystemClock};
use tokio::signal::unix::Signal;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::config::TlsFiles;

/// Reads the certificate and its key, and checks that they belong together and are valid now.
pub(crate) fn read_valid(files: &TlsFiles) -> anyhow::Result<CertificatePair> {
    let pair = CertificatePair::read(&files.certificate, &files.key).context(FILES)?;
    pair.check_time(SystemClock::start().now()).context(FILES)?;
    Ok(pair)
}

const FILES: &str = "listen.tls cannot be served";

/// Reads the certificate that a node starts with. An expired one is served and logged as an error: the node still
/// receives events over sockets and calls agents.
pub(crate) fn open(files: &TlsFiles) -> anyhow::Result<Arc<ServedCertificate>> {
    let pair = CertificatePair::read(&files.certificate, &files.key).context(FILES)?;
    let now = SystemClock::start().now();
    if let Err(error) = pair.check_time(now) {
        tracing::error!("clients will refuse this desk: {error}");
    }
    Ok(ServedCertificate::new(pair, now))
}

/// Rereads the certificate files, and offers them to the listener.
pub(crate) struct CertificateReload {
    files: TlsFiles,
    served: Arc<ServedCertificate>,
    clock: SystemClock,
    /// The last reported fault. A fault is logged once, not at every look.
    reported: Option<String>,
}

impl CertificateReload {
    pub(crate) fn new(files: &TlsFiles, served: &Arc<ServedCertificate>) -> Self {
        let (files, served) = (files.clone(), Arc::clone(served));
        Self { files, served, clock: SystemClock::start(), reported: None }
    }

    /// Looks at the files periodically, and at once on each hangup signal, until the node stops.
    pub(crate) async fn run(mut self, mut hangups: Signal, drain: CancellationToken) {
        let mut looks = interval(CERTIFICATE_LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = looks.tick() => {}
                _ = hangups.recv() => {}
                () = drain.cancelled() => return,
            }
            self.look().await;
        }
    }

    async fn look(&mut self) {
        let TlsFiles { certificate, key } = self.files.clone();
        let Ok(pair) = spawn_blocking(move || CertificatePair::read(&certificate, &key)).await
        else {
            return;
        };
        match self.served.offer(pair, self.clock.now()) {
            Ok(OfferedCertificate::Current) => self.reported = None,
            Ok(OfferedCertificate::New) => {
                self.reported = None;
                let expires_at = self.served.current().expires_at();
                tracing::info!(%expires_at, "certificate replaced; it expires at {expires_at}");
            }
            Err(error) => self.report(&error),
        }
    }

    fn report(&mut self, error: &CertificateError) {
        let text = error.to_string();
        if self.reported.as_ref() == Some(&text) {
            return;
        }
        let file = self.files.certificate.display();
        tracing::error!(
            "the certificate in {file} is not served, and the previous one stays: {text}"
        );
        self.reported = Some(text);
    }
}
