//! The accelerator of a scenario: one of the list, or one with numbers of the user's own.

use crate::hardware::{self, Accelerator, Status};
use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond};

/// A number of an accelerator that can be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    /// Dense BF16 peak, FLOP/s.
    Bf16,
    /// Dense FP16 peak, FLOP/s.
    Fp16,
    /// Dense FP8 peak, FLOP/s.
    Fp8,
    /// Dense INT8 peak, OP/s.
    Int8,
    /// Dense FP4 peak, FLOP/s.
    Fp4,
    /// Memory bandwidth, bytes a second.
    Bandwidth,
    /// Memory that a program can use, bytes.
    Memory,
}

impl Number {
    /// All of them, in the page's order.
    pub const ALL: [Self; 7] =
        [Self::Bf16, Self::Fp16, Self::Fp8, Self::Int8, Self::Fp4, Self::Bandwidth, Self::Memory];

    /// What it is called, with the unit in which it is edited.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Bf16 => "BF16 TFLOP/s",
            Self::Fp16 => "FP16 TFLOP/s",
            Self::Fp8 => "FP8 TFLOP/s",
            Self::Int8 => "INT8 TOP/s",
            Self::Fp4 => "FP4 TFLOP/s",
            Self::Bandwidth => "Memory GB/s",
            Self::Memory => "Usable GiB",
        }
    }

    /// What one of the unit in which it is edited is in FLOP/s, bytes a second or bytes.
    #[must_use]
    pub fn unit(self) -> f64 {
        match self {
            Self::Bandwidth => 1e9,
            Self::Memory => 1_073_741_824.0,
            _ => 1e12,
        }
    }

    /// Its value on an accelerator, in the unit in which it is edited.
    #[must_use]
    pub fn of(self, accelerator: &Accelerator) -> Option<f64> {
        let peaks = &accelerator.peaks;
        let base = match self {
            Self::Bf16 => peaks.bf16?.0,
            Self::Fp16 => peaks.fp16?.0,
            Self::Fp8 => peaks.fp8?.0,
            Self::Int8 => peaks.int8?.0,
            Self::Fp4 => peaks.fp4?.0,
            Self::Bandwidth => accelerator.bandwidth.0,
            Self::Memory => accelerator.usable?.as_f64(),
        };
        Some(base / self.unit())
    }
}

/// The accelerator of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct AcceleratorChoice {
    /// The id of the list that it begins from.
    pub id: String,
    /// A name of the user's own; empty: that of the list.
    pub name: String,
    /// Numbers that the user set, in the unit in which they are edited; `None`: not supported.
    pub numbers: Vec<(Number, Option<f64>)>,
}

impl AcceleratorChoice {
    /// One of the list, as it is there.
    #[must_use]
    pub fn listed(id: &str) -> Self {
        Self { id: id.to_owned(), name: String::new(), numbers: Vec::new() }
    }

    /// Whether the user changed anything.
    #[must_use]
    pub fn is_edited(&self) -> bool {
        !self.name.is_empty() || !self.numbers.is_empty()
    }

    /// Sets a number, or takes the list's again where that is the same.
    pub fn set(&mut self, number: Number, value: Option<f64>) {
        self.numbers.retain(|(other, _)| *other != number);
        let listed = hardware::by_id(&self.id).and_then(|accelerator| number.of(accelerator));
        if listed != value {
            self.numbers.push((number, value));
        }
    }

    /// The accelerator with its numbers; `None` where the list has no such id.
    #[must_use]
    pub fn accelerator(&self) -> Option<Accelerator> {
        let mut accelerator = hardware::by_id(&self.id)?.clone();
        if !self.is_edited() {
            return Some(accelerator);
        }
        for (number, value) in &self.numbers {
            let base = value.filter(|value| value.is_finite() && *value > 0.0).map(|value| value * number.unit());
            let rate = base.map(FlopsPerSecond);
            match number {
                Number::Bf16 => accelerator.peaks.bf16 = rate,
                Number::Fp16 => accelerator.peaks.fp16 = rate,
                Number::Fp8 => accelerator.peaks.fp8 = rate,
                Number::Int8 => accelerator.peaks.int8 = rate,
                Number::Fp4 => accelerator.peaks.fp4 = rate,
                Number::Bandwidth => accelerator.bandwidth = BytesPerSecond(base.unwrap_or(0.0)),
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and finite")]
                Number::Memory => accelerator.usable = base.map(|bytes| Bytes(bytes.round() as u128)),
            }
        }
        let name = if self.name.is_empty() { format!("{} (edited)", accelerator.name) } else { self.name.clone() };
        accelerator.name = name.into();
        if !self.numbers.is_empty() {
            accelerator.status = Status::Ok;
            accelerator.note = "Numbers of your own.".into();
        }
        Some(accelerator)
    }
}
