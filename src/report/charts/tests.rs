use super::*;
use crate::chart::bars::Bars;
use crate::estimate::Breakdown;
use crate::report::fixtures::{accelerators, entries, example, layouts, scenario, spec};
use crate::report::sweep_table;
use crate::sweep::{Axis, Measure, Series, sweep};

/// Keys, labels, totals and segments in words.
fn words(bars: &Bars) -> String {
    let mut words = String::new();
    for group in &bars.groups {
        words.extend([&group.heading, "\n"]);
        for row in &group.rows {
            words.extend([format!("  {}|{}|{}\n", row.key, row.label, row.total)]);
            let labels = row.segments.iter().map(|segment| segment.label.replace('\n', " / "));
            words.extend(labels.map(|label| format!("    {label}\n")));
        }
    }
    words.replace(crate::format::THIN_SPACE, "_")
}

#[test]
fn one_scenario_and_two_in_words() {
    let cases = layouts(2);
    let (one, two) = (entries(&cases[..1]), entries(&cases));
    insta::assert_snapshot!("bars_of_one", words(&bars(&one, &Theme::LIGHT, &all)));
    insta::assert_snapshot!("bars_of_two", words(&bars(&two, &Theme::LIGHT, &all)));
    insta::assert_snapshot!("operations_of_two", words(&operation_bars(&two, &Theme::LIGHT, &all)));
    insta::assert_snapshot!("traffic_of_one", words(&traffic_bars(&one, &Theme::LIGHT, &all)));
    insta::assert_snapshot!("traffic_of_two", words(&traffic_bars(&two, &Theme::LIGHT, &all)));
}

