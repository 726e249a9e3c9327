use super::*;
use crate::batch::case::VerifyAs;
use crate::settings::QuantizationChoice;
use proptest::prelude::*;
use std::num::NonZeroU32;

fn command(cases: &[&str]) -> Command {
    Command {
        model: "deepseek-ai/DeepSeek-V3".to_owned(),
        layout: Layout::default(),
        quantization: None,
        kv_cache: KvDtype::AUTO,
        dtype: None,
        run: Run::default(),
        cases: cases.iter().map(|case| Case::parse(case).unwrap()).collect(),
    }
}

fn size(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

/// Everything set, on two nodes.
fn everything() -> Command {
    let mut all = command(&["mix=8192,16*1@8192,16*1@8192", "it's=16*4@4096:3"]);
    all.layout = Layout { tp: size(4), pp: size(2), dp: size(2), ep: true };
    all.quantization = Some("fp8".to_owned());
    all.kv_cache = KvDtype::named("fp8").unwrap();
    all.dtype = Some(Dtype::BFloat16);
    for (key, text) in [
        ("max_model_len", "131072"),
        ("kv_len_jitter", "0"),
        ("seed", "7"),
        ("routing", "balanced"),
        ("iters", "50"),
        ("samples", "3"),
        ("profile", "true"),
        ("exclude_drafter", "true"),
    ] {
        all.run.set(key, text).unwrap();
    }
    all
}

#[test]
fn one_gpu_one_node_and_two() {
    insta::assert_snapshot!(command(&["decode=32*1@8192"]).to_shell(), @r"
    vllm bench forward \
      --model deepseek-ai/DeepSeek-V3 \
      --kv-len-jitter 0.5 \
      --seed 0 \
      --case 'decode=32*1@8192' \
      --output-json forward.json
    ");
    let mut node = command(&["8192"]);
    node.layout.tp = size(8);
    insta::assert_snapshot!(node.to_shell(), @r"
    torchrun --nproc-per-node=8 \
      -m vllm.entrypoints.cli.main bench forward \
      --model deepseek-ai/DeepSeek-V3 \
      --tensor-parallel-size 8 \
      --kv-len-jitter 0.5 \
      --seed 0 \
      --case 8192 \
      --output-json forward.json
    ");
    insta::assert_snapshot!(everything().to_shell(), @r#"
    torchrun --nproc-per-node=8 --nnodes=2 --node-rank="$NODE_RANK" --master-addr="$MASTER_ADDR" \
      -m vllm.entrypoints.cli.main bench forward \
      --model deepseek-ai/DeepSeek-V3 \
      --tensor-parallel-size 4 \
      --pipeline-parallel-size 2 \
      --data-parallel-size 2 \
      --quantization fp8 \
      --kv-cache-dtype fp8 \
      --dtype bfloat16 \
      --max-model-len 131072 \
      --kv-len-jitter 0 \
      --seed 7 \
      --routing balanced \
      --iters 50 \
      --samples 3 \
      --speculative-config '{"num_speculative_tokens": 3}' \
      --case 'mix=8192,32*1@8192' \
      --case 'it'\''s=16*4@4096:3' \
      --output-json forward.json \
      --profile-dir profile \
      --enable-expert-parallel \
      --exclude-drafter
    "#);
}

#[test]
fn commands_as_people_write_them_are_read() {
    let text = "$ CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 -m vllm.entrypoints.cli.main bench forward \\\n \
                --model=/data/llama -tp 2 --case decode=32*1@8192 'mix=8192, 32*1@8192' --case 8192 \
                --gpu-memory-utilization 0.9 --enforce-eager --shapes \"my shapes.yaml\" --dtype auto # try";
    let parsed = parse(text).unwrap();
    assert_eq!(parsed.command.model, "/data/llama");
    assert_eq!(parsed.command.layout.tp, size(2));
    let cases: Vec<String> = parsed.command.cases.iter().map(Case::to_text).collect();
    assert_eq!(cases, ["decode=32*1@8192", "mix=8192,32*1@8192", "8192"]);
    assert_eq!(parsed.left, ["--gpu-memory-utilization 0.9", "--enforce-eager"]);
    assert_eq!(parsed.shapes.as_deref(), Some("my shapes.yaml"));
}

#[test]
fn nodes_lengths_and_names_that_look_like_flags() {
    let text = "torchrun --nproc-per-node=4 --nnodes=4 --node-rank=0 --master-addr=h -m vllm.entrypoints.cli.main bench \
                forward --model m -tp 16 --max-model-len 128K --case=--x=8192";
    let parsed = parse(text).unwrap();
    assert_eq!((parsed.command.run.gpus_per_node, parsed.command.run.jitter.max_model_len), (4, Some(131_072)));
    assert!(parsed.command.to_shell().contains("--nproc-per-node=4 --nnodes=4"));
    assert!(parsed.command.to_shell().contains("--case=--x=8192"));
    assert_eq!(parse(&parsed.command.to_shell()).unwrap().command.cases, parsed.command.cases);
    let fits = parse("vllm bench forward --max-model-len=-1").unwrap();
    assert_eq!(fits.command.run.jitter.max_model_len, None);
}

#[test]
fn what_is_no_command_says_why() {
    let texts = [
        "vllm serve x",
        "don't",
        "vllm bench forward --case 'a",
        "vllm bench forward --model",
        "vllm bench forward --case 1@0",
        "vllm bench forward -tp none",
        "vllm bench forward --dtype fp64",
        "vllm bench forward --kv-cache-dtype fp3",
        "vllm bench forward --kv-len-jitter 2",
        "vllm bench forward --routing best",
        "vllm bench forward --enable-expert-parallel perhaps",
        "torchrun --nproc-per-node 8 -m vllm.entrypoints.cli.main bench forward -tp 4",
        "vllm bench forward --speculative-config '{\"num_speculative_tokens\": 1}' --case 4@9:3",
        "torchrun --nproc-per-node 0 -m vllm.entrypoints.cli.main bench forward",
    ];
    let errors = texts.map(|text| parse(text).unwrap_err().to_string());
    insta::assert_snapshot!(errors.join("\n"), @r"
    This is no `vllm bench forward` command; expected `vllm bench forward --model ... --case ...`, or the same behind `torchrun ... -m vllm.entrypoints.cli.main`.
    This is no `vllm bench forward` command; expected `vllm bench forward --model ... --case ...`, or the same behind `torchrun ... -m vllm.entrypoints.cli.main`.
    A quote is not closed; expected its end before the end of the command.
    --model has no value; expected one behind it.
    --case `1@0`: Request 1, `1@0`: The KV length 0 is shorter than the 1 new tokens that it includes; expected at least 1.
    -tp: `none` is not a number; expected a whole number such as `8192`, `128k` or `8Ki`.
    --dtype: Found `fp64`; expected `auto`, `bfloat16`, `float16` or `float32`.
    --kv-cache-dtype: Found `fp3`; expected a format of the KV cache.
    --kv-len-jitter: Found `2`; expected a number from 0 to 1.
    --routing: Found `best`; expected `auto`, `real` or `balanced`.
    --enable-expert-parallel: Found `perhaps`; expected nothing behind it, or `true` or `false`.
    8 processes are started, and TP x PP x DP is 4; expected one process a rank.
    --speculative-config: num_speculative_tokens is 1; expected 3 or more, as a case verifies 3.
    --nproc-per-node: Found `0`; expected a whole number, 1 or above.
    ");
}

#[test]
fn a_warning_for_each_thing_that_cannot_be_said() {
    let mut everything = everything();
    everything.run.gpus_per_node = 6;
    everything.run.jitter.amount = 0.5;
    everything.run.jitter.max_model_len = Some(4096);
    let mut subject = Subject {
        source: None,
        checkpoint: Some("gptq".to_owned()),
        quantization: QuantizationChoice::None,
        disable_sliding_window: true,
        verify: VerifyAs::Prefill,
        accelerator: Some(("H200 SXM".to_owned(), true)),
        refusals: vec!["28 attention heads are not divisible by TP 8".to_owned()],
    };
    everything.model = subject.model("");
    insta::assert_snapshot!(warnings(&everything, &subject).join("\n"), @r"
    The config does not say what its model is called: put the name or the folder of the model in for MODEL.
    vLLM refuses this layout: 28 attention heads are not divisible by TP 8.
    16 ranks fill no whole number of nodes of 6 GPUs; the command starts all of them on one node.
    The estimate is without quantization, but the checkpoint has gptq: it is served as that, and no flag undoes it.
    Sliding windows are estimated as full attention; the benchmark has no flag for that and measures windows.
    Verifies need a drafter: complete --speculative-config with its method and, where it is one, its model, for 3 draft tokens or more. The drafter is measured too unless --exclude-drafter is set, and it is not estimated.
    Verifies are estimated as prefills; the benchmark measures them as decodes.
    With a jitter of 0.5 the KV lengths that are measured are drawn anew; 0 measures the cases exactly.
    A request has a KV length of 8192, above --max-model-len 4096: the benchmark refuses it.
    It runs on the GPUs of the machine that it is started on; the estimate is for H200 SXM with numbers of your own.
    ");
    subject.quantization = QuantizationChoice::Method("fp8".to_owned());
    assert_eq!(subject.method().as_deref(), Some("fp8"));
    assert!(warnings(&everything, &subject).iter().any(|said| said.contains("refuses --quantization fp8")));
    let plain = Subject {
        source: Some("org/name".to_owned()),
        refusals: Vec::new(),
        quantization: QuantizationChoice::Auto,
        disable_sliding_window: false,
        verify: VerifyAs::Decode,
        ..subject
    };
    let mut exact = command(&["8192"]);
    exact.model = plain.model("");
    assert_eq!(warnings(&exact, &plain).len(), 1, "only the accelerator");
}

#[test]
fn everything_reads_back() {
    let parsed = parse(&everything().to_shell()).unwrap();
    let drafts = Some(3);
    let mut expected = everything();
    expected.cases = expected.cases.iter().map(Case::compress).collect();
    assert_eq!(parsed, Parsed { command: expected, shapes: None, drafts, left: Vec::new() });
}

proptest! {
    #[test]
    fn every_command_reads_back(
        name in "-?[^=\0]{1,12}",
        model in "[^\0]{1,20}",
        (tp, pp, dp, ep) in (1..5_u32, 1..5_u32, 1..5_u32, any::<bool>()),
        (count, prefix, drafts) in (1..99_u64, 1..9999_u64, 0..4_u64),
        seed in any::<u64>(),
    ) {
        let case = Case::parse(&format!("{count}*{}@{}:{drafts}", drafts + 1, prefix + drafts + 1)).unwrap();
        if let Ok(case) = Case::new(&name, case.requests().to_vec()) {
            let mut command = command(&[]);
            command.model = model;
            command.layout = Layout { tp: size(tp), pp: size(pp), dp: size(dp), ep };
            command.run.jitter.seed = seed;
            command.cases.push(case);
            let parsed = parse(&command.to_shell());
            let drafts = Some(command.drafts()).filter(|drafts| *drafts > 0);
            prop_assert_eq!(parsed, Ok(Parsed { command, shapes: None, drafts, left: Vec::new() }));
        }
    }

    #[test]
    fn no_text_panics(text in r#"\PC*|[a-z0-9=*@,'"\\$ -]{0,60}"#) {
        let _ = (parse(&text), parse(&format!("vllm bench forward {text}")));
    }
}
