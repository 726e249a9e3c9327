//! Accelerators: what they compute, move and hold, each number with its source and date.
//!
//! The numbers are data, `accelerators.tsv`: dense rates without sparsity in 10^12 per second, memory and one-way link
//! bandwidth per accelerator in 10^9 bytes per second, nominal memory in 10^9 bytes and usable memory in GiB. An empty
//! cell is not supported or not known. A new accelerator is a new line there and nothing else.

mod peak;
pub mod roofline;
mod table;

pub use peak::{PeakChoice, peak};

use std::borrow::Cow;
use std::sync::LazyLock;

use thiserror::Error;

use crate::format::{did_you_mean, quoted};
use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond};

/// The numbers that a matrix unit multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precision {
    /// 16-bit brain floating point.
    Bf16,
    /// 16-bit IEEE floating point.
    Fp16,
    /// 8-bit floating point, of either layout.
    Fp8,
    /// 8-bit integers; an operation is counted like a FLOP.
    Int8,
    /// 4-bit floating point with block scales.
    Fp4,
}

/// Whether sources agree on an accelerator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// They do, as far as they were read.
    Ok,
    /// They do not; the note says how.
    Disputed,
}

/// An accelerator, one device as a program sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Accelerator {
    /// What links and commands call it; unique, lower case.
    pub id: Cow<'static, str>,
    /// What people call it; unique.
    pub name: Cow<'static, str>,
    /// Who makes it.
    pub vendor: Cow<'static, str>,
    /// Dense peaks, without sparsity.
    pub peaks: Peaks,
    /// Memory bandwidth.
    pub bandwidth: BytesPerSecond,
    /// Memory as the label says, its GB read as 10^9 bytes. Many labels mean 2^30, so `usable` may be more.
    pub capacity: Bytes,
    /// Memory that a program is given, where that is known.
    pub usable: Option<Bytes>,
    /// Link to the other accelerators of its node or rack, one direction.
    pub scale_up: Option<BytesPerSecond>,
    /// Network beyond the node, one direction, per accelerator.
    pub nic: Option<BytesPerSecond>,
    /// Accelerators that the scale-up link joins, in the usual machine.
    pub gpus_per_node: Option<u32>,
    /// Board power in watts as vendors commonly publish it.
    pub tdp_watts: Option<f64>,
    /// Whether the sources agree.
    pub status: Status,
    /// What to know about the numbers; may be empty.
    pub note: Cow<'static, str>,
    /// The sources' letters; [`source_title`] says what they stand for.
    pub sources: Vec<Cow<'static, str>>,
    /// The date on which they were read, as `YYYY-MM-DD`.
    pub as_of: Cow<'static, str>,
}

/// Dense peak rates; `None` is not supported or not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Peaks {
    /// In BF16.
    pub bf16: Option<FlopsPerSecond>,
    /// In FP16.
    pub fp16: Option<FlopsPerSecond>,
    /// In FP8.
    pub fp8: Option<FlopsPerSecond>,
    /// In INT8.
    pub int8: Option<FlopsPerSecond>,
    /// In FP4.
    pub fp4: Option<FlopsPerSecond>,
}

/// An id that no accelerator has. The message offers the nearest one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("No accelerator is called {}{}", quoted(.id), did_you_mean(*.meant))]
pub struct UnknownAccelerator {
    /// What was asked for.
    pub id: String,
    /// The id that resembles it most, if one does.
    pub meant: Option<&'static str>,
}

impl Precision {
    /// Every precision, as an input lists them.
    pub const ALL: [Self; 5] = [Self::Bf16, Self::Fp16, Self::Fp8, Self::Int8, Self::Fp4];

    /// Its name for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Bf16 => "BF16",
            Self::Fp16 => "FP16",
            Self::Fp8 => "FP8",
            Self::Int8 => "INT8",
            Self::Fp4 => "FP4",
        }
    }
}

impl Peaks {
    /// The peak in exactly this precision; [`peak`] falls back to others.
    #[must_use]
    pub fn of(&self, precision: Precision) -> Option<FlopsPerSecond> {
        match precision {
            Precision::Bf16 => self.bf16,
            Precision::Fp16 => self.fp16,
            Precision::Fp8 => self.fp8,
            Precision::Int8 => self.int8,
            Precision::Fp4 => self.fp4,
        }
    }
}

impl Accelerator {
    /// The memory to plan with: usable where known, else nominal, which errs on the low side.
    #[must_use]
    pub fn memory(&self) -> Bytes {
        self.usable.unwrap_or(self.capacity)
    }
}

