use super::*;

#[track_caller]
fn model(config: &str) -> ModelSpec {
    read(config, None, ClassTable::builtin()).unwrap_or_else(|error| panic!("{error}: {config}"))
}

#[track_caller]
fn head_dim(config: &str, expected: u64) {
    assert_eq!(model(config).head_dim.ok(), Some(expected), "{config}");
}

#[test]
fn heads_have_a_size_of_their_own() {
    // Each would be hidden_size / num_attention_heads otherwise: 160, 45, 80, 240, 192.
    let mistral_small = r#""hidden_size": 5120, "num_attention_heads": 32, "num_key_value_heads": 8"#;
    head_dim(&format!(r#"{{"model_type": "mistral", {mistral_small}, "head_dim": 128}}"#), 128);
    head_dim(r#"{"model_type": "gpt_oss", "num_hidden_layers": 24, "num_local_experts": 32}"#, 64);
    head_dim(
        r#"{"model_type": "qwen3", "hidden_size": 5120, "num_attention_heads": 64, "num_key_value_heads": 8,
        "head_dim": 128}"#,
        128,
    );
    head_dim(
        r#"{"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 3840,
        "num_hidden_layers": 48, "num_attention_heads": 16, "num_key_value_heads": 8}}"#,
        256,
    );
    head_dim(r#"{"model_type": "gemma", "hidden_size": 3072, "num_attention_heads": 16}"#, 256);
    // What says nothing is derived.
    for nothing in ["", r#", "head_dim": null"#, r#", "head_dim": 0"#] {
        head_dim(
            &format!(r#"{{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32{nothing}}}"#),
            128,
        );
        head_dim(&format!(r#"{{"model_type": "mistral", {mistral_small}{nothing}}}"#), 160);
    }
}

#[test]
fn the_language_model_is_found_wherever_it_stands() {
    let part = r#"{"model_type": "MODEL", "hidden_size": 3584, "num_hidden_layers": 28, "num_attention_heads": 28,
        "num_key_value_heads": 4, "vocab_size": 1000, "intermediate_size": 18944}"#;
    let tower = r#""vision_config": {"hidden_size": 1152, "num_hidden_layers": 27, "num_attention_heads": 16,
        "num_key_value_heads": 16, "num_heads": 16, "intermediate_size": 4304}"#;
    for (outer, inner, path) in [
        ("llava", "llama", "text_config"),
        ("qwen2_5_omni", "qwen2_5_omni_text", "thinker_config.text_config"),
        ("internvl_chat", "internlm2", "llm_config"),
        ("multi_modality", "llama", "language_config"),
        ("never_seen", "llama", "text_config"),
        ("never_seen", "llama", "llm_config"),
        ("never_seen", "llama", "language_config"),
    ] {
        let nested =
            path.split('.').rev().fold(part.replace("MODEL", inner), |node, key| format!(r#"{{"{key}": {node}}}"#));
        // The tower comes first, beside the language model and at the top.
        let nested = nested.replacen('{', &format!("{{{tower}, "), 1);
        let spec = model(&nested.replacen('{', &format!(r#"{{"model_type": "{outer}", "#), 1));
        let found = [&spec.hidden, &spec.layers, &spec.heads, &spec.kv_heads, &spec.vocab].map(Reading::ok);
        assert_eq!(found, [3584, 28, 28, 4, 1000].map(Some), "{outer}: {path}");
        assert_eq!(spec.text_path, path, "{outer}");
    }
}

#[test]
fn what_a_text_config_leaves_out_is_its_classes() {
    let gemma = model(
        r#"{"model_type": "gemma3", "text_config": {"hidden_size": 2560, "intermediate_size": 10240,
        "model_type": "gemma3_text", "num_hidden_layers": 34}, "vision_config": {"num_attention_heads": 16}}"#,
    );
    let fields = |spec: &ModelSpec| [&spec.heads, &spec.kv_heads, &spec.head_dim, &spec.vocab].map(Reading::ok);
    assert_eq!(fields(&gemma), [8, 4, 256, 262_208].map(Some));
    let llava = model(
        r#"{"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064},
        "vision_config": {"num_attention_heads": 16, "hidden_size": 1024, "num_hidden_layers": 24}}"#,
    );
    assert_eq!(fields(&llava), [32, 32, 128, 32_064].map(Some));
    assert_eq!((llava.hidden.ok(), llava.layers.ok(), llava.intermediate.ok()), (Some(4096), Some(32), Some(11_008)));
}

#[test]
fn parameters_of_sampling_are_none_of_the_model() {
    let vision = model(
        r#"{"model_type": "mllama", "text_config": {"model_type": "mllama_text_model", "top_k": 50, "top_p": 1.0,
        "num_beams": 1, "temperature": 1.0}}"#,
    );
    assert_eq!(
        (vision.experts.ok(), vision.experts_per_token.ok(), vision.moe_layers.ok()),
        (Some(0), Some(0), Some(0))
    );
}

#[test]
fn a_window_that_is_not_used_is_none() {
    let qwen = |more: &str| {
        let spec = model(&format!(
            r#"{{"model_type": "qwen2", "sliding_window": 131072, "max_window_layers": 28, "num_hidden_layers": 28{more}}}"#
        ));
        (spec.window.ok(), spec.sliding_layers.ok())
    };
    assert_eq!(qwen(""), (Some(0), Some(0)));
    assert_eq!(qwen(r#", "use_sliding_window": false"#), (Some(0), Some(0)));
    assert_eq!(qwen(r#", "use_sliding_window": true"#), (Some(131_072), Some(0)));
}

#[test]
fn layers_slide_by_the_pattern_of_their_class() {
    let sliding = |config: &str| model(config).sliding_layers.ok();
    assert_eq!(sliding(r#"{"model_type": "gemma2"}"#), Some(13));
    assert_eq!(sliding(r#"{"model_type": "gemma3_text"}"#), Some(22));
    assert_eq!(sliding(r#"{"model_type": "gpt_oss"}"#), Some(18));
    assert_eq!(sliding(r#"{"model_type": "olmo3"}"#), Some(24));
    assert_eq!(sliding(r#"{"model_type": "mistral", "sliding_window": 4096}"#), Some(32));
}

#[test]
fn numbers_that_only_python_writes_are_read() {
    let spec = model(
        r#"{"model_type": "nemotron_h", "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 100,
        "hybrid_override_pattern": "M*-", "time_step_limit": [0.0, Infinity], "time_step_floor": -Infinity, "x": NaN,}"#,
    );
    assert_eq!((spec.hidden.ok(), spec.layers.ok()), (Some(64), Some(3)));
    assert!(spec.notes.iter().any(|note| note.text.contains("comma")), "{:?}", spec.notes);
}

#[test]
fn other_documents_are_refused_by_name() {
    for (config, what) in [
        (r#"{"peft_type": "LORA", "r": 16, "base_model_name_or_path": "x"}"#, "an adapter config"),
        (
            r#"{"_class_name": "FluxTransformer2DModel", "num_layers": 19, "num_attention_heads": 24}"#,
            "a diffusion pipeline",
        ),
        (
            r#"{"model_type": "siglip_vision_model", "hidden_size": 1152, "num_attention_heads": 16, "image_size": 384,
            "num_hidden_layers": 27, "patch_size": 14}"#,
            "a vision encoder",
        ),
    ] {
        let error = read(config, None, ClassTable::builtin()).unwrap_err().to_string();
        assert!(error.starts_with("this looks like") && error.contains(what), "{error}");
    }
}
