use proptest::prelude::*;

use super::*;

type Pieces<'a> = &'a [&'a [u8]];

fn pushed(lines: &mut Lines, message: &[u8]) -> Vec<Vec<u8>> {
    lines.push(message).unwrap().map(Cow::into_owned).collect()
}

fn in_pieces(pieces: Pieces<'_>) -> Vec<Vec<u8>> {
    let mut lines = Lines::new();
    pieces.iter().flat_map(|piece| pushed(&mut lines, piece)).collect()
}

#[test]
fn lines_come_as_they_were_meant() {
    let cases: [(&str, Pieces<'_>, Pieces<'_>); 8] = [
        ("one a message", &[b"{1}\n", b"{2}\n"], &[b"{1}", b"{2}"]),
        ("several a message", &[b"{1}\n{2}\n"], &[b"{1}", b"{2}"]),
        ("over several messages", &[b"{", b"1", b"}\n{2", b"}\n"], &[b"{1}", b"{2}"]),
        ("carriage returns", &[b"{1}\r\n{2}\r", b"\n"], &[b"{1}", b"{2}"]),
        ("blank lines", &[b"\n \n{1}\n\r\n\t", b"\n"], &[b"{1}"]),
        ("nothing", &[b"", b""], &[]),
        ("no end yet", &[b"{1}"], &[]),
        ("half a character", &[b"\xf0\x9f", b"\x98\x80\n"], &["\u{1f600}".as_bytes()]),
    ];
    for (name, pieces, want) in cases {
        assert_eq!(in_pieces(pieces), want, "{name}");
    }
}

#[test]
fn a_line_at_the_limit_comes_and_one_past_it_does_not() {
    let most = vec![b'x'; FRAME_IN_BYTES_MAX];
    let mut lines = Lines::new();

    assert_eq!(pushed(&mut lines, &most), Vec::<Vec<u8>>::new());
    assert_eq!(pushed(&mut lines, b"\n{1}\n"), [most.clone(), b"{1}".to_vec()]);
    assert_eq!(pushed(&mut lines, &most), Vec::<Vec<u8>>::new());
    let too_long = TooLong { bytes: FRAME_IN_BYTES_MAX + 1, bytes_max: FRAME_IN_BYTES_MAX };
    assert_eq!(lines.push(b"x").unwrap_err(), too_long);
}

#[test]
fn a_long_message_of_short_lines_comes() {
    let line = [vec![b'x'; FRAME_IN_BYTES_MAX / 2], b"\n".to_vec()].concat();

    assert_eq!(pushed(&mut Lines::new(), &line.repeat(3)).len(), 3);
}

#[test]
fn what_is_begun_never_grows_past_the_limit() {
    let mut lines = Lines::new();
    let message = vec![b'x'; 1024 * 1024];

    let refused = (0..100).position(|_| lines.push(&message).is_err());
    assert_eq!(refused, Some(FRAME_IN_BYTES_MAX / message.len()));
}

proptest! {
    #[test]
    fn it_does_not_matter_how_lines_are_cut(
        bytes in prop::collection::vec(prop::sample::select(&b"ab{} \r\n\n"[..]), 0..48),
        cuts in prop::collection::vec(0_usize..48, 0..8),
    ) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut rest = 0;
        for cut in cuts {
            pieces.push(&bytes[rest..cut]);
            rest = cut;
        }
        pieces.push(&bytes[rest..]);

        prop_assert_eq!(in_pieces(&pieces), in_pieces(&[&bytes]));
    }
}
