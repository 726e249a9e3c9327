//! Short names for the data that a comparison only refers to, so that a change of it is noticed.
//!
//! A link names accelerators and presets by id. If their numbers change, the link opens with the new ones, and must say
//! so. 24 bits of a CRC-32 are enough for that: one change in 16 million goes unnoticed.

use crate::crc32::crc32;
use crate::hardware::Accelerator;
use crate::model::presets::Preset;

const BITS: u32 = 0x00FF_FFFF;

/// The revision of the numbers of an accelerator; its name and note do not count.
#[must_use]
pub fn of_accelerator(accelerator: &Accelerator) -> u32 {
    let peaks = &accelerator.peaks;
    let rates = [peaks.bf16, peaks.fp16, peaks.fp8, peaks.int8, peaks.fp4].map(|peak| peak.map(|rate| rate.0));
    let links =
        [Some(accelerator.bandwidth), accelerator.scale_up, accelerator.nic].map(|link| link.map(|rate| rate.0));
    // No rate is NaN, so that its bits can stand for none.
    let rates = rates.into_iter().chain(links).map(|rate| u128::from(rate.unwrap_or(f64::NAN).to_bits()));
    let amounts = [
        accelerator.capacity.0,
        accelerator.usable.map_or(u128::MAX, |usable| usable.0),
        accelerator.gpus_per_node.map_or(u128::MAX, u128::from),
    ];
    let bytes: Vec<u8> = rates.chain(amounts).flat_map(u128::to_le_bytes).collect();
    crc32(&bytes) & BITS
}

/// The revision of a preset: of its config.
#[must_use]
pub fn of_preset(preset: &Preset) -> u32 {
    crc32(preset.config.root.to_compact().as_bytes()) & BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware;
    use crate::model::presets::builtin;
    use crate::units::{Bytes, BytesPerSecond};

    #[test]
    fn a_revision_follows_the_numbers_and_nothing_else() {
        let h200 = hardware::by_id("h200-sxm").unwrap();
        let revision = of_accelerator(h200);
        assert_eq!(of_accelerator(&Accelerator { note: "new".into(), tdp_watts: None, ..h200.clone() }), revision);
        for other in [
            Accelerator { bandwidth: BytesPerSecond(1.0), ..h200.clone() },
            Accelerator { usable: Some(Bytes(1)), ..h200.clone() },
            Accelerator { gpus_per_node: None, ..h200.clone() },
        ] {
            assert_ne!(of_accelerator(&other), revision);
        }
    }

    #[test]
    fn no_id_is_of_a_preset_and_of_an_accelerator() {
        for preset in builtin() {
            assert!(hardware::by_id(&preset.id).is_none(), "{}", preset.id);
        }
    }
}
