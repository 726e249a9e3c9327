//! Parameters against those that the model library's own classes have.

use crate::beside;
use rooflens::json::{Node, Value};
use rooflens::model::ModelSpec;

fn int(node: &Node) -> i128 {
    match node.value {
        Value::Int(value) => value,
        _ => 0,
    }
}

/// Models whose counted language part holds what joins the vision tower to it, with the parameters of that.
const CONNECTORS: [(&str, i128); 2] =
    [("ibm-granite__granite-docling-258M.json", 7_077_888), ("openbmb__MiniCPM-V-4_6-AWQ.json", 25_967_104)];

/// What differs by more than allowed: the total by 0.1 %, a category by 0.5 %.
fn differences(case: &Node, spec: &ModelSpec) -> (bool, Vec<String>) {
    let anatomy = match &spec.anatomy {
        Ok(anatomy) => anatomy,
        Err(reason) => return (false, vec![reason.clone()]),
    };
    let parameters = anatomy.parameters();
    let mut wrong = vec![];
    let mut compare = |name: &str, theirs: i128, ours: i128, percent: f64| {
        let error = (ours - theirs) as f64 / (theirs.max(1) as f64) * 100.0;
        if error.abs() > percent {
            wrong.push(format!("{name}: counted {theirs}, described {ours} ({error:+.3} %, {})", ours - theirs));
        }
    };
    let name = case.get("config").and_then(Node::text).unwrap();
    let connector = CONNECTORS.iter().find(|(model, _)| *model == name).map_or(0, |(_, parameters)| *parameters);
    let total = int(case.get("language_total").unwrap()) - connector;
    let ours = i128::try_from(parameters.total()).unwrap();
    compare("total", total, ours, 0.1);
    let named: Vec<_> = parameters.categories.named().collect();
    let ours_of = |name: &str| named.iter().find(|(other, _)| *other == name).map_or(0, |(_, amount)| *amount as i128);
    // DBRX calls the object around its attention a norm; in Nemotron-H every layer's only part is a "mixer".
    let dbrx = spec.text_type == "dbrx";
    let mixers = spec.text_type == "nemotron_h";
    for member in case.get("categories").unwrap().members().iter().filter(|_| connector == 0) {
        let (key, theirs) = (member.key.as_str(), int(&member.node));
        match key {
            "towers" => {}
            "attention" if mixers => compare(key, theirs, ours_of(key) + ours_of("mlp"), 0.5),
            "mlp" if mixers => {}
            "norm" if dbrx => compare("norm", theirs, ours_of("norm") + ours_of("attention"), 0.5),
            _ => compare(key, theirs, ours_of(key), 0.5),
        }
    }
    (total == ours, wrong)
}

#[test]
fn all_counted_models() {
    let Some(folder) = beside::folder("golden/params.json") else { return };
    let cases = beside::json(&folder.join("golden/params.json"));
    let (mut exact, mut wrong) = (0, vec![]);
    let cases = cases.items().expect("a list");
    for case in cases {
        let name = case.get("config").and_then(Node::text).unwrap();
        let spec = beside::config(&folder, name);
        let (equal, found) = differences(case, &spec);
        exact += usize::from(equal);
        if !equal {
            println!("parameters: {name} is not exact");
        }
        if !found.is_empty() {
            wrong.push(format!("{name}: {found:#?}"));
        }
    }
    println!("parameters: {} models, {exact} exact, {} beyond the limits", cases.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() >= 108);
}
