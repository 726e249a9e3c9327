//! Which component a kernel belongs to, by its name: a list of rules that can be read and edited.
//!
//! One rule a line, `component: pattern`. The first rule that matches counts, so their order matters. A pattern is
//! looked for anywhere in the name, without regard to the case of a to z; `*` stands for any text. The component ends
//! at the first colon, so that a pattern can hold colons. Lines that are empty or begin with `#` are skipped.

use crate::format::quoted;

/// The rules that are used unless there are others: names of vLLM's kernels and of the libraries that it calls.
pub const DEFAULT_RULES: &str = include_str!("rules.txt");

/// The largest list that is read, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// A list of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    rules: Vec<Rule>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The component that its kernels belong to.
    pub component: String,
    /// The pattern as it was written.
    pub pattern: String,
    /// The texts between its stars, in lower case.
    parts: Vec<String>,
}

/// Why a list of rules cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// A line is no rule.
    #[error("Line {line} of the rules: found {found}, expected {expected}.")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is there.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
    /// The list is too long.
    #[error("The rules are larger than 64 KiB, the most that is read.")]
    TooLarge,
}

impl Rules {
    /// Reads a list of rules. An empty list is one: nothing matches.
    ///
    /// # Errors
    /// Names the first line that is no rule.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        if text.len() > MAX_BYTES {
            return Err(RuleError::TooLarge);
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        lines.map(|(at, line)| Rule::parse(at, line)).collect::<Result<_, _>>().map(|rules| Self { rules })
    }

    /// The rules, in their order.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The component of a kernel: that of the first rule that matches its name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<&str> {
        let name = name.to_ascii_lowercase();
        self.rules.iter().find(|rule| rule.matches(&name)).map(|rule| rule.component.as_str())
    }
}

impl Default for Rules {
    /// [`DEFAULT_RULES`].
    fn default() -> Self {
        // A test reads them; there are no others to fall back to.
        Self::parse(DEFAULT_RULES).unwrap_or(Self { rules: Vec::new() })
    }
}

impl Rule {
    fn parse(line: usize, text: &str) -> Result<Self, RuleError> {
        let fail = |found: String, expected| Err(RuleError::Line { line, found, expected });
        let Some((component, pattern)) = text.split_once(':') else {
            return fail(quoted(text), "`component: pattern`");
        };
        let (component, pattern) = (component.trim(), pattern.trim());
        if component.is_empty() {
            return fail(quoted(text), "a component before the colon");
        }
        if pattern.is_empty() {
            return fail(quoted(text), "a pattern after the colon (`*` matches every name)");
        }
        let parts =
            pattern.to_ascii_lowercase().split('*').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Ok(Self { component: component.to_owned(), pattern: pattern.to_owned(), parts })
    }

