//! How weights are stored: bits, and what scales and zero points add to them.

use crate::hardware::Precision;

/// A storage format of weights. Bytes a weight are (bits + meta / group) / 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// What people call it.
    pub name: &'static str,
    /// Bits of a value.
    pub bits: u16,
    /// Bits of scales and zero points that a group of values shares.
    pub meta: u16,
    /// Values of a group; 0 is a whole row of inputs.
    pub group: u32,
    /// The numbers that its products multiply where the hardware can; `None` is 16 bit.
    pub compute: Option<Precision>,
}

impl Format {
    /// 16 bit, or whatever the dtype says.
    pub const PLAIN: Self = Self { name: "16 bit", bits: 16, meta: 0, group: 1, compute: None };
    /// FP32.
    pub const SINGLE: Self = Self { name: "32 bit", bits: 32, meta: 0, group: 1, compute: None };
    /// FP8 with one scale a matrix.
    pub const FP8: Self = Self { name: "FP8", bits: 8, meta: 0, group: 1, compute: Some(Precision::Fp8) };
    /// FP8 with an FP32 scale for each 128 x 128 block.
    pub const FP8_BLOCK: Self =
        Self { name: "FP8 128x128", bits: 8, meta: 32, group: 16384, compute: Some(Precision::Fp8) };
    /// FP8 with a scale a row, in 32 bit.
    pub const FP8_ROW: Self =
        Self { name: "FP8 per channel", bits: 8, meta: 32, group: 0, compute: Some(Precision::Fp8) };
    /// FP8 with an 8-bit exponent for 32 values.
    pub const MXFP8: Self = Self { name: "MXFP8", bits: 8, meta: 8, group: 32, compute: Some(Precision::Fp8) };
    /// INT8 with a scale a row.
    pub const INT8: Self = Self { name: "INT8", bits: 8, meta: 32, group: 0, compute: Some(Precision::Int8) };
    /// FP4 with an FP8 scale for 16 values.
    pub const NVFP4: Self = Self { name: "NVFP4", bits: 4, meta: 8, group: 16, compute: Some(Precision::Fp4) };
    /// FP4 with an 8-bit exponent for 32 values; activations stay in 16 bit.
    pub const MXFP4: Self = Self { name: "MXFP4", bits: 4, meta: 8, group: 32, compute: None };
    /// 4-bit integers with a 16-bit scale and a 4-bit zero point for 128.
    pub const INT4: Self = Self { name: "INT4", bits: 4, meta: 20, group: 128, compute: None };
    /// 4-bit normal floats with a scale for 64.
    pub const NF4: Self = Self { name: "NF4", bits: 4, meta: 32, group: 64, compute: None };

    /// Integers of so many bits in groups, with a 16-bit scale each and a zero point of `zero` bits.
    #[must_use]
    pub fn integers(bits: u16, group: u32, zero: u16) -> Self {
        let name = match bits {
            2 => "INT2",
            3 => "INT3",
            4 => "INT4",
            8 => "INT8, 16-bit math",
            _ => "integers",
        };
        Self { name, bits, meta: 16 + zero, group, compute: None }
    }

    /// Bits of a weight in a matrix of so many inputs, as a fraction: numerator and denominator.
    #[must_use]
    pub fn bits_of(&self, inputs: u64) -> (u64, u64) {
        let group = if self.group == 0 { inputs.max(1) } else { self.group.into() };
        (u64::from(self.bits).saturating_mul(group).saturating_add(self.meta.into()), group)
    }

    /// Bytes of so many weights of a matrix with so many inputs, rounded up.
    #[must_use]
    pub fn bytes(&self, weights: u128, inputs: u64) -> u128 {
        let (bits, group) = self.bits_of(inputs);
        weights.saturating_mul(bits.into()).div_ceil(u128::from(group).saturating_mul(8).max(1))
    }

    /// Whether it is no quantization.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.bits >= 16
    }
}
