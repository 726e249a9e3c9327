use super::*;
use crate::batch::case;
use crate::model::{ClassTable, read};

/// A model of small, round numbers.
const SMALL: &str = r#"{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000, "torch_dtype": "bfloat16"}"#;

fn cases(texts: &[&str]) -> Vec<Case> {
    let spec = read(SMALL, None, ClassTable::builtin()).unwrap();
    let estimated = texts.iter().map(|text| {
        let case = case::Case::parse(text).unwrap();
        let answer = Answer::new(spec.clone(), Settings::default(), case.batch()).unwrap();
        Case { name: case.name().to_owned(), answer }
    });
    estimated.collect()
}

fn export(format: &dyn Exporter, texts: &[&str]) -> Result<String, ExportError> {
    format.export(&Report { model: "a_small|one", scope: Scope::PerGpu, cases: &cases(texts) })
}

#[test]
fn operations_sum_to_their_component() {
    let cases = cases(&["4*1@16,32"]);
    for part in crate::report::rows(&cases[0].answer.per_gpu, None, None) {
        let sum: crate::estimate::Cost = part.operations.iter().map(|row| row.summary.cost).sum();
        assert_eq!(sum, part.summary.cost);
    }
}

#[test]
fn a_table() {
    insta::assert_snapshot!(export(&Table, &["decode=4*1@16"]).unwrap(), @"
    model         a_small|one (llama)
    layout        1 GPU, numbers per GPU
    dtype         bfloat16 (config: torch_dtype)
    KV cache      auto, 2 B an element
    quantization  none (not in the config: not quantized)

    decode: 4 requests, 4 new tokens
                          MFLOP  read kB  written kB
    Attention             0.229     68.6        4.10
      QKV projection      0.131     33.8        2.05
      attention          0.0328     17.4        1.02
      output projection  0.0655     17.4        1.02
    FFN                   0.393      105        7.17
      dense FFN           0.393      105        7.17
    LM head               0.512      129        8.00
      LM head             0.512      129        8.00
    total                  1.13      303        19.3
    arithmetic intensity: 3.53 FLOP/B
    ");
}

#[test]
fn a_markdown_table() {
    insta::assert_snapshot!(export(&Markdown, &["4*1@16,2*1@8"]).unwrap(), @r"
    - model: a\_small\|one (llama)
    - layout: 1 GPU, numbers per GPU
    - dtype: bfloat16 (config: torch\_dtype)
    - KV cache: auto, 2 B an element
    - quantization: none (not in the config: not quantized)

    **4\*1@16,2\*1@8: 6 requests, 6 new tokens**

    | component | operation | MFLOP | read kB | written kB |
    | :-- | :-- | --: | --: | --: |
    | Attention | QKV projection | 0.197 | 34.3 | 3.07 |
    | Attention | attention | 0.0410 | 22.0 | 1.54 |
    | Attention | output projection | 0.0983 | 17.9 | 1.54 |
    | FFN | dense FFN | 0.590 | 109 | 10.8 |
    | LM head | LM head | 0.768 | 129 | 12.0 |
    | **total** |  | 1.69 | 312 | 28.9 |

    Arithmetic intensity: 4.97 FLOP/B
    ");
}

#[test]
fn comma_separated_values() {
    insta::assert_snapshot!(export(&Csv, &["-a=1@16,1", "8"]).unwrap(), @"
    case,scope,component,operation,term,quantity,unit,value
    '-a,per_gpu,attn,QKV projection,qkv_proj,flops,FLOP,65536
    '-a,per_gpu,attn,attention,attn_qk,flops,FLOP,4352
    '-a,per_gpu,attn,attention,attn_av,flops,FLOP,4352
    '-a,per_gpu,attn,output projection,out_proj,flops,FLOP,32768
    '-a,per_gpu,attn,QKV projection,qkv_input,read,B,512
    '-a,per_gpu,attn,QKV projection,qkv_weight,read,B,32768
    '-a,per_gpu,attn,attention,attn_input,read,B,4864
    '-a,per_gpu,attn,output projection,out_input,read,B,512
    '-a,per_gpu,attn,output projection,out_weight,read,B,16384
    '-a,per_gpu,attn,QKV projection,qkv_output,write,B,1024
    '-a,per_gpu,attn,attention,kv_cache,write,B,512
    '-a,per_gpu,attn,output projection,out_output,write,B,512
    '-a,per_gpu,ffn,dense FFN,dense_ffn,flops,FLOP,196608
    '-a,per_gpu,ffn,dense FFN,dense_up_gate_input,read,B,512
    '-a,per_gpu,ffn,dense FFN,dense_up_gate_weights,read,B,65536
    '-a,per_gpu,ffn,dense FFN,dense_silu_input,read,B,2048
    '-a,per_gpu,ffn,dense FFN,dense_down_input,read,B,1024
    '-a,per_gpu,ffn,dense FFN,dense_down_weights,read,B,32768
    '-a,per_gpu,ffn,dense FFN,dense_up_gate_output,write,B,2048
    '-a,per_gpu,ffn,dense FFN,dense_silu_output,write,B,1024
    '-a,per_gpu,ffn,dense FFN,dense_down_output,write,B,512
    '-a,per_gpu,unembed,LM head,unembed,flops,FLOP,256000
    '-a,per_gpu,unembed,LM head,input,read,B,256
    '-a,per_gpu,unembed,LM head,weight,read,B,128000
    '-a,per_gpu,unembed,LM head,output,write,B,4000
    8,per_gpu,attn,QKV projection,qkv_proj,flops,FLOP,262144
    8,per_gpu,attn,attention,attn_qk,flops,FLOP,16384
    8,per_gpu,attn,attention,attn_av,flops,FLOP,16384
    8,per_gpu,attn,output projection,out_proj,flops,FLOP,131072
    8,per_gpu,attn,QKV projection,qkv_input,read,B,2048
    8,per_gpu,attn,QKV projection,qkv_weight,read,B,32768
    8,per_gpu,attn,attention,attn_input,read,B,4096
    8,per_gpu,attn,output projection,out_input,read,B,2048
    8,per_gpu,attn,output projection,out_weight,read,B,16384
    8,per_gpu,attn,QKV projection,qkv_output,write,B,4096
    8,per_gpu,attn,attention,kv_cache,write,B,2048
    8,per_gpu,attn,output projection,out_output,write,B,2048
    8,per_gpu,ffn,dense FFN,dense_ffn,flops,FLOP,786432
    8,per_gpu,ffn,dense FFN,dense_up_gate_input,read,B,2048
    8,per_gpu,ffn,dense FFN,dense_up_gate_weights,read,B,65536
    8,per_gpu,ffn,dense FFN,dense_silu_input,read,B,8192
    8,per_gpu,ffn,dense FFN,dense_down_input,read,B,4096
    8,per_gpu,ffn,dense FFN,dense_down_weights,read,B,32768
    8,per_gpu,ffn,dense FFN,dense_up_gate_output,write,B,8192
    8,per_gpu,ffn,dense FFN,dense_silu_output,write,B,4096
    8,per_gpu,ffn,dense FFN,dense_down_output,write,B,2048
    8,per_gpu,unembed,LM head,unembed,flops,FLOP,128000
    8,per_gpu,unembed,LM head,input,read,B,128
    8,per_gpu,unembed,LM head,weight,read,B,128000
    8,per_gpu,unembed,LM head,output,write,B,2000
    ");
}

#[test]
fn one_answer_or_a_list_of_cases() {
    let one = export(&Json, &["1@16"]).unwrap();
    assert!(one.starts_with(r#"{"settings":"#) && one.ends_with("}\n"), "{one}");
    let several = export(&Json, &["a=1@16", "b=8"]).unwrap();
    assert!(several.starts_with(r#"{"cases":[{"name":"a","settings":"#), "{several}");
    let none = export(&Json, &[]).unwrap();
    assert_eq!(none, "{\"cases\":[]}\n");
}

#[test]
fn more_requests_than_an_answer_lists_are_refused() {
    let error = export(&Json, &["1000001*1@16"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the batch has 1000001 requests, and an answer lists every one; expected at most 1000000"
    );
    assert!(export(&Csv, &["1000001*1@16"]).is_ok());
}

#[test]
fn no_cases_are_no_panic() {
    for format in [&Table as &dyn Exporter, &Markdown, &Csv] {
        assert!(export(format, &[]).is_ok());
    }
}

#[test]
fn control_characters_do_not_reach_a_terminal() {
    assert_eq!(printable("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
}
