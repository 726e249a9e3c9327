//! Breakdowns as JSON: how an estimate that was made elsewhere arrives with its formulas and the numbers put in.
//!
//! ```json
//! {"defs": [["q_proj", "q_proj", 0, 0, ["*", 2, "M", "I", "O", "L"]]],
//!  "breakdowns": [[["attn", [[0, 123, 0]], [["bf16", ["M", 32], ["I", 7168]]]]]]}
//! ```
//!
//! A definition is its name, its operation, the places of its quantity and its traffic, and its formula; a part is its
//! component, its terms (definition, amount, sheet) and its sheets (precision, then symbols that are not 0).

use super::formula::{Expr, Number, Values};
use super::{Breakdown, Component, Part, Quantity, Sheet, Symbol, Term, TermDef, Traffic};
use crate::hardware::Precision;
use crate::json::build::{Object, list, null, text, whole};
use crate::json::{Node, Span, Value};
use std::sync::{Mutex, PoisonError};

const QUANTITIES: [Quantity; 3] = [Quantity::Flops, Quantity::Read, Quantity::Write];
const TRAFFIC: [Traffic; 4] = [Traffic::None, Traffic::Weights, Traffic::Activations, Traffic::KvCache];

/// Breakdowns, with every definition once.
#[must_use]
pub fn write(breakdowns: &[&Breakdown]) -> Node {
    let mut defs: Vec<&'static TermDef> = Vec::new();
    let written: Vec<Node> = breakdowns.iter().map(|breakdown| breakdown_node(breakdown, &mut defs)).collect();
    let mut out = Object::default();
    out.put("defs", list(defs.into_iter().map(def_node)));
    out.put("breakdowns", list(written));
    out.node()
}

/// The breakdowns that were written; `None` where something else stands there.
#[must_use]
pub fn read(node: &Node) -> Option<Vec<Breakdown>> {
    // Loops instead of collecting options: that is compiled anew for every type, and the page has to stay small.
    let mut defs = Vec::new();
    for node in node.get("defs")?.items()? {
        defs.push(def(node)?);
    }
    let mut breakdowns = Vec::new();
    for node in node.get("breakdowns")?.items()? {
        let mut breakdown = Breakdown::default();
        for node in node.items()? {
            breakdown.parts.push(part(node, &defs)?);
        }
        breakdowns.push(breakdown);
    }
    Some(breakdowns)
}

fn place(index: usize) -> Node {
    whole(i128::try_from(index).unwrap_or(i128::MAX))
}

fn breakdown_node(breakdown: &Breakdown, defs: &mut Vec<&'static TermDef>) -> Node {
    let mut known = |def: &'static TermDef| {
        let at = defs.iter().position(|other| std::ptr::eq(*other, def)).unwrap_or(defs.len());
        if at == defs.len() {
            defs.push(def);
        }
        place(at)
    };
    let mut parts = Vec::new();
    for part in &breakdown.parts {
        let terms: Vec<Node> = part
            .terms
            .iter()
            .map(|term| list([known(term.def), amount(term.amount), place(term.sheet.into())]))
            .collect();
        parts.push(list([text(part.component.name()), list(terms), list(part.sheets.iter().map(sheet_node))]));
    }
    list(parts)
}

fn amount(amount: u128) -> Node {
    whole(i128::try_from(amount).unwrap_or(i128::MAX))
}

fn sheet_node(sheet: &Sheet) -> Node {
    let precision = sheet.precision.map_or_else(null, |precision| text(precision.label()));
    let value = |symbol: Symbol| match sheet.values.get(symbol) {
        number if number.is_zero() => None,
        Number::Int(value) => Some(list([text(symbol.name()), amount(value)])),
        Number::Real(value) => {
            Some(list([text(symbol.name()), Node { value: Value::Float(value), span: Span::default() }]))
        }
    };
    list(std::iter::once(precision).chain(Symbol::ALL.iter().copied().filter_map(value)))
}

fn def_node(def: &TermDef) -> Node {
    let at = |found: Option<usize>| place(found.unwrap_or_default());
    let quantity = QUANTITIES.iter().position(|quantity| *quantity == def.quantity);
    let traffic = TRAFFIC.iter().position(|traffic| *traffic == def.traffic);
    list([text(def.name), text(def.operation), at(quantity), at(traffic), formula_node(&def.formula)])
}

fn formula_node(formula: &Expr) -> Node {
    let parts = |sign: &str, parts: &[Expr]| list(std::iter::once(text(sign)).chain(parts.iter().map(formula_node)));
    match formula {
        Expr::Const(value) => whole(i128::from(*value)),
        Expr::Sym(symbol) => text(symbol.name()),
        Expr::Sum(all) => parts("+", all),
        Expr::Product(all) => parts("*", all),
    }
}

