//! What of the desk never changes: headings, fields, and the places of its blocks.

use crate::bench::run::Run;
use crate::estimate::physical::Modules;
use crate::model::quantization::formats;
use crate::model::scheme::Scheme;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// The markup of the physical model's part; as in [`shell`].
#[must_use]
pub fn physical_shell() -> &'static str {
    static SHELL: LazyLock<String> = LazyLock::new(|| [BEFORE_FORMATS, &format_fields(), AFTER_FORMATS].concat());
    &SHELL
}

/// A field for the format of each of the modules.
fn format_fields() -> String {
    let mut options = "<option value=\"\">as stored</option>".to_owned();
    for (name, format) in formats().filter_map(|name| Some((name, Scheme::named_or_none(name)?))) {
        let _ = write!(options, "<option value=\"{name}\">{name} · {}</option>", format.name);
    }
    let mut fields = String::new();
    for (key, (modules, _)) in Run::FORMATS.iter().zip(Modules::ALL) {
        let label = modules.title();
        let _ = writeln!(fields, "<label><span>{label}</span><select data-field=\"{key}\">{options}</select></label>");
    }
    fields
}

const BEFORE_FORMATS: &str = r#"<div data-block="physical"></div>
<div class="desk-fields">
<label><span>Acceptance of a draft</span><input data-field="acceptance" inputmode="decimal" autocomplete="off"></label>
<label><span>Memory utilization</span><input data-field="utilization" inputmode="decimal" autocomplete="off"></label>
<label><span>Tokens a KV block</span><input data-field="block_size" inputmode="numeric" autocomplete="off"></label>
<label><span>Price of a GPU hour</span><input data-field="price" inputmode="decimal" autocomplete="off" placeholder="not said"></label>
<label class="check"><input type="checkbox" data-field="balanced"><span>Experts balanced</span></label>
</div>
<details class="desk-more"><summary>Weight formats by module</summary>
<p class="hint">What the physical model counts instead of what the checkpoint stores; the vllm model knows one method for all.</p>
<div class="desk-fields">
"#;

const AFTER_FORMATS: &str = r#"</div></details>
<div data-block="physical-problem" role="alert"></div>
<details class="desk-more" open><summary>Why the two models differ</summary><div data-block="physical-differ"></div></details>
<details class="desk-more"><summary>Memory, by stage</summary><div data-block="physical-memory"></div></details>
<details class="desk-more"><summary>Communication</summary><div data-block="physical-links"></div></details>
<details class="desk-more"><summary>Every operation</summary><div data-block="physical-operations"></div></details>
<details class="desk-more"><summary>Held against measurements</summary><div data-block="validation"></div></details>"#;

/// The markup; blocks are elements with `data-block`, fields have `data-field`, and what can be clicked `data-act`.
#[must_use]
pub fn shell() -> &'static str {
    r#"<section class="desk-part"><h3>Measure it</h3>
<p class="hint">The same batch and layout, run with <code>vllm bench forward</code> where the GPUs are.</p>
<div class="desk-fields">
<label><span>Model there</span><input data-field="model" autocomplete="off" spellcheck="false" placeholder="as its source calls it"></label>
<label><span>Max model len</span><input data-field="max_model_len" inputmode="numeric" autocomplete="off" placeholder="not said"></label>
<label><span>KV-length jitter</span><input data-field="kv_len_jitter" inputmode="decimal" autocomplete="off"></label>
<label><span>Seed</span><input data-field="seed" inputmode="numeric" autocomplete="off"></label>
<label><span>Routing</span><select data-field="routing"><option>auto</option><option>real</option><option>balanced</option></select></label>
<label><span>Iterations</span><input data-field="iters" inputmode="numeric" autocomplete="off"></label>
<label><span>Samples</span><input data-field="samples" inputmode="numeric" autocomplete="off"></label>
<label><span>GPUs a node</span><input data-field="gpus_per_node" inputmode="numeric" autocomplete="off"></label>
<label class="check"><input type="checkbox" data-field="profile"><span>Profile kernels</span></label>
<label class="check"><input type="checkbox" data-field="exclude_drafter"><span>Exclude the drafter</span></label>
</div>
<div data-block="run-problem" role="alert"></div>
<div data-block="command"></div>
<div data-block="jitter"></div>
<details class="desk-more"><summary>Cases, commands and shapes files</summary>
<p class="hint">Paste a command, cases (one a line), or a shapes file in JSON or YAML.</p>
<textarea data-field="pasted" rows="4" spellcheck="false" aria-label="A command, cases or a shapes file"></textarea>
<div data-block="pasted"></div>
<p><button type="button" data-act="shapes-json">Save these cases as shapes.json</button>
<button type="button" data-act="shapes-yaml">as shapes.yaml</button></p>
</details></section>
<section class="desk-part"><h3>Read it back</h3>
<p class="hint">Drop files anywhere on the page, or <button type="button" data-act="choose">choose them</button>: results of
<code>--output-json</code>, <code>*.kernels.json</code> summaries, Chrome traces (<code>.trace.json.gz</code>). They stay in
this page, and out of its links.</p>
<div data-block="files" role="status"></div>
<div data-block="results"></div>
<div data-block="kernels"></div>
<details class="desk-more"><summary>Rules that group kernels</summary>
<p class="hint">One a line, <code>component: pattern</code>; the first that matches counts. <code>*</code> stands for anything.</p>
<textarea data-field="rules" rows="12" spellcheck="false" aria-label="Rules that group kernels"></textarea>
<div data-block="rules-problem" role="alert"></div>
<p><button type="button" data-act="rules-default">The rules of before</button></p>
</details></section>
<section class="desk-part"><h3>Serving</h3>
<p class="hint">What a running vLLM server says of the same estimate: a page of <code>/metrics</code>, a second one some
seconds later, its log, or a scheduler step as JSON.</p>
<div class="desk-fields wide">
<label><span>Metrics page, or a log, or a scheduler step</span><textarea data-field="serving" rows="4" spellcheck="false"></textarea></label>
<label><span>Metrics page later</span><textarea data-field="serving-later" rows="4" spellcheck="false"></textarea></label>
<label><span>Seconds between them</span><input data-field="serving-seconds" inputmode="decimal" autocomplete="off" value="10"></label>
</div>
<div data-block="serving"></div></section>"#
}
