//! Reading `accelerators.tsv`. What is wrong with it is for the tests to find: a row that does not read is left out.

use std::borrow::Cow;
use std::str::Split;

use super::{Accelerator, Peaks, Status};
use crate::units::{Bytes, BytesPerSecond, FlopsPerSecond};

static TABLE: &str = include_str!("accelerators.tsv");

const COLUMNS: &str = "id\tname\tvendor\tbf16\tfp16\tfp8\tint8\tfp4\thbm_gbs\thbm_gb\tusable_gib\tscaleup_gbs_oneway\t\
                       nic_gbs\tgpus_per_node\ttdp_w\tstatus\tnote\tsource\tas_of";

const GIGA: u128 = 1_000_000_000;
const TERA: u128 = 1_000_000_000_000;
const GIBI: u128 = 1 << 30;

/// A row that is not what the columns say.
#[derive(Debug, PartialEq)]
struct Unreadable;

pub(super) fn accelerators() -> Vec<Accelerator> {
    let mut lines = TABLE.lines();
    if lines.next() != Some(COLUMNS) {
        return Vec::new();
    }
    lines.filter_map(|line| accelerator(line).ok()).collect()
}

fn accelerator(line: &'static str) -> Result<Accelerator, Unreadable> {
    let mut row = Row(line.split('\t'));
    let accelerator = Accelerator {
        id: row.text()?,
        name: row.text()?,
        vendor: row.text()?,
        peaks: Peaks { bf16: row.peak()?, fp16: row.peak()?, fp8: row.peak()?, int8: row.peak()?, fp4: row.peak()? },
        bandwidth: row.rate()?.ok_or(Unreadable)?,
        capacity: row.number(GIGA)?.map(Bytes).ok_or(Unreadable)?,
        usable: row.number(GIBI)?.map(Bytes),
        scale_up: row.rate()?,
        nic: row.rate()?,
        gpus_per_node: row.optional(|cell| cell.parse().ok())?,
        tdp_watts: row.number(1)?.map(|watts| watts as f64),
        status: match row.cell()? {
            "ok" => Status::Ok,
            "disputed" => Status::Disputed,
            _ => return Err(Unreadable),
        },
        note: row.text()?,
        sources: row.cell()?.split(',').map(Cow::Borrowed).collect(),
        as_of: row.text()?,
    };
    // More cells than columns, and some of them were read as others.
    if row.cell().is_ok() { Err(Unreadable) } else { Ok(accelerator) }
}

/// The cells that are left of a row.
struct Row(Split<'static, char>);

impl Row {
    fn cell(&mut self) -> Result<&'static str, Unreadable> {
        self.0.next().ok_or(Unreadable)
    }

    fn text(&mut self) -> Result<Cow<'static, str>, Unreadable> {
        self.cell().map(Cow::Borrowed)
    }

    /// `None` is an empty cell.
    fn optional<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, Unreadable> {
        match self.cell()? {
            "" => Ok(None),
            cell => read(cell).map(Some).ok_or(Unreadable),
        }
    }

    fn number(&mut self, factor: u128) -> Result<Option<u128>, Unreadable> {
        self.optional(|cell| scaled(cell, factor))
    }

    fn peak(&mut self) -> Result<Option<FlopsPerSecond>, Unreadable> {
        Ok(self.number(TERA)?.map(|rate| FlopsPerSecond(rate as f64)))
    }

    fn rate(&mut self) -> Result<Option<BytesPerSecond>, Unreadable> {
        Ok(self.number(GIGA)?.map(|rate| BytesPerSecond(rate as f64)))
    }
}

/// A decimal number times a factor, exact and rounded down: 79.18 GiB is no whole number of bytes.
fn scaled(cell: &str, factor: u128) -> Option<u128> {
    let (whole, decimals) = cell.split_once('.').unwrap_or((cell, ""));
    let number: u128 = [whole, decimals].concat().parse().ok()?;
    let ten = 10_u128.checked_pow(decimals.len().try_into().ok()?)?;
    number.checked_mul(factor)?.checked_div(ten)
}

#[cfg(test)]
mod tests {
    use super::super::{Precision, all, find};
    use super::*;

