//! Reading a command that was pasted: what it measures, and what of it is not understood.

use super::{Command, MODEL};
use crate::batch::case::{Case, CaseError};
use crate::bench::run::Run;
use crate::format::quoted;
use crate::layout::Layout;
use crate::model::reading::integer;
use crate::model::{Dtype, KvDtype};
use crate::scenario::Size;
use thiserror::Error;

/// Why a text is no command.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// Nothing of the kind.
    #[error(
        "This is no `vllm bench forward` command; expected `vllm bench forward --model ... --case ...`, \
        or the same behind `torchrun ... -m vllm.entrypoints.cli.main`."
    )]
    None,
    /// A quote without its end.
    #[error("A quote is not closed; expected its end before the end of the command.")]
    Quote,
    /// A flag that needs a value.
    #[error("{0} has no value; expected one behind it.")]
    NoValue(String),
    /// A value that the flag does not take.
    #[error("{flag}: {problem}")]
    Value {
        /// The flag.
        flag: String,
        /// What was found and expected.
        problem: String,
    },
    /// A case that is none.
    #[error("--case {}: {error}", quoted(.text))]
    Case {
        /// The text of the case.
        text: String,
        /// Why it is none.
        error: CaseError,
    },
    /// Processes that the layout does not come to.
    #[error("{processes} processes are started, and TP x PP x DP is {ranks}; expected one process a rank.")]
    Processes {
        /// As the launcher says.
        processes: u128,
        /// As the layout says.
        ranks: u128,
    },
}

/// A command that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// What it says.
    pub command: Command,
    /// The shapes file that it names, which holds further cases.
    pub shapes: Option<String>,
    /// Draft tokens that the speculative config names.
    pub drafts: Option<u64>,
    /// Flags that are not understood, with their values.
    pub left: Vec<String>,
}

/// Whether a text holds such a command.
#[must_use]
pub fn is_command(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).any(|pair| pair == ["bench", "forward"])
}

/// Reads a command as it stands in a shell, with line continuations and quotes.
///
/// # Errors
/// See [`CommandError`].
pub fn parse(text: &str) -> Result<Parsed, CommandError> {
    let joined = joined(text);
    let mut lexer = shlex::Shlex::new(&joined);
    let words: Vec<String> = lexer.by_ref().collect();
    if lexer.had_error {
        return Err(if is_command(text) { CommandError::Quote } else { CommandError::None });
    }
    let start = words.windows(2).position(|pair| pair == ["bench", "forward"]).ok_or(CommandError::None)?;
    let (launcher, rest) = words.split_at_checked(start).ok_or(CommandError::None)?;
    let flags = Flags::of(rest.get(2..).unwrap_or_default());
    let mut parsed = read(&flags)?;
    let ranks = parsed.command.layout.gpus();
    if let Some((processes, nodes)) = processes(&Flags::of(launcher))? {
        let all = processes * nodes;
        if all != ranks {
            return Err(CommandError::Processes { processes: all, ranks });
        }
        if nodes > 1 {
            parsed.command.run.gpus_per_node = u32::try_from(processes).unwrap_or(u32::MAX);
        }
    }
    Ok(parsed)
}

