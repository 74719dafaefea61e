//! Damage, as it comes about: cut, flipped, doubled, spliced, and words that mean something to a parser.

/// A small generator of numbers: the same seed gives the same ones.
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Below `limit`, which is at least 1.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

const WORDS: [&[u8]; 28] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\x1b[2J",
    b"\xe2\x80\xae",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"9223372036854775807",
    b"0.1",
    b"\\u0000",
    b"\\ud800",
    b"\"\"",
    b"{}",
    b"[[[[[[[[",
    b": ,",
    b"data: ",
    b"[[rule]]\n",
    b"../../etc/passwd",
];

/// One to four kinds of damage at once.
pub fn mutate(dice: &mut Dice, sample: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = sample.to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len() + 1);
        let end = (at + dice.below(40)).min(bytes.len());
        match dice.below(9) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again.iter().copied().cycle().take(again.len() * (1 + dice.below(30))));
            }
            5 => {
                let from = dice.below(other.len() + 1);
                let to = (from + dice.below(80)).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            6 => {
                let depth = 1 + dice.below(400);
                bytes.splice(at..at, b"[{\"a\":".to_vec().into_iter().cycle().take(depth));
            }
            _ => drop(bytes.splice(at..end, dice.pick(&WORDS).iter().copied()).collect::<Vec<_>>()),
        }
    }
    bytes
}

/// A byte changed into another one.
pub fn flip(dice: &mut Dice, sample: &[u8]) -> (usize, Vec<u8>) {
    let at = dice.below(sample.len());
    let mut bytes = sample.to_vec();
    bytes[at] ^= u8::try_from(1 + dice.below(255)).unwrap_or(1);
    (at, bytes)
}
