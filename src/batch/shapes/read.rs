//! Reading a shapes file.

use crate::batch::case::{Case, Request};
use crate::json::{self, JsonError, Node, Position, Value};
use crate::yaml::{self, YamlError};
use thiserror::Error;

/// The most cases that a file may hold.
const MOST_CASES: usize = 4096;

/// Why a text is no shapes file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShapesError {
    /// No JSON.
    #[error("The shapes file is no JSON: {0}.")]
    Json(#[from] JsonError),
    /// No YAML.
    #[error("The shapes file is neither JSON nor YAML: {0}.")]
    Yaml(#[from] YamlError),
    /// Something else than cases with requests.
    #[error("The shapes file, {at}, {place}: found {found}; expected {expected}.")]
    Misfit {
        /// Where in the text.
        at: Position,
        /// Where in the file: a case, a request, a key.
        place: String,
        /// What stood there.
        found: String,
        /// What would have been right.
        expected: String,
    },
}

/// What is wrong, before it is known where in the text that is.
struct Misfit {
    offset: usize,
    place: String,
    found: String,
    expected: String,
}

/// The cases of a shapes file, JSON or YAML.
///
/// # Errors
/// See [`ShapesError`].
pub fn read(text: &str) -> Result<Vec<Case>, ShapesError> {
    let root = if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        // What begins as JSON may still be a flow mapping of YAML; where it is neither, the JSON reader says it better.
        json::parse(text).map(|document| document.root).or_else(|error| yaml::parse(text).map_err(|_| error))?
    } else {
        yaml::parse(text)?
    };
    cases(&root).map_err(|misfit| ShapesError::Misfit {
        at: Position::of(text, misfit.offset),
        place: misfit.place,
        found: misfit.found,
        expected: misfit.expected,
    })
}

fn cases(root: &Node) -> Result<Vec<Case>, Misfit> {
    const FILE: &str = "the file";
    let [list] = fields(root, FILE, ["cases"], [])?;
    let list = items(list, "`cases`", "a list of cases")?;
    if list.is_empty() || list.len() > MOST_CASES {
        let found = format!("{} cases", list.len());
        return Err(misfit(root, "`cases`", found, format!("1 to {MOST_CASES}")));
    }
    (1..).zip(list).map(|(at, node)| case(node, at)).collect()
}

fn case(node: &Node, at: usize) -> Result<Case, Misfit> {
    let mut place = format!("case {at}");
    if let Some(name) = node.get("name").and_then(Node::text) {
        place = format!("{place} ({})", crate::format::quoted(name));
    }
    let [name, requests] = fields(node, &place, ["name", "requests"], [])?;
    let Value::Text(text) = &name.value else {
        return Err(misfit(name, format!("{place}, `name`"), name.describe(), "a string"));
    };
    let list = items(requests, &format!("{place}, `requests`"), "a list of requests")?;
    let list: Vec<Request> =
        (1..).zip(list).map(|(at, node)| request(node, &format!("{place}, request {at}"))).collect::<Result<_, _>>()?;
    Case::new(text, list).map_err(|problem| misfit(node, place, "no valid case", sentence(&problem.to_string())))
}

fn request(node: &Node, place: &str) -> Result<Request, Misfit> {
    let [query, kv] = fields(node, place, ["query_len", "kv_len"], ["num_draft_tokens", "chunked", "count"])?;
    let count = |key: &str, node: &Node| {
        match node.value {
            Value::Int(number) => u64::try_from(number).ok(),
            _ => None,
        }
        .ok_or_else(|| misfit(node, format!("{place}, `{key}`"), node.describe(), "a whole number"))
    };
    let optional = |key: &str, default| node.get(key).map_or(Ok(default), |node| count(key, node));
    let chunked = match node.get("chunked").map(|node| (node, &node.value)) {
        None => false,
        Some((_, Value::Bool(chunked))) => *chunked,
        Some((node, _)) => {
            return Err(misfit(node, format!("{place}, `chunked`"), node.describe(), "true or false"));
        }
    };
    let (query, kv) = (count("query_len", query)?, count("kv_len", kv)?);
    Request::new(optional("count", 1)?, query, kv, optional("num_draft_tokens", 0)?, chunked)
        .map_err(|error| misfit(node, place, "no valid request", sentence(&error.to_string())))
}

/// A message as the end of another sentence.
fn sentence(text: &str) -> String {
    format!("one that is: {}", text.trim_end_matches('.'))
}

/// The values of the keys that have to be there; no others than those and the optional ones may be.
fn fields<'a, const N: usize, const M: usize>(
    node: &'a Node,
    place: &str,
    required: [&str; N],
    optional: [&str; M],
) -> Result<[&'a Node; N], Misfit> {
    let known = || required.iter().chain(&optional).map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    if !node.is_object() {
        return Err(misfit(node, place, node.describe(), format!("an object with {}", known())));
    }
    for (at, member) in node.members().iter().enumerate() {
        let key = member.key.as_str();
        let stray = |found| Misfit {
            offset: member.key_span.start,
            place: place.to_owned(),
            found,
            expected: format!("only the keys {}, each once", known()),
        };
        if !required.contains(&key) && !optional.contains(&key) {
            return Err(stray(format!("the key {}", crate::format::quoted(key))));
        }
        if node.members().iter().take(at).any(|before| before.key == key) {
            return Err(stray(format!("the key `{key}` again")));
        }
    }
    let mut missing = None;
    let found = required.map(|key| {
        node.get(key).unwrap_or_else(|| {
            missing = missing.or(Some(key));
            node
        })
    });
    match missing {
        Some(key) => Err(misfit(node, place, "no such key", format!("the key `{key}`"))),
        None => Ok(found),
    }
}

fn items<'a>(node: &'a Node, place: &str, expected: &str) -> Result<&'a [Node], Misfit> {
    node.items().ok_or_else(|| misfit(node, place, node.describe(), expected))
}

fn misfit(node: &Node, place: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Misfit {
    Misfit { offset: node.span.start, place: place.into(), found: found.into(), expected: expected.into() }
}
