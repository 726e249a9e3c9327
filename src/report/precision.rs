//! The precision that the matrix multiplications of a checkpoint run in, which decides about the compute roof.

use crate::hardware::Precision;
use crate::model::Dtype;

/// A precision, and what was assumed to arrive at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputePrecision {
    /// The precision.
    pub precision: Precision,
    /// What a reader should know about the choice, as a sentence; `None` where it follows from the method.
    pub assumed: Option<&'static str>,
}

/// The compute precision of a quantization method, as the checkpoint names it, served in a dtype.
///
/// Formats that quantize weights only (AWQ, GPTQ, MXFP4 checkpoints, INT8 experts) widen them and multiply in 16 bit.
#[must_use]
pub fn compute_precision(method: Option<&str>, dtype: Dtype) -> ComputePrecision {
    let (plain, plain_note) = match dtype {
        Dtype::BFloat16 => (Precision::Bf16, None),
        Dtype::Float16 => (Precision::Fp16, None),
        Dtype::Float32 => {
            (Precision::Bf16, Some("FP32 rates are not in the data: drawn against the BF16 roof, which flatters."))
        }
    };
    let (precision, assumed) = match method {
        None | Some("") => (plain, plain_note),
        Some("fp8" | "fbgemm_fp8" | "ptpc_fp8" | "modelopt" | "modelopt_mxfp8" | "deepseek_v4_fp8") => {
            (Precision::Fp8, None)
        }
        Some("modelopt_fp4" | "fp_quant") => (Precision::Fp4, None),
        Some(
            "awq" | "awq_marlin" | "auto_awq" | "gptq" | "gptq_marlin" | "auto_gptq" | "moe_wna16" | "inc" | "mxfp4"
            | "gpt_oss_mxfp4" | "petit_nvfp4" | "experts_int8" | "bitsandbytes" | "gguf",
        ) => (plain, Some("Only weights are quantized: multiplied in 16 bit.")),
        Some("compressed-tensors" | "torchao" | "quark" | "modelopt_mixed") => {
            (plain, Some("The method covers several schemes: 16 bit is assumed, choose the precision if you know it."))
        }
        Some(_) => (plain, Some("The method is not known here: 16 bit is assumed.")),
    };
    ComputePrecision { precision, assumed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_only_formats_compute_in_16_bit() {
        let of = |method| compute_precision(method, Dtype::BFloat16).precision;
        assert_eq!(of(None), Precision::Bf16);
        assert_eq!(of(Some("fp8")), Precision::Fp8);
        assert_eq!(of(Some("gptq")), Precision::Bf16);
        assert_eq!(of(Some("mxfp4")), Precision::Bf16);
        assert_eq!(of(Some("modelopt_fp4")), Precision::Fp4);
        assert!(compute_precision(Some("compressed-tensors"), Dtype::Float16).assumed.is_some());
    }
}