#[test]
fn layers_sum_to_the_whole_however_it_is_cut() {
    let cases = layouts(8);
    let entries = entries(&cases);
    let theme = &Theme::DARK;
    for bars in [bars(&entries, theme, &all), operation_bars(&entries, theme, &all)] {
        for (entry, rows) in entries.iter().zip(0..) {
            let cost = entry.breakdown.cost();
            let wholes = [cost.flops.as_f64(), cost.read.as_f64(), cost.write.as_f64()];
            for (group, whole) in bars.groups.iter().zip(wholes) {
                let row: &crate::chart::bars::BarRow = &group.rows[rows];
                let sum: f64 = row.segments.iter().map(|segment| segment.value).sum();
                assert!((sum / whole - 1.0).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn a_hidden_layer_leaves_the_bars_and_is_said_in_the_totals() {
    let cases = layouts(2);
    let without = |layer: Layer| layer != Layer::Component(Component::Ffn);
    let chart = bars(&entries(&cases), &Theme::LIGHT, &without);
    assert_eq!(chart.groups[0].rows[0].total, "78.8 of 129");
    assert!(chart.groups.iter().flat_map(|group| &group.rows).all(|row| row.segments.len() == 2));
    let alone = bars(&entries(&cases[..1]), &Theme::LIGHT, &without);
    assert_eq!(alone.groups[0].rows[0].total, "78.8 of 129 TFLOP");
    let weights = |layer: Layer| layer == Layer::Traffic(Traffic::Weights);
    let total = &traffic_bars(&entries(&cases), &Theme::LIGHT, &weights).groups[0].rows[0].total;
    assert!(total.ends_with(" of 285"), "{total}");
    let points = roofline(&entries(&cases), &Theme::LIGHT, &without).points;
    assert!(points.iter().all(|mark| mark.shape != Shape::Square) && points.len() == 6);
}

#[test]
fn operations_have_colours_of_their_own_near_their_components() {
    for theme in [&Theme::LIGHT, &Theme::DARK] {
        let cases = layouts(4);
        let layers = operations(&entries(&cases), theme);
        assert!(layers.len() <= 11, "{layers:?}");
        for (place, (_, colour)) in layers.iter().enumerate() {
            assert!(layers.iter().skip(place + 1).all(|(_, other)| other != colour), "{layers:?}");
        }
        assert!(layers.iter().any(|(_, colour)| *colour == theme.parts.ffn));
    }
    assert!(operations(&[], &Theme::LIGHT).is_empty() && components(&[], &Theme::LIGHT).is_empty());
}

#[test]
fn one_accelerator_shows_its_other_rates_and_several_only_those_in_use() {
    let case = example();
    let chart = roofline(&[case.entry(0)], &Theme::LIGHT, &all);
    let lines = |chart: &crate::chart::roofline::Roofline| {
        chart.roofs.iter().map(|roof| format!("{} {} {:?}", roof.label, roof.dashed, roof.ridge)).collect::<Vec<_>>()
    };
    assert_eq!(lines(&chart), ["FP8 1.98 PFLOP/s false Some(\"ridge 412 FLOP/B\")", "BF16 989 TFLOP/s true None"],);
    assert_eq!((chart.slopes.len(), chart.slopes[0].label.as_str()), (1, "memory 4.80 TB/s"));
    assert!(chart.points.iter().all(|mark| !mark.emphasised));
    let cases = accelerators();
    let chart = roofline(&entries(&cases), &Theme::LIGHT, &all);
    let labels: Vec<_> =
        chart.roofs.iter().map(|roof| (roof.label.as_str(), roof.short.as_str(), roof.slope)).collect();
    assert_eq!(
        labels,
        [
            ("H200 SXM FP8 1.98 PFLOP/s", "H200 SXM FP8", 0),
            ("B200 SXM FP4 9.00 PFLOP/s", "B200 SXM FP4", 1),
            ("Instinct MI300X FP8 2.62 PFLOP/s", "Instinct MI300X FP8", 2),
            ("H200 SXM BF16 989 TFLOP/s", "H200 SXM BF16", 0),
        ],
    );
    let letters: String = chart.points.iter().filter(|mark| mark.emphasised).map(|mark| mark.letter.as_str()).collect();
    assert_eq!((letters.as_str(), chart.slopes.len(), chart.points.len()), ("ABCD", 3, 16));
}

#[test]
fn nothing_draws_nothing() {
    let nothing = Breakdown::default();
    let case = example();
    let empty = crate::report::Entry { breakdown: &nothing, per_gpu: &nothing, roof: None, ..case.entry(0) };
    for entries in [&[][..], &[empty], &[empty, empty]] {
        assert!(roofline(entries, &Theme::LIGHT, &all).points.is_empty());
        assert_eq!(bars(entries, &Theme::LIGHT, &all).groups.len(), 3);
        assert_eq!(operation_bars(entries, &Theme::LIGHT, &all).groups.len(), 3);
        assert_eq!(traffic_bars(entries, &Theme::LIGHT, &all).groups.len(), 1);
    }
}

#[test]
fn a_sweep_as_lines_and_as_a_table() {
    let spec = spec("deepseek-v3");
    let sweep_of =
        |ep, values: &[u64]| sweep(&scenario("8192", 8, 1, 1, ep), &spec, Axis::NewTokens, Measure::Time, values);
    let series: [Series; 2] = [sweep_of(false, &[64, 1024, 8192]), sweep_of(true, &[64, 4096, 8192, 0])];
    let swept = [
        Swept { key: 'A', name: "TP8", place: 0, series: &series[0] },
        Swept { key: 'B', name: "TP8 EP8", place: 1, series: &series[1] },
    ];
    let table = sweep_table(&swept, Axis::NewTokens, Measure::Time);
    let mut text = format!("{}: {}\n", table.caption, table.heads.join(" | "));
    for row in &table.rows {
        let cells = row.cells.iter().map(|(text, _, bound)| format!("{text} {bound:?}"));
        text.extend([format!("{}: {}\n", row.head, cells.collect::<Vec<_>>().join(" | "))]);
    }
    insta::assert_snapshot!("sweep_table", text.replace(crate::format::THIN_SPACE, "_"));

    let lines = sweep_lines(&swept, Axis::NewTokens, &Theme::LIGHT, (true, true));
    let flips: Vec<_> = lines.series.iter().flat_map(|line| &line.flips).map(|flip| flip.label.as_str()).collect();
    assert_eq!(flips, ["A: memory → compute", "B: memory → compute"]);
    assert_eq!(
        sweep_lines(&swept[..1], Axis::Tp, &Theme::LIGHT, (false, false)).series[0].flips[0].label,
        "memory → compute"
    );
}

#[test]
fn ticks_of_sweeps_are_short() {
    let x = [0.0, 1.0, 500.0, 1000.0, 1024.0, 8192.0, 1_048_576.0, 1e20, 0.5, f64::NAN].map(sweep_x_tick);
    assert_eq!(
        x.map(|tick| tick.replace('\u{202f}', "_")),
        ["0", "1", "500", "1_000", "1Ki", "8Ki", "1Mi", "1.00e20", "0.500", "–"]
    );
    let scale = crate::format::Scale::for_largest(Unit::SECOND, 0.3);
    let y = [0.0, 0.1, 0.0005, 0.25, f64::NAN].map(|value| sweep_y_tick(&scale, value));
    assert_eq!(y, ["0", "100", "0.5", "250", "–"]);
}
