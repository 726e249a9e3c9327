//! Parameters of a token against published counts.
//!
//! Publishers count differently: with the input embedding that a token is looked up in, or without; some leave out the LM
//! head too. Each row says which, so that a match means something.

use crate::beside;
use rooflens::model::ModelSpec;
use rooflens::model::anatomy::Category;

/// What a published count holds beside the layers.
#[derive(Clone, Copy, Debug)]
enum Counts {
    /// Layers and LM head, which is what the description calls active.
    Head,
    /// Layers, LM head and input embedding.
    Both,
    /// Layers only.
    Layers,
}

use Counts::{Both, Head, Layers};

/// Config, billions, what they hold, who published them.
const PUBLISHED: &[(&str, f64, Counts, &str)] = &[
    ("mistralai__Mixtral-8x7B-v0.1.json", 12.9, Both, "Mistral AI, Mixtral of experts (announcement)"),
    ("mistralai__Mixtral-8x22B-v0.1.json", 39.0, Head, "Mistral AI, Mixtral 8x22B (announcement)"),
    ("databricks__dbrx.json", 36.0, Head, "Databricks, Introducing DBRX"),
    ("deepseek-ai__DeepSeek-V3.json", 37.0, Head, "DeepSeek-V3 Technical Report"),
    ("deepseek-ai__DeepSeek-R1.json", 37.0, Head, "DeepSeek, model card of DeepSeek-R1"),
    ("deepseek-ai__DeepSeek-V4-Flash.json", 13.0, Layers, "DeepSeek, model card of DeepSeek-V4-Flash"),
    ("deepseek-ai__DeepSeek-V4-Pro.json", 49.0, Head, "DeepSeek, model card of DeepSeek-V4-Pro"),
    ("moonshotai__Kimi-K2-Instruct.json", 32.0, Head, "Moonshot AI, model card of Kimi K2"),
    ("Qwen__Qwen3-235B-A22B.json", 22.0, Both, "Qwen3 Technical Report"),
    ("Qwen__Qwen3-30B-A3B.json", 3.3, Both, "model card of Qwen3-30B-A3B"),
    ("Qwen__Qwen3-Coder-480B-A35B-Instruct.json", 35.0, Head, "model card of Qwen3-Coder-480B-A35B"),
    ("zai-org__GLM-4.5.json", 32.0, Layers, "GLM-4.5 technical report"),
    ("zai-org__GLM-5-FP8.json", 40.0, Layers, "Z.ai, model card of GLM-5"),
    ("MiniMaxAI__MiniMax-M2.5.json", 10.0, Layers, "MiniMax, model card of MiniMax-M2"),
    ("openai__gpt-oss-120b.json", 5.13, Head, "OpenAI, gpt-oss model card: 5.13 B active of 116.83 B"),
    ("meta-llama__Llama-4-Maverick-17B-128E-Instruct-FP8.json", 17.0, Both, "Meta, model card of Llama 4"),
    ("meta-llama__Llama-4-Scout.json", 17.0, Both, "Meta, model card of Llama 4"),
    (
        "nvidia__NVIDIA-Nemotron-3-Nano-30B-A3B-BF16.json",
        3.6,
        Both,
        "NVIDIA, Nemotron 3 Nano: 3.2 B, 3.6 B with embeddings",
    ),
    ("nvidia__NVIDIA-Nemotron-3-Super-120B-A12B-FP8.json", 12.7, Both, "NVIDIA, Nemotron 3 Super: 12.7 B of 120.6 B"),
    ("google__gemma-4-26B-A4B.json", 3.8, Head, "Google, model card of Gemma 4 26B-A4B"),
    ("microsoft__Phi-mini-MoE-instruct.json", 2.4, Both, "Microsoft, model card of Phi-mini-MoE"),
    ("tencent__Hunyuan-A13B.json", 13.0, Both, "Tencent, Hunyuan-A13B technical report"),
    ("inclusionAI__Ling-plus-base.json", 28.8, Both, "Ling technical report"),
];

fn billions(spec: &ModelSpec, counts: Counts) -> f64 {
    let anatomy = spec.anatomy.as_ref().expect("described");
    let parameters = anatomy.parameters();
    let table = parameters.categories.of(Category::Embedding);
    let amount = match counts {
        Head => parameters.active,
        Both if anatomy.tied => parameters.active,
        Both => parameters.active + table,
        Layers => {
            parameters.active - parameters.categories.of(Category::Head).max(if anatomy.tied { table } else { 0 })
        }
    };
    amount as f64 / 1e9
}

/// By how much a value leaves what a published one may have been before it was rounded, in percent of it.
fn beyond_rounding(ours: f64, published: f64) -> f64 {
    let decimals = format!("{published}").split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let half = 0.5 / 10_f64.powi(decimals as i32);
    ((ours - published).abs() - half).max(0.0) / published * 100.0
}

#[test]
fn published_active_parameters() {
    let (mut compared, mut wrong) = (0, vec![]);
    for &(name, published, counts, source) in PUBLISHED {
        let Some(spec) = beside::published(name) else { continue };
        compared += 1;
        let ours = billions(&spec, counts);
        let error = (ours / published - 1.0) * 100.0;
        let all = [Layers, Head, Both].map(|counts| format!("{:.2}", billions(&spec, counts))).join(" / ");
        println!("active: {name}: {published} B ({source}, {counts:?}), described {ours:.2} ({error:+.1} %); {all}");
        if error.abs() > 2.0 || beyond_rounding(ours, published) > 1.0 {
            wrong.push(name);
        }
    }
    assert!(compared >= 17 && wrong.is_empty(), "{compared} compared, wrong: {wrong:?}");
}

#[test]
fn what_rounding_explains() {
    assert_eq!((beyond_rounding(36.63, 37.0), beyond_rounding(3.34, 3.3)), (0.0, 0.0));
    assert!((beyond_rounding(36.0, 37.0) - 0.5 / 37.0 * 100.0).abs() < 1e-9);
    assert!((beyond_rounding(5.235, 5.13) - 0.1 / 5.13 * 100.0).abs() < 1e-9);
}

/// Two of them without files beside the project.
#[test]
fn active_parameters_of_the_project() {
    let oss = crate::memory::gpt_oss(36, 128);
    let parameters = oss.anatomy.as_ref().unwrap().parameters();
    assert_eq!(parameters.total(), 116_829_156_672);
    assert!((billions(&oss, Head) / 5.13 - 1.0).abs() < 0.02);
    let mixtral = beside::model(
        r#"{"model_type": "mixtral", "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
        "num_hidden_layers": 32, "intermediate_size": 14336, "num_local_experts": 8, "num_experts_per_tok": 2,
        "vocab_size": 32000, "tie_word_embeddings": false}"#,
    );
    assert_eq!(mixtral.anatomy.as_ref().unwrap().parameters().total(), 46_702_792_704);
    assert!((billions(&mixtral, Both) / 12.9 - 1.0).abs() < 0.02);
}
