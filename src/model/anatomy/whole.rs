//! Putting a model together: its layers, and what stands outside of them.

use super::builder::Builder;
use super::pattern::Mix;
use super::{Anatomy, Core, Dim, Indexer, Kind, Matrix, Mtp, Op, Pass, facts};
use crate::json::Value;
use crate::model::attributes::Attributes;
use crate::model::scheme::Scheme;
use crate::model::spec::{ModelSpec, Note, Weight};

/// Describes a model.
///
/// # Errors
/// The reason, where a size without which nothing can be counted is missing.
pub(crate) fn anatomy(
    top: &Attributes<'_>,
    text: &Attributes<'_>,
    ffn: &Attributes<'_>,
    spec: &ModelSpec,
    scheme: &Scheme,
) -> Result<Anatomy, String> {
    let builder = Builder::new(text, ffn, spec)?;
    let mut anatomy =
        Anatomy { hidden: builder.hidden, streams: builder.int_or(&["hc_mult"], 1), ..Anatomy::default() };
    // Layers that look alike to every rule are built once.
    let alike = scheme.is_uniform() && !builder.sizes_differ();
    let mut seen: Vec<(Look, usize)> = Vec::new();
    for layer in 0..builder.layers {
        let look = builder.look(layer);
        let known = seen.iter().find(|(known, _)| alike && *known == look).map(|(_, place)| *place);
        let place = if let Some(place) = known {
            place
        } else {
            let mut kind = builder.layer(layer)?;
            for matrix in &mut kind.matrices {
                scheme.apply(matrix, Some(layer));
            }
            let same = anatomy.kinds.iter().position(|known| *known == kind);
            let place = same.unwrap_or_else(|| {
                anatomy.kinds.push(kind);
                anatomy.kinds.len() - 1
            });
            seen.push((look, place));
            place
        };
        match anatomy.runs.last_mut() {
            Some((last, length)) if *last == place => *length += 1,
            _ => anatomy.runs.push((place, 1)),
        }
    }
    builder.outside(&mut anatomy);
    if let Some(head) = &mut anatomy.head {
        scheme.apply(head, None);
    }
    anatomy.mtp = builder.mtp(&anatomy);
    builder.remark(top);
    if anatomy.kinds.iter().all(|kind| kind.cores.is_empty()) {
        builder.say_what_is_absent();
    }
    anatomy.kv_format = scheme.kv;
    anatomy.notes = builder.notes.into_inner();
    anatomy.notes.extend(scheme.notes.iter().cloned());
    if scheme.is_exhausted() {
        let text = "The quantization names its modules with so many patterns that not all were compared: which weights are \
                    in 16 bit may be wrong, either way.";
        anatomy.notes.push(Note { weight: Weight::Strong, text: text.to_owned() });
    }
    Ok(anatomy)
}

/// By what layers of a config are told apart, unless lists give each its own sizes.
type Look = ((Mix, bool), bool, Option<char>, [bool; 2], Option<Indexer>);