fn part(node: &Node, defs: &[&'static TermDef]) -> Option<Part> {
    let [component, terms, sheets] = node.items()? else { return None };
    let component = Component::ALL.into_iter().find(|known| Some(known.name()) == component.text())?;
    let mut part = Part { component, terms: Vec::new(), sheets: Vec::new() };
    for node in sheets.items()? {
        part.sheets.push(sheet(node)?);
    }
    for node in terms.items()? {
        let [def, amount, sheet] = node.items()? else { return None };
        let sheet = index(sheet).filter(|sheet| *sheet < part.sheets.len())?;
        part.terms.push(Term {
            def: defs.get(index(def)?)?,
            amount: number(amount)?.truncated()?,
            sheet: u16::try_from(sheet).ok()?,
        });
    }
    Some(part)
}

fn index(node: &Node) -> Option<usize> {
    match node.value {
        Value::Int(value) => usize::try_from(value).ok(),
        _ => None,
    }
}

fn number(node: &Node) -> Option<Number> {
    match node.value {
        Value::Int(value) => Some(Number::Int(u128::try_from(value).ok()?)),
        Value::Float(value) => Some(Number::Real(value)),
        _ => None,
    }
}

fn symbol(name: &str) -> Option<Symbol> {
    Symbol::ALL.iter().copied().find(|symbol| symbol.name() == name)
}

fn sheet(node: &Node) -> Option<Sheet> {
    let (precision, set) = node.items()?.split_first()?;
    let precision = match precision.text() {
        None => None,
        Some(label) => Some(Precision::ALL.into_iter().find(|precision| precision.label() == label)?),
    };
    let mut values = Values::default();
    for pair in set {
        let [name, value] = pair.items()? else { return None };
        values.put(symbol(name.text()?)?, number(value)?);
    }
    Some(Sheet { values, precision })
}

/// Definitions that arrived so far, by how they are written: they live as long as the program, as those in it do, and
/// come each once.
static DEFS: Mutex<Vec<(String, &'static TermDef)>> = Mutex::new(Vec::new());

/// Far more than any model has.
const MOST: usize = 4096;

fn def(node: &Node) -> Option<&'static TermDef> {
    let written = node.to_compact();
    let mut all = DEFS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, old)) = all.iter().find(|(known, _)| *known == written) {
        return Some(old);
    }
    let [name, operation, quantity, traffic, formula] = node.items()? else { return None };
    let def = TermDef {
        name: for_good(name.text()?),
        operation: for_good(operation.text()?),
        quantity: *QUANTITIES.get(index(quantity)?)?,
        traffic: *TRAFFIC.get(index(traffic)?)?,
        formula: parsed(formula)?,
        needs: &[],
    };
    (all.len() < MOST).then(|| {
        let def: &'static TermDef = Box::leak(Box::new(def));
        all.push((written, def));
        def
    })
}

fn for_good(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn parsed(node: &Node) -> Option<Expr> {
    match &node.value {
        Value::Int(value) => Some(Expr::Const(u32::try_from(*value).ok()?)),
        Value::Text(name) => Some(Expr::Sym(symbol(name)?)),
        Value::List(items) => {
            let (sign, parts) = items.split_first()?;
            let mut read = Vec::new();
            for part in parts {
                read.push(parsed(part)?);
            }
            let parts: &'static [Expr] = Vec::leak(read);
            match sign.text()? {
                "+" => Some(Expr::Sum(parts)),
                "*" => Some(Expr::Product(parts)),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::case::Case;
    use crate::estimate::physical::{Assumptions, Physical};
    use crate::estimate::{Estimator, Scope};
    use crate::json::parse;
    use crate::model::{ClassTable, presets, resolve};
    use crate::settings::Settings;

    #[test]
    fn symbols_are_told_apart_by_their_letters() {
        let mut names: Vec<_> = Symbol::ALL.iter().map(|symbol| symbol.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Symbol::COUNT);
    }

    #[test]
    fn breakdowns_arrive_as_they_were() {
        for preset in presets::builtin() {
            let spec = resolve(&preset.config, None, ClassTable::builtin()).unwrap();
            let settings = Settings::default();
            let batch = Case::parse("8192,4*1@64,2*4@4096:3").unwrap().batch();
            let model = Physical::new(&spec, &settings, Assumptions::default(), None).unwrap();
            let sent = [Scope::PerGpu, Scope::Global].map(|scope| model.estimate(&batch, scope).unwrap());
            let message = write(&[&sent[0], &sent[1]]).to_compact();
            let arrived = read(&parse(&message).unwrap().root).unwrap();
            assert_eq!(arrived.len(), 2);
            for (before, after) in sent.iter().zip(&arrived) {
                assert_eq!(before.cost(), after.cost(), "{}", preset.id);
                for (before, after) in before.parts.iter().zip(&after.parts) {
                    assert_eq!(before.component, after.component);
                    for (a, b) in before.terms.iter().zip(&after.terms) {
                        assert_eq!((a.def.name, a.def.operation, a.amount), (b.def.name, b.def.operation, b.amount));
                        assert_eq!((a.def.quantity, a.def.traffic), (b.def.quantity, b.def.traffic));
                        assert_eq!(a.def.formula.text(), b.def.formula.text());
                        // Every number that was put in: the formula gives the amount again.
                        assert_eq!(before.written(a), after.written(b));
                    }
                    let precisions = |part: &Part| part.sheets.iter().map(|sheet| sheet.precision).collect::<Vec<_>>();
                    assert_eq!(precisions(before), precisions(after));
                }
            }
            // The same definitions a second time, not further ones.
            let again = read(&parse(&message).unwrap().root).unwrap();
            assert!(std::ptr::eq(again[0].parts[0].terms[0].def, arrived[0].parts[0].terms[0].def));
        }
    }

    #[test]
    fn what_is_no_breakdown_is_none() {
        for text in [
            "{}",
            "{\"defs\":[],\"breakdowns\":7}",
            "{\"defs\":[],\"breakdowns\":[[[\"attn\",[[0,1,0]],[[null]]]]]}",
            "{\"defs\":[[\"a\",\"b\",0,0,\"nothing\"]],\"breakdowns\":[]}",
            "{\"defs\":[[\"a\",\"b\",9,0,\"T\"]],\"breakdowns\":[]}",
            "{\"defs\":[[\"a\",\"b\",0,0,\"T\"]],\"breakdowns\":[[[\"attn\",[[0,-1,0]],[[null]]]]]}",
            "{\"defs\":[[\"a\",\"b\",0,0,\"T\"]],\"breakdowns\":[[[\"attn\",[[0,1,1]],[[null]]]]]}",
        ] {
            assert!(read(&parse(text).unwrap().root).is_none(), "{text}");
        }
    }
}