/// Every accelerator of the table, in its order: by vendor, then by generation.
#[must_use]
pub fn all() -> &'static [Accelerator] {
    static ALL: LazyLock<Vec<Accelerator>> = LazyLock::new(table::accelerators);
    &ALL
}

/// The accelerator with exactly this id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static Accelerator> {
    all().iter().find(|accelerator| accelerator.id == id)
}

/// The accelerator with this id, in either case.
///
/// # Errors
/// If there is none; the error names the first id that begins like it, or else the one that resembles it most.
pub fn find(id: &str) -> Result<&'static Accelerator, UnknownAccelerator> {
    /// Below this similarity (0 to 1) a suggestion confuses more than it helps.
    const ALIKE: f64 = 0.75;
    let asked = id.trim().to_ascii_lowercase();
    if let Some(found) = by_id(&asked) {
        return Ok(found);
    }
    // The plainest board of a family comes first.
    let begins = |accelerator: &&Accelerator| !asked.is_empty() && accelerator.id.starts_with(&asked);
    let family = all().iter().find(begins).map(|accelerator| accelerator.id.as_ref());
    let likeness = |accelerator: &Accelerator| {
        let by = |text: &str| strsim::jaro_winkler(text, &asked);
        by(&accelerator.id).max(by(&accelerator.name.to_ascii_lowercase()))
    };
    let nearest = all().iter().map(|accelerator| (likeness(accelerator), accelerator.id.as_ref()));
    let nearest = nearest.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let meant = family.or(nearest.filter(|&(likeness, _)| likeness >= ALIKE).map(|(_, id)| id));
    Err(UnknownAccelerator { id: id.trim().to_owned(), meant })
}

/// What a source's letter stands for; `None` for a letter that no row has. All were read as stored copies.
#[must_use]
pub fn source_title(letter: &str) -> Option<&'static str> {
    Some(match letter {
        "S" => "ml-engineering by Stas Bekman: accelerator tables, August 2026",
        "A" => "NVIDIA aiconfigurator 0.12: system files",
        "G" => "Google Cloud: TPU documentation",
        "N" => "AWS Neuron documentation",
        "M" => "MLPerf: system descriptions",
        "HC" => "Intel at Hot Chips 2024",
        "D" => "vendor's data sheet, in copy",
        "H" => "hmc-tech: GPU tables",
        "V" => "verda.com: article on the GB300",
        "IS" => "InferSim by Alibaba",
        "L" => "llm-analysis by Cheng Li",
        "LC" => "llm-cal",
        "W" => "other web pages, the weakest source",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_and_names_are_unique_and_sources_have_titles() {
        let ids: HashSet<_> = all().iter().map(|accelerator| &accelerator.id).collect();
        let names: HashSet<_> = all().iter().map(|accelerator| &accelerator.name).collect();
        assert_eq!((ids.len(), names.len()), (all().len(), all().len()));
        for accelerator in all() {
            assert_eq!(accelerator.id, accelerator.id.to_lowercase());
            assert!(!accelerator.sources.is_empty(), "{}", accelerator.id);
            for letter in &accelerator.sources {
                assert!(source_title(letter).is_some(), "{letter}");
            }
        }
    }

    #[track_caller]
    fn resembles(id: &str, expected: Option<&str>) {
        assert_eq!(find(id).map_err(|error| error.meant), Err(expected));
    }

    #[test]
    fn an_unknown_id_gets_the_nearest_one() {
        assert_eq!(find(" H200-SXM ").map(|found| found.name.as_ref()), Ok("H200 SXM"));
        resembles("h200", Some("h200-sxm"));
        resembles("h100_sxm", Some("h100-sxm"));
        resembles("Instinct MI300X", Some("mi300x"));
        resembles("rtx4090", Some("rtx-4090"));
        resembles("zzz", None);
        resembles("", None);
        assert_eq!(find("b200").unwrap_err().to_string(), "No accelerator is called `b200`; did you mean `b200-sxm`?");
    }

    #[test]
    fn an_80_gb_h100_has_79_gib_and_not_80_billion_bytes() {
        let h100 = find("h100-sxm").unwrap();
        assert_eq!(h100.capacity, Bytes(80_000_000_000));
        // 79.18 * 2^30, rounded down.
        assert_eq!(h100.usable, Some(Bytes(85_018_877_624)));
        assert_eq!(h100.memory(), Bytes(85_018_877_624));
        assert_eq!(find("h200-sxm").unwrap().memory(), Bytes(141_000_000_000));
    }
}
