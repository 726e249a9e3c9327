//! A command as text for a POSIX shell.

use super::Command;
use std::fmt::Write as _;

impl Command {
    /// Nodes that the layout needs, with the processes on each; `None` where the ranks fill no whole number of nodes.
    #[must_use]
    pub fn nodes(&self) -> Option<(u128, u128)> {
        let (ranks, node) = (self.layout.gpus(), u128::from(self.run.gpus_per_node));
        if ranks <= node {
            return Some((1, ranks));
        }
        ranks.is_multiple_of(node).then(|| (ranks / node, node))
    }

    /// The command, a flag a line. On several nodes it runs on each, with `NODE_RANK` and `MASTER_ADDR` set.
    #[must_use]
    pub fn to_shell(&self) -> String {
        let mut words = Vec::new();
        let (nodes, processes) = self.nodes().unwrap_or((1, self.layout.gpus()));
        if nodes * processes == 1 {
            words.push("vllm bench forward".to_owned());
        } else {
            let mut launcher = format!("torchrun --nproc-per-node={processes}");
            if nodes > 1 {
                let _ = write!(launcher, " --nnodes={nodes} --node-rank=\"$NODE_RANK\" --master-addr=\"$MASTER_ADDR\"");
            }
            words.extend([launcher, "-m vllm.entrypoints.cli.main bench forward".to_owned()]);
        }
        // What begins with a dash would be taken for a flag of its own.
        let mut put = |flag: &str, value: &str| {
            let between = if value.starts_with('-') { "=" } else { " " };
            words.push(format!("{flag}{between}{}", quoted(value)));
        };
        put("--model", &self.model);
        for (flag, size) in [
            ("--tensor-parallel-size", self.layout.tp),
            ("--pipeline-parallel-size", self.layout.pp),
            ("--data-parallel-size", self.layout.dp),
        ] {
            if size.get() > 1 {
                put(flag, &size.to_string());
            }
        }
        if let Some(method) = &self.quantization {
            put("--quantization", method);
        }
        if self.kv_cache != crate::model::KvDtype::AUTO {
            put("--kv-cache-dtype", self.kv_cache.name());
        }
        if let Some(dtype) = self.dtype {
            put("--dtype", dtype.name());
        }
        let run = &self.run;
        if run.jitter.max_model_len.is_some() {
            put("--max-model-len", &run.get("max_model_len"));
        }
        // Always said: what is measured depends on them.
        put("--kv-len-jitter", &run.get("kv_len_jitter"));
        put("--seed", &run.get("seed"));
        let usual = super::Run::default();
        for (flag, key) in [("--routing", "routing"), ("--iters", "iters"), ("--samples", "samples")] {
            if run.get(key) != usual.get(key) {
                put(flag, &run.get(key));
            }
        }
        if self.drafts() > 0 {
            put("--speculative-config", &format!("{{\"num_speculative_tokens\": {}}}", self.drafts()));
        }
        for case in &self.cases {
            put("--case", &case.compress().to_text());
        }
        put("--output-json", "forward.json");
        if run.profile {
            put("--profile-dir", "profile");
        }
        for (flag, on) in [("--enable-expert-parallel", self.layout.ep), ("--exclude-drafter", run.exclude_drafter)] {
            if on {
                words.push(flag.to_owned());
            }
        }
        words.join(" \\\n  ")
    }
}

/// A word as the shell takes it; what no argument can hold is left out.
fn quoted(text: &str) -> String {
    let text: String = text.chars().filter(|c| *c != '\0').collect();
    // Case texts and names are easier to read bare, or in single quotes.
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-*".contains(c);
    if !text.is_empty() && !text.contains('*') && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
