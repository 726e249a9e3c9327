//! numpy's way from a list of integers to the state of a generator.
//!
//! `SeedSequence` (numpy 1.17 and later, `numpy/random/bit_generator.pyx`) hashes the integers, as 32-bit words, into a
//! pool of four words and draws the 256 bits from it that PCG64 (XSL-RR 128/64) starts with: the state first, then the
//! stream.

use rand_pcg::Lcg128Xsl64;

/// Words of the pool.
const POOL: usize = 4;

/// Of the hash that fills the pool.
const FILL: Hash = Hash { constant: 0x43b0_d7e5, factor: 0x931e_8875 };
/// Of the hash that draws from it.
const DRAW: Hash = Hash { constant: 0x8b51_f9dd, factor: 0x58f3_8ded };

/// The generator of `default_rng([seed, name])`.
pub(super) fn generator(seed: u64, name: u32) -> Lcg128Xsl64 {
    let mut entropy = words(seed);
    entropy.push(name);
    let pool = fill(&entropy);
    let mut hash = DRAW;
    let mut drawn = pool.iter().cycle().map(|word| u64::from(hash.of(*word)));
    // Two words make one of 64 bits, the low one first; of two of those the high one comes first.
    let mut half = || drawn.next().unwrap_or_default() | drawn.next().unwrap_or_default() << 32;
    let mut whole = || u128::from(half()) << 64 | u128::from(half());
    let (state, stream) = (whole(), whole());
    Lcg128Xsl64::new(state, stream)
}

/// The 32-bit words of an integer, the lowest first; 0 is one word.
fn words(number: u64) -> Vec<u32> {
    #[expect(clippy::cast_possible_truncation, reason = "its halves are meant")]
    let (low, high) = (number as u32, (number >> 32) as u32);
    if high == 0 { vec![low] } else { vec![low, high] }
}

fn fill(entropy: &[u32]) -> [u32; POOL] {
    let mut hash = FILL;
    let mut given = entropy.iter().copied();
    let mut pool = [0; POOL].map(|_: u32| hash.of(given.next().unwrap_or(0)));
    for from in 0..POOL {
        for to in (0..POOL).filter(|to| *to != from) {
            let hashed = hash.of(pool.get(from).copied().unwrap_or_default());
            if let Some(word) = pool.get_mut(to) {
                *word = mix(*word, hashed);
            }
        }
    }
    for more in given {
        pool = pool.map(|word| mix(word, hash.of(more)));
    }
    pool
}

/// A multiplicative hash whose constant changes with every word.
#[derive(Clone, Copy)]
struct Hash {
    constant: u32,
    factor: u32,
}

impl Hash {
    fn of(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.factor);
        folded(word.wrapping_mul(self.constant))
    }
}

fn mix(a: u32, b: u32) -> u32 {
    folded(a.wrapping_mul(0xca01_f9dd).wrapping_sub(b.wrapping_mul(0x4973_f715)))
}

fn folded(word: u32) -> u32 {
    word ^ word >> 16
}