    /// Whether the parts stand one after the other in a name in lower case. As nothing is bound to an end of the name,
    /// the first place of each part leaves the most room for the next one.
    fn matches(&self, name: &str) -> bool {
        let mut rest = name;
        self.parts.iter().all(|part| match rest.split_once(part.as_str()) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn belongs(name: &str, component: &str) {
        assert_eq!(Rules::default().component(name), Some(component), "{name}");
    }

    #[track_caller]
    fn refused(text: &str, message: &str) {
        assert_eq!(Rules::parse(text).unwrap_err().to_string(), message);
    }

    #[test]
    fn the_default_rules_are_rules() {
        let rules = Rules::parse(DEFAULT_RULES).unwrap();
        assert!(rules.rules().len() > 50);
        assert_eq!(rules, Rules::default());
    }

    #[test]
    fn attention_kernels() {
        let ours = |name| belongs(name, "attention");
        ours(
            "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::CollectiveMainloop",
        );
        ours("void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>, false>");
        ours("flash::prepare_varlen_num_blocks_kernel");
        ours("void flash_fwd_splitkv_mla_kernel<Flash_fwd_kernel_traits_mla<576, 64>>");
        ours("void vllm::paged_attention_v2_kernel<__nv_bfloat16, 128, 16>");
        ours("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char>");
        ours("void vllm::concat_and_cache_mla_kernel<__nv_bfloat16>");
        ours("kernel_unified_attention_2d");
        ours("void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0>");
        ours("fmhaSm100fKernel_QkvE4m3OBfloat16H128PagedKvCausalP32VarSeqQ128Kv128PersistentContext");
        ours("void deep_gemm::sm90_fp8_mqa_logits<64u, 128u>");
        ours("void vllm::merge_attn_states_kernel<unsigned short, 128u>");
        ours("_fwd_grouped_kernel_stage1");
    }

    #[test]
    fn experts_before_dense_products() {
        let ours = |name| belongs(name, "MoE");
        ours("fused_moe_kernel");
        ours("void marlin_moe_wna16::Marlin<(long)1125899906843648>");
        ours("void vllm::moe::topkGatingSoftmax<8, 128, 4, 16>");
        ours("void vllm::moe::moe_align_block_size_kernel<int>");
        ours("void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 4096u, 7168u, 256u, (deep_gemm::GemmType)2>");
        ours("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape<int>>");
        ours("bmm_E2m1_E2m1E2m1_Fp32_t128x8x512_s7_et64x8_m128x8x64_cga1x1x1_16dp256b_TN_transOut_schedS");
        ours("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x256x128x1_swiglu");
        ours("_fwd_kernel_ep_scatter_1");
    }

    #[test]
    fn dense_products() {
        let ours = |name| belongs(name, "GEMM/FFN");
        ours("nvjet_tst_128x64_64x8_2x1_v_bz_TNT");
        ours("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_cublas");
        ours("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x3_tn_align8>");
        ours("void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>");
        ours("_w8a8_triton_block_scaled_mm");
        ours("void marlin::Marlin<__nv_bfloat16, 1125899906843648l>");
        ours("void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 4096u, 7168u, 256u, (deep_gemm::GemmType)0>");
        ours("triton_tem_fused_mm_0");
        ours("Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64");
        // Holds "mla" by chance.
        ours("void gemmlayout_kernel");
    }

    #[test]
    fn communication_kernels() {
        let ours = |name| belongs(name, "communication");
        ours("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
        ours("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>");
        ours("void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(int)4>");
        ours("void c10d::symmetric_memory::multimem_one_shot_all_reduce_kernel<c10::BFloat16>");
        ours("void deep_ep::internode_ll::dispatch<true, 3, 10, 7168>");
        ours("void deep_ep::internode_ll::combine<7168, 10, 3>");
        ours("moeA2ADispatchKernel");
    }

    #[test]
    fn the_small_ones() {
        belongs("std::enable_if<...> vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>", "norm and rotary");
        belongs("void vllm::rotary_embedding_kernel<c10::BFloat16, true>", "norm and rotary");
        belongs("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", "norm and rotary");
        belongs("triton_poi_fused_mul_silu_slice_1", "activation and quantization");
        belongs("void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel>", "activation and quantization");
        belongs("_silu_mul_fp8_quant_deep_gemm", "activation and quantization");
        belongs("void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16>", "activation and quantization");
        belongs(
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float>>>",
            "sampling",
        );
        belongs("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float>", "sampling");
        belongs("Memcpy DtoD (Device -> Device)", "copies");
        belongs("Memset (Device)", "copies");
        belongs("void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::OpaqueType<2u>>", "copies");
        belongs("triton_poi_fused_add_0", "elementwise and indexing");
        belongs(
            "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>>",
            "elementwise and indexing",
        );
        belongs("chunk_gated_delta_rule_fwd_kernel_h_blockdim64", "linear attention");
        assert_eq!(Rules::default().component("my_own_kernel"), None);
    }

    #[test]
    fn the_first_match_counts_and_stars_are_any_text() {
        let rules = Rules::parse("# mine\n\n  a : x*Y \nb b: deep_ep::x\nc: *").unwrap();
        let of = |name| rules.component(name).unwrap();
        assert_eq!((of("..X..y.."), of("xy"), of("yx")), ("a", "a", "c"));
        assert_eq!((of("DEEP_EP::X"), of("")), ("b b", "c"));
        assert_eq!(Rules::parse("").unwrap().component("x"), None);
        assert_eq!(rules.rules()[0].pattern, "x*Y");
    }

    #[test]
    fn what_is_no_rule_is_named_with_its_line() {
        refused("a: b\n\ngemm", "Line 3 of the rules: found `gemm`, expected `component: pattern`.");
        refused(": b", "Line 1 of the rules: found `: b`, expected a component before the colon.");
        refused("a:", "Line 1 of the rules: found `a:`, expected a pattern after the colon (`*` matches every name).");
        refused(&"#".repeat(MAX_BYTES + 1), "The rules are larger than 64 KiB, the most that is read.");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*|([a: *#\n]{0,40})", name in "\\PC*") {
            if let Ok(rules) = Rules::parse(&text) {
                let _ = rules.component(&name);
            }
        }
    }
}
