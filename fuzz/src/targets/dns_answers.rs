//! Z16: one answer of a name server that is not public rejects all answers.

use std::net::IpAddr;

use nightdesk_outside::fuzz::accepts_answers;

use super::address_judge::is_public;
use crate::input::FuzzInput;

/// Most answers that are checked at once.
const ANSWERS_MAX: usize = 64;

/// Each answer is a byte that selects its kind, and its address.
pub(super) fn run(data: &[u8]) {
    let mut input = FuzzInput::new(data);
    let mut answers = Vec::new();
    while !input.is_empty() && answers.len() < ANSWERS_MAX {
        answers.push(take_address(&mut input));
    }
    let is_accepted = accepts_answers("agents.example", &answers);
    let is_each_accepted = answers.iter().all(|one| accepts_answers("agents.example", &[*one]));
    assert_eq!(is_accepted, is_each_accepted, "{answers:?}");
    let forbidden = answers.iter().find(|answer| !is_public(**answer));
    assert!(!is_accepted || forbidden.is_none(), "{forbidden:?} of {answers:?}");
}

/// Takes an address. Most forms put an IPv4 address into one of the ranges that can carry one.
fn take_address(input: &mut FuzzInput<'_>) -> IpAddr {
    let kind = input.take_byte();
    let v4: [u8; 4] = input.take_bytes();
    let with_end = |begin: [u16; 6]| {
        let end = [u16::from_be_bytes([v4[0], v4[1]]), u16::from_be_bytes([v4[2], v4[3]])];
        let segments: [u16; 8] =
            std::array::from_fn(|at| if at < 6 { begin[at] } else { end[at - 6] });
        IpAddr::from(segments)
    };
    match kind % 8 {
        0..=2 => IpAddr::from(v4),
        3 => with_end([0, 0, 0, 0, 0, 0xffff]),
        4 => with_end([0x64, 0xff9b, 0, 0, 0, 0]),
        5 => with_end([0x2606, 0x4700, 0, 0, 0x0200, 0x5efe]),
        6 => with_end([0x2002, u16::from_be_bytes([v4[0], v4[1]]), 0, 0, 0, 0]),
        _ => {
            let rest: [u8; 12] = input.take_bytes();
            let octets: [u8; 16] =
                std::array::from_fn(|at| if at < 4 { v4[at] } else { rest[at - 4] });
            IpAddr::from(octets)
        }
    }
}
