//! Takes values from the front of an input.

/// The rest of an input. An input that is used up gives zeros.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FuzzInput<'a>(&'a [u8]);

impl<'a> FuzzInput<'a> {
    pub(crate) const fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn take_byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub(crate) fn take_bytes<const COUNT: usize>(&mut self) -> [u8; COUNT] {
        std::array::from_fn(|_| self.take_byte())
    }

    pub(crate) fn take_u64(&mut self) -> u64 {
        u64::from_be_bytes(self.take_bytes())
    }

    pub(crate) fn take_u16(&mut self) -> u16 {
        u16::from_be_bytes(self.take_bytes())
    }

    /// Takes a number, which is small, close to a power of two, or any.
    pub(crate) fn take_number(&mut self) -> u64 {
        let small = u64::from(self.take_byte());
        match small % 4 {
            0 => small / 4,
            1 => u64::from(self.take_u16()),
            2 => (1_u64 << (small / 4)).wrapping_sub(u64::from(self.take_byte() % 3)),
            _ => self.take_u64(),
        }
    }

    /// Takes the bytes up to the next newline, without it.
    pub(crate) fn take_line(&mut self) -> &'a [u8] {
        let mut parts = self.0.splitn(2, |byte| *byte == b'\n');
        let line = parts.next().unwrap_or_default();
        self.0 = parts.next().unwrap_or_default();
        line
    }

    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.0
    }
}
