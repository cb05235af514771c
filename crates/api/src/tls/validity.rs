//! Reads the period of validity from a certificate.
//!
//! rustls parses a certificate but does not show its dates. This reader walks the fixed fields in front of them (RFC
//! 5280, section 4.1) and nothing else.

use nightdesk_types::Timestamp;

/// The period in which a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Validity {
    /// The first instant.
    pub(super) not_before: Timestamp,
    /// The last instant.
    pub(super) not_after: Timestamp,
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Returns the period of validity of a DER certificate. `None`: the bytes are no certificate.
pub(super) fn read(certificate: &[u8]) -> Option<Validity> {
    let mut certificate = Der(Der(certificate).take(SEQUENCE)?);
    let mut fields = Der(certificate.take(SEQUENCE)?);
    if fields.0.first() == Some(&VERSION) {
        fields.take(VERSION)?;
    }
    let _serial = fields.take(INTEGER)?;
    let _signature_algorithm = fields.take(SEQUENCE)?;
    let _issuer = fields.take(SEQUENCE)?;
    let mut validity = Der(fields.take(SEQUENCE)?);
    Some(Validity { not_before: validity.time()?, not_after: validity.time()? })
}

/// The unread rest of a DER value.
struct Der<'b>(&'b [u8]);

impl<'b> Der<'b> {
    /// Takes the next element, which must have this tag. Returns its content.
    fn take(&mut self, tag: u8) -> Option<&'b [u8]> {
        let (found, rest) = self.0.split_first()?;
        let (length, rest) = length(rest)?;
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        (*found == tag).then_some(content)
    }

    fn time(&mut self) -> Option<Timestamp> {
        let tag = *self.0.first()?;
        let text = std::str::from_utf8(self.take(tag)?).ok()?;
        let full = match tag {
            // Two digits of a year mean 1950 to 2049.
            UTC_TIME if *text.as_bytes().first()? < b'5' => format!("20{text}"),
            UTC_TIME => format!("19{text}"),
            GENERALIZED_TIME => text.to_owned(),
            _ => return None,
        };
        let digits = full.strip_suffix('Z')?;
        if digits.len() != 14 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let [year, month, day] = [&digits[..4], &digits[4..6], &digits[6..8]];
        let [hour, minute, second] = [&digits[8..10], &digits[10..12], &digits[12..]];
        let at = format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse();
        // A certificate without an end has the last second of 9999, which is past the last timestamp.
        at.ok().or((year == "9999").then_some(Timestamp::MAX))
    }
}

/// Reads a length, and returns it with the rest.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let count = usize::from(first & 0x7f);
    if first & 0x80 == 0 {
        return Some((count, rest));
    }
    let (digits, rest) = rest.split_at_checked(count)?;
    if digits.is_empty() || digits.len() > 4 {
        return None;
    }
    let length = digits.iter().fold(0_usize, |length, digit| (length << 8) | usize::from(*digit));
    Some((length, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn issued(first_year: i32, last_year: i32) -> Vec<u8> {
        let mut params = CertificateParams::new(["desk.test".to_owned()]).unwrap();
        params.not_before = date_time_ymd(first_year, 2, 3);
        params.not_after = date_time_ymd(last_year, 11, 30);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn the_dates_are_those_of_the_certificate() {
        // A year from 2050 on is written in four digits.
        for (first, last) in [(1975, 1999), (2020, 2049), (2026, 2051), (2050, 4096)] {
            let validity = read(&issued(first, last)).unwrap();
            let at = |text: String| text.parse::<Timestamp>().unwrap();

            assert_eq!(validity.not_before, at(format!("{first}-02-03T00:00:00Z")), "{first}");
            assert_eq!(validity.not_after, at(format!("{last}-11-30T00:00:00Z")), "{last}");
        }
    }

    #[test]
    fn a_cut_certificate_has_no_dates() {
        let whole = issued(2026, 2027);
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]), None, "{end}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            let _: Option<Validity> = read(&bytes);
        }

        #[test]
        fn any_changed_byte_is_read_without_a_panic(at in 0_usize..300, byte: u8) {
            let mut certificate = issued(2026, 2027);
            let at = at % certificate.len();
            certificate[at] = byte;
            let _: Option<Validity> = read(&certificate);
        }
    }
}