    #[test]
    fn every_row_reads() {
        assert_eq!(TABLE.lines().next(), Some(COLUMNS));
        for line in TABLE.lines().skip(1) {
            assert!(accelerator(line).is_ok(), "{line}");
        }
        assert_eq!(all().len(), TABLE.lines().count() - 1);
        assert!(all().len() >= 38);
    }

    #[test]
    fn every_row_is_plausible() {
        for row in all() {
            let half = row.peaks.bf16.or(row.peaks.fp16).unwrap_or_default().0;
            assert!((1e13..1e16).contains(&half), "{}: 16-bit peak {half}", row.id);
            assert!((1e11..1e13).contains(&row.bandwidth.0), "{}: bandwidth", row.id);
            assert!((15 * GIGA..400 * GIGA).contains(&row.capacity.0), "{}: capacity", row.id);
            assert!(row.usable.is_none_or(|usable| usable.0 <= row.capacity.0 / GIGA * GIBI), "{}: usable", row.id);
            assert!(row.scale_up.is_none_or(|rate| (1e10..1e12).contains(&rate.0)), "{}: link", row.id);
            assert_eq!(row.as_of.len(), "2026-01-31".len(), "{}: date", row.id);
        }
    }

    #[track_caller]
    fn peak(id: &str, precision: Precision, tera: Option<f64>) {
        assert_eq!(find(id).unwrap().peaks.of(precision).map(|rate| rate.0), tera.map(|tera| tera * 1e12));
    }

    #[test]
    fn peaks_are_dense() {
        peak("h100-sxm", Precision::Bf16, Some(989.0));
        peak("h100-sxm", Precision::Fp8, Some(1979.0));
        peak("l40s", Precision::Fp8, Some(733.0));
        peak("l4", Precision::Fp8, Some(242.5));
        peak("b200-sxm", Precision::Fp4, Some(9000.0));
        peak("b300-sxm", Precision::Int8, Some(150.0));
        peak("mi300x", Precision::Bf16, Some(1307.0));
        peak("a100-80-sxm", Precision::Bf16, Some(312.0));
        peak("a100-80-sxm", Precision::Fp8, None);
        peak("v100-sxm2-32", Precision::Int8, None);
        // Half the bits are twice the rate; with sparsity it would be four times.
        for row in all() {
            let wide = [row.peaks.bf16, row.peaks.fp16].into_iter().flatten().map(|rate| rate.0).fold(0.0, f64::max);
            for narrow in [row.peaks.fp8, row.peaks.int8].into_iter().flatten() {
                assert!(narrow.0 <= 2.05 * wide, "{}: {} of {wide}", row.id, narrow.0);
            }
        }
    }

    #[test]
    fn links_are_one_way() {
        let h100 = find("h100-sxm").unwrap();
        assert_eq!((h100.scale_up, h100.nic), (Some(BytesPerSecond(450e9)), Some(BytesPerSecond(50e9))));
        assert_eq!(find("a100-80-sxm").unwrap().nic, Some(BytesPerSecond(25e9)));
        assert_eq!((h100.gpus_per_node, h100.tdp_watts), (Some(8), Some(700.0)));
        // Vendors print twice as much, for both directions together.
        for (both, ids) in [
            (400.0, &["a800-80-sxm", "h800-sxm"][..]),
            (600.0, &["a100-40-sxm", "a100-80-sxm"]),
            (896.0, &["mi300x", "mi325x"]),
            (900.0, &["h100-sxm", "h200-sxm", "h20", "gh200-96"]),
            (1800.0, &["b200-sxm", "gb200", "b300-sxm", "gb300"]),
            (64.0, &["l4", "l40s", "a100-80-pcie"]),
            (128.0, &["h100-pcie", "rtx-5090"]),
        ] {
            for id in ids {
                assert_eq!(find(id).unwrap().scale_up, Some(BytesPerSecond(both / 2.0 * 1e9)), "{id}");
            }
        }
    }

    #[test]
    fn broken_rows_do_not_read() {
        let row = TABLE.lines().nth(1).unwrap();
        for broken in
            [format!("{row}\tmore"), row.replace("\tok\t", "\tfine\t"), row.replace("900", "fast"), "x".into()]
        {
            assert_eq!(accelerator(broken.leak()), Err(Unreadable));
        }
        assert_eq!(scaled("79.18", GIBI), Some(85_018_877_624));
        assert_eq!((scaled(".", 1), scaled("-1", 1), scaled("1e3", 1)), (None, None, None));
    }
}