impl Builder<'_> {
    fn look(&self, layer: u64) -> Look {
        let flags = [self.shares_kv(layer), self.skips_rotary(layer)];
        (self.mix(layer), self.is_moe(layer), self.letter(layer), flags, self.indexer(layer))
    }

    /// Whether layers may have sizes of their own.
    fn sizes_differ(&self) -> bool {
        let list = |member: &crate::json::Member| {
            let first = member.node.items().and_then(|items| items.first());
            let sizes = ["size", "expert", "topk", "top_k", "block_configs"];
            first.is_some() && sizes.iter().any(|word| member.key.contains(word))
        };
        let own = self.text.json.is_some_and(|json| json.members().iter().any(list));
        own || matches!(self.text.get("intermediate_size"), Some(found) if matches!(found.value.as_ref(), Value::List(_)))
    }

    fn layer(&self, layer: u64) -> Result<Kind, String> {
        let (mix, followed) = self.mix(layer);
        let mut kind = Kind { mixer: mix.label(), ..Kind::default() };
        self.mixer(mix, layer, &mut kind)?;
        if followed {
            match self.letter(layer) {
                Some('E') => self.feed_forward_of(true, layer, &mut kind),
                Some(_) => self.feed_forward_of(false, layer, &mut kind),
                None => self.feed_forward(layer, &mut kind),
            }
        }
        if let Some(Core::State(state)) = kind.cores.first() {
            kind.mixer = state.name;
        }
        let parts = u64::from(mix != Mix::None)
            + u64::from(kind.matrices.iter().any(|m| m.op.component() == crate::estimate::Component::Ffn));
        self.norms(parts, &mut kind);
        let one = self.is(facts::ONE_REDUCE)
            && (self.truthy("parallel_attn")
                || self.type_is("cohere cohere2")
                || self.truthy("new_decoder_architecture"));
        kind.reduces += if one { parts.min(1) } else { parts };
        Ok(kind)
    }

    fn feed_forward_of(&self, moe: bool, layer: u64, kind: &mut Kind) {
        if moe {
            self.routed_layer(layer, kind);
        } else {
            let width = self.at(&["intermediate_size"], layer).unwrap_or(self.hidden * 4);
            self.dense(width, 1, kind);
        }
    }

    fn mixer(&self, mix: Mix, layer: u64, kind: &mut Kind) -> Result<(), String> {
        match mix {
            Mix::None => Ok(()),
            Mix::State => self.recurrent(kind),
            Mix::Both => self.attention(Mix::Full, layer, kind).and_then(|()| self.recurrent(kind)),
            Mix::Compressed(ratio) => self.compressed(ratio, kind),
            Mix::Latent => match &self.spec.mla {
                Some(mla) => {
                    for _ in 0..if self.type_is("longcat_flash") { 2 } else { 1 } {
                        self.latent(mla, layer, kind)?;
                    }
                    Ok(())
                }
                None => Ok(()),
            },
            Mix::Full if self.type_is("minicpm3") => self.latent_as_heads(kind),
            _ => self.attention(mix, layer, kind),
        }
    }

    /// Norms of a layer of so many parts. Of what stands next to each other one pass is made: an addition to the residual
    /// with the norms before and after it reads both and writes both; parts beside each other share one.
    fn norms(&self, parts: u64, kind: &mut Kind) {
        let (mut norms, mut units) = (2, (2 * parts.min(2), 2 * parts.min(2)));
        if self.is(facts::ONE_NORM) || self.spec.text_type == "nemotron_h" {
            (norms, units) = (1, (2, 2));
        } else if self.is(facts::THREE_NORMS) {
            (norms, units) = (3, (6, 6));
        } else if self.is(facts::FOUR_NORMS) {
            norms = 4;
        } else if self.type_is("exaone4 olmo2 olmo3") {
            // The norm is of what a part gives, and what it adds up to goes on as it is.
            units.1 /= 2;
        } else if self.type_is("longcat_flash") {
            units = (8, 8);
        }
        let falcon = self.type_is("falcon RefinedWeb RefinedWebModel");
        if falcon && !self.truthy("new_decoder_architecture") && self.truthy_or("parallel_attn", true) {
            (norms, units) = (1, (2, 2));
        } else if falcon && self.truthy("new_decoder_architecture")
            || self.type_is("gpt_neox") && self.truthy_or("use_parallel_residual", true)
        {
            // Two norms of one input.
            units = (3, 3);
        }
        if self.truthy("enable_moe_block") {
            norms += 3;
            units = (units.0 + 1, units.1 + 1);
        }
        if kind.matrices.is_empty() {
            (norms, units) = (0, (0, 0));
        }
        kind.norms = Pass { reads: units.0, writes: units.1 };
        kind.norm_params += norms * self.norm_size();
    }

    /// Says why no layer mixes tokens.
    fn say_what_is_absent(&self) {
        let reason = self.spec.heads.positive("num_attention_heads").err();
        let reason = reason.unwrap_or_else(|| "the config switches it off in all of them".to_owned());
        self.say(Weight::Caution, &format!("No layer has attention, so that none is counted: {reason}."));
    }

    /// Python's truth of a key that may be missing.
    pub(super) fn truthy_or(&self, name: &'static str, default: bool) -> bool {
        if self.text.has(name) { self.truthy(name) } else { default }
    }

    fn norm_size(&self) -> u64 {
        self.hidden * (1 + u64::from(self.is(facts::NORM_BIAS)))
    }

    /// Embedding, head, last norm.
    fn outside(&self, anatomy: &mut Anatomy) {
        anatomy.outside = self.norm_size();
        let Some(vocab) = self.spec.vocab.ok().filter(|vocab| (1..=1 << 32).contains(vocab)) else {
            self.say(Weight::Caution, "The vocabulary is not known: embedding and LM head are left out.");
            return;
        };
        let rows = vocab + if self.type_is("mllama_text_model") { 8 } else { 0 };
        let positions = if self.is(facts::POSITIONS) {
            self.int_or(&["n_positions", "max_target_positions", "max_position_embeddings"], 0)
                + if self.type_is("opt") { 2 } else { 0 }
        } else {
            0
        };
        anatomy.embedding = (rows + positions).saturating_mul(self.hidden);
        if self.is(facts::EMBED_NORM) {
            anatomy.embedding += self.norm_size();
        }
        anatomy.tied = self.truthy("tie_word_embeddings");
        let bias = self.is(facts::HEAD_BIAS) || self.truthy("lm_head_bias");
        let head = Matrix::new(Op::Head, Dim::whole(self.hidden), Dim::cut(vocab, 1));
        anatomy.head = Some(head.and(if bias { vocab } else { 0 }));
    }

    /// Layers that predict further tokens: like the last layer of the model, with attention to everything, a matrix that
    /// joins state and token, and three norms.
    fn mtp(&self, anatomy: &Anatomy) -> Option<Mtp> {
        let layers =
            self.int(&["num_nextn_predict_layers", "num_mtp_layers", "mtp_num_hidden_layers", "num_mtp_modules"])?;
        let like = if self.text.has("linear_num_value_heads") {
            anatomy.kinds.iter().rev().find(|kind| kind.cores.iter().any(|core| matches!(core, Core::Heads(_))))
        } else {
            anatomy.runs.last().and_then(|(kind, _)| anatomy.kinds.get(*kind))
        };
        let mut kind = like?.clone();
        let hidden = self.hidden;
        kind.matrices.push(Matrix::new(Op::Join, Dim::whole(2 * hidden), Dim::whole(hidden)));
        // Of the embedding, of the state, and of the sum.
        kind.norms.reads += 4;
        kind.norms.writes += 3;
        kind.norm_params += 3 * hidden;
        let stored = anatomy.head.as_ref().map_or(0, |head| head.out(1)).saturating_mul(hidden);
        let copies =
            if self.text.has("num_nextn_predict_layers") && !self.text.has("linear_num_value_heads") { 2 } else { 0 };
        self.say(
            Weight::Info,
            "Layers that predict further tokens run with speculative decoding only; they are counted on their own, as \
             layers like the last one.",
        );
        if self.text.has("mtp_hybrid_override_pattern") {
            self.say(
                Weight::Caution,
                "The layers that predict have a pattern of their own, of which a layer like the last one is counted: what \
                 they cost errs on the low side.",
            );
        }
        if self.list("compress_ratios").is_some() {
            self.say(
                Weight::Caution,
                "The layers that predict attend to a window alone, but are counted with the last layer's attention: what \
                 they cost errs on the high side.",
            );
        }
        Some(Mtp { layers, kind, stored_copies: stored.saturating_mul(copies) })
    }
}

impl Mix {
    fn label(self) -> &'static str {
        match self {
            Self::Full => "full attention",
            Self::Window(_) => "sliding window",
            Self::Chunk(_) => "chunked attention",
            Self::Cross => "cross-attention",
            Self::Latent => "latent attention",
            Self::Compressed(0) => "window only",
            Self::Compressed(4) => "compressed sparse attention",
            Self::Compressed(_) => "heavily compressed attention",
            Self::State => "state",
            Self::Both => "attention beside a state",
            Self::None => "feed-forward only",
        }
    }
}
