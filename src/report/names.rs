//! What scenarios are called: by a given name, or by what tells them apart.

use crate::batch::case::VerifyAs;
use crate::scenario::state::{Comparison, ModelChoice, Scenario};

/// A name a scenario, no two equal. A name that was given stands; the others name what differs between the scenarios,
/// the layout where nothing does: `TP8 EP8`, `Qwen3 8B · fp8`. Of equal names all but the first get a number.
#[must_use]
pub fn names(comparison: &Comparison, model_name: &dyn Fn(&ModelChoice) -> String) -> Vec<String> {
    let scenarios = comparison.scenarios();
    let mut words: Vec<Vec<String>> = vec![Vec::new(); scenarios.len()];
    for aspect in ASPECTS {
        let said: Vec<String> = scenarios.iter().map(|scenario| aspect(scenario, model_name)).collect();
        if said.windows(2).any(|pair| matches!(pair, [a, b] if a != b)) {
            words.iter_mut().zip(said).for_each(|(words, word)| words.push(word));
        }
    }
    let mut names: Vec<String> = vec![String::new(); scenarios.len()];
    // Given names first: an automatic one makes way for them.
    for given in [true, false] {
        for (place, (scenario, words)) in scenarios.iter().zip(&words).enumerate() {
            if scenario.name.is_empty() == given {
                continue;
            }
            let name = match (given, words.is_empty()) {
                (true, _) => scenario.name.clone(),
                (false, true) => scenario.layout.label(),
                (false, false) => words.join(" · "),
            };
            let name = unlike(&names, name);
            if let Some(slot) = names.get_mut(place) {
                *slot = name;
            }
        }
    }
    names
}

/// The name, with the first number that sets it apart from those that are taken.
fn unlike(taken: &[String], name: String) -> String {
    if !taken.contains(&name) {
        return name;
    }
    (2..=taken.len() + 1).map(|number| format!("{name} ({number})")).find(|name| !taken.contains(name)).unwrap_or(name)
}

type Aspect = fn(&Scenario, &dyn Fn(&ModelChoice) -> String) -> String;

/// In the order in which a name says them.
const ASPECTS: [Aspect; 10] = [
    |scenario, model_name| model_name(&scenario.model),
    |scenario, _| scenario.layout.label(),
    |scenario, _| match scenario.quantization.name() {
        "none" => "unquantized".to_owned(),
        name => format!("quant {name}"),
    },
    |scenario, _| format!("KV {}", scenario.kv_cache.name()),
    |scenario, _| scenario.dtype.map_or("dtype auto", |dtype| dtype.name()).to_owned(),
    |scenario, _| if scenario.disable_sliding_window { "no window" } else { "window" }.to_owned(),
    |scenario, _| scenario.case().map(|case| case.name().to_owned()).unwrap_or_default(),
    |scenario, _| match scenario.verify {
        VerifyAs::Decode => "verify as decode".to_owned(),
        VerifyAs::Prefill => "verify as prefill".to_owned(),
    },
    |scenario, _| {
        let accelerator = scenario.accelerator.accelerator();
        accelerator.map_or_else(|| scenario.accelerator.id.clone(), |accelerator| accelerator.name.into_owned())
    },
    |scenario, _| scenario.precision.map_or("roof auto", |precision| precision.label()).to_owned(),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Scope;
    use crate::report::fixtures::scenario;
    use crate::scenario::hardware::AcceleratorChoice;
    use crate::settings::QuantizationChoice;

    fn called(scenarios: Vec<Scenario>) -> Vec<String> {
        let comparison = Comparison::new(scenarios, 0, Vec::new(), Scope::PerGpu).unwrap();
        names(&comparison, &|model| match model {
            ModelChoice::Preset(id) => id.clone(),
            ModelChoice::Custom(custom) => custom.name.clone(),
        })
    }

    fn tp8() -> Scenario {
        scenario("", 8, 1, 1, false)
    }

    fn named(name: &str) -> Scenario {
        Scenario { name: name.to_owned(), ..tp8() }
    }

    #[test]
    fn by_what_differs() {
        assert_eq!(called(vec![tp8()]), ["TP8"]);
        assert_eq!(called(vec![tp8(), scenario("", 8, 1, 1, true)]), ["TP8", "TP8 EP8"]);
        let plain = Scenario { quantization: QuantizationChoice::None, ..scenario("1@8", 4, 1, 1, false) };
        assert_eq!(called(vec![tp8(), plain]), ["TP8 · quant auto · mix", "TP4 · unquantized · 1@8"]);
        let other = Scenario { model: ModelChoice::Preset("gemma".into()), ..tp8() };
        assert_eq!(called(vec![tp8(), other]), ["deepseek-v3", "gemma"]);
        let b200 = Scenario { accelerator: AcceleratorChoice::listed("b200-sxm"), ..tp8() };
        assert_eq!(called(vec![tp8(), b200, tp8()]), ["H200 SXM", "B200 SXM", "H200 SXM (2)"]);
    }

    #[test]
    fn never_two_equal_and_given_names_win() {
        assert_eq!(called(vec![tp8(), tp8(), tp8()]), ["TP8", "TP8 (2)", "TP8 (3)"]);
        assert_eq!(called(vec![tp8(), named("TP8")]), ["TP8 (2)", "TP8"]);
        assert_eq!(called(vec![named("x"), named("x"), named("x (2)")]), ["x", "x (2)", "x (2) (2)"]);
    }
}