/// The text on one line: a backslash before the end of a line continues it, but not in single quotes.
fn joined(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quote = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => match rest.next() {
                Some('\n') => {}
                Some('\r') if rest.peek() == Some(&'\n') => {
                    rest.next();
                }
                Some(escaped) => out.extend([c, escaped]),
                None => out.push(c),
            },
            ('\'' | '"', None) => {
                quote = Some(c);
                out.push(c);
            }
            (_, Some(open)) if c == open => {
                quote = None;
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// The processes that `torchrun` starts on a node, and the nodes.
fn processes(launcher: &Flags) -> Result<Option<(u128, u128)>, CommandError> {
    let count = |names: &[&str]| -> Result<Option<u128>, CommandError> {
        let found = launcher.0.iter().find(|(flag, _)| names.contains(&flag.as_str()));
        let Some((flag, values)) = found else { return Ok(None) };
        let text = values.first().map(String::as_str).unwrap_or_default();
        // A variable, `auto` or `gpu` says nothing that could be held against the layout.
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(None);
        }
        let number = text.parse::<u32>().ok().filter(|count| *count > 0).map(u128::from);
        let problem = format!("Found {}; expected a whole number, 1 or above.", quoted(text));
        number.map(Some).ok_or_else(|| CommandError::Value { flag: flag.clone(), problem })
    };
    let nodes = count(&["--nnodes"])?;
    Ok(count(&["--nproc-per-node"])?.map(|processes| (processes, nodes.unwrap_or(1))))
}

fn read(flags: &Flags) -> Result<Parsed, CommandError> {
    let layout = Layout::default();
    let mut parsed = Parsed {
        command: Command {
            model: MODEL.to_owned(),
            layout,
            quantization: None,
            kv_cache: KvDtype::AUTO,
            dtype: None,
            run: Run::default(),
            cases: Vec::new(),
        },
        shapes: None,
        drafts: None,
        left: Vec::new(),
    };
    for (flag, values) in &flags.0 {
        take(&mut parsed, flag, values)?;
    }
    let needed = parsed.command.drafts();
    if let Some(named) = parsed.drafts.filter(|named| *named < needed) {
        let problem =
            format!("num_speculative_tokens is {named}; expected {needed} or more, as a case verifies {needed}.");
        return Err(CommandError::Value { flag: "--speculative-config".to_owned(), problem });
    }
    Ok(parsed)
}

fn take(parsed: &mut Parsed, flag: &str, values: &[String]) -> Result<(), CommandError> {
    let command = &mut parsed.command;
    let value = || values.first().cloned().ok_or_else(|| CommandError::NoValue(flag.to_owned()));
    let wrong = |problem: String| CommandError::Value { flag: flag.to_owned(), problem };
    let named = |what: &str, text: &str| wrong(format!("Found {}; expected {what}.", quoted(text)));
    let size = match flag {
        "--tensor-parallel-size" | "-tp" => Some(Size::Tp),
        "--pipeline-parallel-size" | "-pp" => Some(Size::Pp),
        "--data-parallel-size" | "-dp" => Some(Size::Dp),
        _ => None,
    };
    if let Some(size) = size {
        size.set(&mut command.layout, size.read(&value()?).map_err(wrong)?);
        return Ok(());
    }
    let key = flag.trim_start_matches('-').replace('-', "_");
    match flag {
        "--model" => command.model = value()?,
        "--enable-expert-parallel" => command.layout.ep = switch(values).map_err(wrong)?,
        "--no-enable-expert-parallel" => command.layout.ep = false,
        "--exclude-drafter" => command.run.exclude_drafter = switch(values).map_err(wrong)?,
        "--quantization" | "-q" => command.quantization = Some(value()?),
        "--kv-cache-dtype" => {
            let text = value()?;
            command.kv_cache = KvDtype::named(&text).ok_or_else(|| named("a format of the KV cache", &text))?;
        }
        "--dtype" => {
            let text = value()?;
            let known = Dtype::named(&text).map(Some).or((text == "auto").then_some(None));
            command.dtype = known.ok_or_else(|| named("`auto`, `bfloat16`, `float16` or `float32`", &text))?;
        }
        // As the engine reads it: `K` is 1024 and `k` 1000; -1 and `auto` are what fits.
        "--max-model-len" => {
            let text = value()?;
            let binary = text.strip_suffix(['K', 'M', 'G']).map(|_| format!("{text}i"));
            let text = if text == "-1" || text == "auto" { String::new() } else { binary.unwrap_or(text) };
            command.run.set(&key, &text).map_err(wrong)?;
        }
        "--kv-len-jitter" | "--seed" | "--routing" | "--iters" | "--samples" => {
            command.run.set(&key, &value()?).map_err(wrong)?;
        }
        "--profile-dir" => command.run.profile = true,
        "--output-json" => {}
        "--shapes" => parsed.shapes = Some(value()?),
        "--case" => {
            value()?;
            for text in values {
                let read = Case::parse(text);
                command.cases.push(read.map_err(|error| CommandError::Case { text: text.clone(), error })?);
            }
        }
        "--speculative-config" => {
            let text = value()?;
            let config = crate::json::parse(&text).map_err(|error| wrong(error.to_string()))?.root;
            let tokens = config.get("num_speculative_tokens").and_then(|node| integer(&node.value));
            parsed.drafts = tokens.and_then(|tokens| u64::try_from(tokens).ok());
            // The drafter itself is nothing that is estimated.
            if config.members().iter().any(|member| member.key != "num_speculative_tokens") {
                parsed.left.push(format!("{flag} {text}"));
            }
        }
        _ => parsed.left.push([&[flag.to_owned()], values].concat().join(" ")),
    }
    Ok(())
}

/// A flag that is on where it stands, unless it says otherwise.
fn switch(values: &[String]) -> Result<bool, String> {
    match values.first().map(String::as_str) {
        None | Some("true" | "True") => Ok(true),
        Some("false" | "False") => Ok(false),
        Some(other) => Err(format!("Found {}; expected nothing behind it, or `true` or `false`.", quoted(other))),
    }
}

/// Flags with the values that follow them, up to the next flag.
struct Flags(Vec<(String, Vec<String>)>);

impl Flags {
    fn of(words: &[String]) -> Self {
        let mut flags: Vec<(String, Vec<String>)> = Vec::new();
        for word in words {
            let is_flag = word.starts_with("--") || ["-tp", "-pp", "-dp", "-q", "-m"].contains(&word.as_str());
            match word.split_once('=').filter(|_| word.starts_with("--")) {
                // vLLM and torchrun take underscores for dashes.
                Some((flag, value)) => flags.push((flag.replace('_', "-"), vec![value.to_owned()])),
                None if is_flag => flags.push((word.replace('_', "-"), Vec::new())),
                None => match flags.last_mut() {
                    Some((_, values)) => values.push(word.clone()),
                    None => flags.push((String::new(), vec![word.clone()])),
                },
            }
        }
        Self(flags)
    }
}
