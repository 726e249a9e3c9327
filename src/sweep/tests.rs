use super::*;
use crate::report::fixtures::{scenario, spec};
use proptest::prelude::*;

fn v3() -> ModelSpec {
    spec("deepseek-v3")
}

/// What the sweep must say of a scenario, by the long way.
fn direct(scenario: &Scenario, spec: &ModelSpec, measure: Measure) -> (Option<f64>, Option<Bound>) {
    let vllm = Vllm::new(spec, &scenario.settings());
    let cost = vllm.estimate(&scenario.case().unwrap().batch_with(scenario.verify), Scope::PerGpu).unwrap().cost();
    let accelerator = scenario.accelerator.accelerator().unwrap();
    let roof = Roof::of(&accelerator, crate::hardware::Precision::Fp8).unwrap();
    let summary = Summary::of(cost, Some(&roof));
    (measure.value(&summary, scenario.case().unwrap().totals().tokens()), summary.bound)
}

#[test]
fn a_point_is_the_estimate_of_its_scenario() {
    let spec = v3();
    for text in ["", "32*1@8192", "4*2048@10240c,16*4@4096:3", "8192"] {
        let scenario = scenario(text, 8, 1, 1, true);
        for axis in Axis::ALL {
            for measure in Measure::ALL {
                let values = axis.values(&scenario, &spec);
                assert!(!values.is_empty() && values.len() <= MOST_POINTS, "{text} {axis:?}");
                for sample in sweep(&scenario, &spec, axis, measure, &values).points {
                    let other = axis.apply(&scenario, sample.x).unwrap();
                    assert_eq!((sample.value, sample.bound), direct(&other, &spec, measure), "{text} {axis:?}");
                    assert!(sample.value.is_some());
                }
            }
        }
    }
}

#[test]
fn the_scenario_is_a_point_of_its_own_axes() {
    for axis in Axis::ALL {
        let scenario = scenario("32*1@8192", 8, 1, 1, axis == Axis::Ep);
        let value = axis.value(&scenario).unwrap();
        let same = axis.apply(&scenario, value).unwrap();
        assert_eq!((same.case(), same.layout), (scenario.case(), scenario.layout), "{axis:?}");
        assert!(axis.values(&scenario, &v3()).contains(&value), "{axis:?}");
    }
}

#[track_caller]
fn case(text: &str, axis: Axis, value: u64, expected: Option<&str>) {
    let applied = axis.apply(&scenario(text, 8, 1, 1, false), value);
    assert_eq!(applied.map(|s| s.case().unwrap().body()).as_deref(), expected, "{text} {axis:?} {value}");
}

#[test]
fn what_the_axes_of_the_batch_do() {
    case("32*1@8192", Axis::Requests, 5, Some("5*1@8192"));
    case("8192,32*1@8192", Axis::Requests, 66, Some("2*8192,64*1@8192"));
    case("8192,32*1@8192", Axis::Requests, 65, None);
    case("8192,32*1@8192", Axis::Requests, 0, None);
    case("8192,32*1@8192", Axis::KvLength, 100, Some("100,32*1@100"));
    case("512@4096c", Axis::KvLength, 512, None);
    case("512@4096c", Axis::KvLength, 513, Some("512@513c"));
    case("8192,32*1@8192", Axis::NewTokens, 100, Some("100,32*1@8192"));
    case("512@4608", Axis::NewTokens, 16, Some("16@4112"));
    case("512@4608", Axis::NewTokens, 1, None);
    case("2*1@8192", Axis::NewTokens, 4, Some("2*4@8195:3"));
    case("2*4@8195:3", Axis::NewTokens, 1, Some("2*1@8192"));
    case("2*1@8192", Axis::NewTokens, 0, None);
    case("2*1@8192", Axis::KvLength, u64::MAX, None);
}

#[test]
fn layouts_that_vllm_refuses_have_no_value() {
    let (spec, scenario) = (v3(), scenario("", 8, 1, 1, false));
    let points = sweep(&scenario, &spec, Axis::Tp, Measure::Time, &[0, 1, 3, 8, 1 << 40]).points;
    assert_eq!(points.iter().map(|p| p.value.is_some()).collect::<Vec<_>>(), [false, true, false, true, false]);
    assert_eq!(Axis::Tp.values(&scenario, &spec), [1, 2, 4, 8, 16, 32, 64]);
    assert_eq!(Axis::Dp.values(&scenario, &spec).len(), 9);
    // Experts over 8, 16... ranks: the tensor parallel size stays, the data parallel size grows.
    assert_eq!(Axis::Ep.values(&scenario, &spec)[..3], [8, 16, 32]);
    assert_eq!(Axis::Ep.apply(&scenario, 32).map(|s| s.layout.label()).as_deref(), Some("TP8 DP4 EP32"));
    assert_eq!((Axis::Ep.apply(&scenario, 12), Axis::Ep.value(&scenario)), (None, None));
}

#[test]
fn a_decode_of_more_and_more_requests_flips_once_to_compute() {
    let (spec, scenario) = (spec("llama-3.1-70b"), scenario("1@128", 8, 1, 1, false));
    let values: Vec<u64> = (1..=4096).collect();
    let series = sweep(&scenario, &spec, Axis::Requests, Measure::Time, &values);
    let [flip] = series.flips[..] else { panic!("{:?}", series.flips) };
    assert_eq!(series.flip(flip), Some((Bound::Memory, Bound::Compute)));
    let bound = |place: usize| series.points[place].bound;
    assert!((0..flip).all(|place| bound(place) == Some(Bound::Memory)));
    assert!((flip..4096).all(|place| bound(place) == Some(Bound::Compute)));
}

#[test]
fn flips_pass_over_points_without_a_bound() {
    let (spec, scenario) = (v3(), scenario("33*1@1024", 8, 1, 1, false));
    let every: Vec<u64> = Axis::NewTokens.values(&scenario, &spec);
    let gaps: Vec<u64> = every.iter().flat_map(|value| [*value, 0]).collect();
    let (plain, gapped) = [every, gaps].map(|v| sweep(&scenario, &spec, Axis::NewTokens, Measure::Time, &v)).into();
    assert_eq!(gapped.flips, plain.flips.iter().map(|place| place * 2).collect::<Vec<_>>());
    assert_eq!(plain.flip(0), None);
}

proptest! {
    #[test]
    fn a_longer_kv_never_costs_less(count in 1..600_u64, dp in 1..4_u32, texts in 0..3_usize) {
        let text = [format!("{count}*1@8192"), format!("{count}*64@8192"), format!("8192,{count}*1@8192")];
        let scenario = scenario(&text[texts], 8, 1, dp, false);
        let spec = v3();
        let values = Axis::KvLength.values(&scenario, &spec);
        for measure in [Measure::Flops, Measure::Read, Measure::Written, Measure::Moved, Measure::Time] {
            let points = sweep(&scenario, &spec, Axis::KvLength, measure, &values).points;
            prop_assert!(points.windows(2).all(|pair| pair[0].value <= pair[1].value), "{measure:?}");
        }
    }

    #[test]
    fn no_value_panics(value in any::<u64>(), axis in 0..6_usize) {
        for text in ["8192,32*1@8192", "1000000000*1@8", "4*2048@10240c,16*4@4096:3"] {
            let points = sweep(&scenario(text, 8, 1, 1, true), &v3(), Axis::ALL[axis], Measure::TokensPerSecond, &[value]);
            prop_assert_eq!(points.points.len(), 1);
        }
    }
}
