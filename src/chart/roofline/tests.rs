use proptest::prelude::*;

use super::*;
use crate::chart::svg;
use crate::chart::text::Text;

/// As the page would: three digits and a prefix.
fn tick(value: f64) -> String {
    let prefixes = [(1e15, " P"), (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, "k")];
    let found = prefixes.into_iter().find(|(unit, _)| value >= *unit && value < unit * 1e3);
    found.map_or_else(|| format!("{value}"), |(unit, prefix)| format!("{}{prefix}", value / unit))
}

fn axes() -> Axes<'static> {
    Axes {
        x_title: "arithmetic intensity, FLOP per byte",
        y_title: "attainable FLOP/s per GPU",
        x_tick: &tick,
        y_tick: &tick,
    }
}

fn roof(label: &str, peak: f64, dashed: bool, ridge: &str) -> Roof {
    let ridge = (!ridge.is_empty()).then(|| ridge.into());
    Roof { label: label.into(), peak, dashed, ridge, ..Roof::default() }
}

fn slope(label: &str, bytes_per_second: f64) -> Slope {
    Slope { label: label.into(), short: "HBM".into(), bytes_per_second }
}

fn h200(points: Vec<Mark>) -> Roofline {
    Roofline {
        roofs: vec![
            roof("fp8 1.98 PFLOP/s", 1979e12, false, "ridge 412 FLOP/B"),
            roof("bf16 989 TFLOP/s", 989e12, true, "206"),
        ],
        slopes: vec![slope("HBM 4.8 TB/s", 4.8e12)],
        points,
    }
}

fn mark(label: &str, intensity: f64, rate: f64, shape: Shape, scenario: usize) -> Mark {
    let colour = Theme::LIGHT.scenario(scenario);
    let letter = label.into();
    Mark { label: String::new(), letter, intensity, rate, shape, colour, emphasised: shape == Shape::Circle }
}

/// DeepSeek-V3 on eight H200, one prefill of 8192 tokens and 32 decodes, by vLLM's counters.
fn four_scenarios() -> Roofline {
    let intensities = [
        [452.0, 1223.0, 226.0, 34.4],
        [881.0, 1223.0, 727.0, 34.4],
        [1847.0, 2680.0, 727.0, 32.4],
        [598.0, 1713.0, 310.0, 32.2],
    ];
    let shapes = [Shape::Circle, Shape::Triangle, Shape::Square, Shape::Diamond];
    let points = intensities.into_iter().zip(["A", "B", "C", "D"]).enumerate().flat_map(|(scenario, (row, label))| {
        let mark = move |(intensity, shape): (f64, Shape)| {
            mark(label, intensity, (intensity * 4.8e12).min(1979e12), shape, scenario)
        };
        row.into_iter().zip(shapes).map(mark)
    });
    h200(points.collect())
}

fn drawing(roofline: &Roofline, width: f64, height: f64) -> (String, Drawn) {
    svg(width, height, |backend, frame| draw(backend, frame, &Theme::LIGHT, roofline, &axes())).unwrap()
}

#[test]
fn four_scenarios_as_svg() {
    let (document, drawn) = drawing(&four_scenarios(), 560.0, 400.0);
    assert_eq!((drawn.regions.len(), drawn.left_out, drawn.unlabelled), (16, vec![], vec![]));
    insta::assert_snapshot!(document);
}

/// Four scenarios on three accelerators, two of them on the same slope.
fn accelerators() -> Roofline {
    let on = |roof: Roof, short: &str, slope| Roof { short: short.into(), slope, ..roof };
    Roofline {
        roofs: vec![
            on(roof("H200 SXM FP8 1.98 PFLOP/s", 1979e12, false, "ridge 412"), "H200 SXM FP8", 0),
            on(roof("B200 SXM FP4 9.00 PFLOP/s", 9e15, false, "ridge 1120"), "B200 SXM FP4", 1),
            on(roof("MI300X FP8 2.62 PFLOP/s", 2615e12, false, "ridge 493"), "MI300X FP8", 2),
            on(roof("H200 SXM BF16 989 TFLOP/s", 989e12, false, "ridge 206"), "H200 SXM BF16", 0),
        ],
        slopes: vec![slope("H200 SXM 4.80 TB/s", 4.8e12), slope("B200 SXM 8.00 TB/s", 8e12), slope("MI300X", 5.3e12)],
        points: ["A", "B", "C", "D"]
            .into_iter()
            .zip([1979e12, 3616e12, 2396e12, 989e12])
            .enumerate()
            .map(|(place, (letter, rate))| mark(letter, 452.0, rate, Shape::Circle, place))
            .collect(),
    }
}

#[test]
fn three_accelerators_as_svg() {
    let (document, drawn) = drawing(&accelerators(), 640.0, 400.0);
    assert!(drawn.unlabelled.len() <= 1, "{:?}", drawn.unlabelled);
    insta::assert_snapshot!(document);
}

#[test]
fn each_memory_has_its_slope_up_to_its_own_roofs() {
    let layout = layout::layout(&accelerators(), &axes(), 640.0, 400.0);
    assert_eq!(layout.lines.len(), 7);
    let (slopes, roofs) = layout.lines.split_at(3);
    for slope in slopes {
        assert!(roofs.iter().any(|roof| roof.from == slope.to), "{slope:?} ends in a ridge");
    }
    let roofs = accelerators().roofs.into_iter().map(|roof| Roof { slope: 9, ..roof }).collect();
    let apart = Roofline { roofs, ..accelerators() };
    assert!(layout::layout(&apart, &axes(), 640.0, 400.0).ridges.is_empty(), "roofs without a slope have no ridge");
}

#[test]
fn markers_move_below_their_points_where_a_kernel_can_be() {
    for (roofline, width) in [(four_scenarios(), 560.0), (four_scenarios(), 320.0), (accelerators(), 320.0)] {
        let layout = layout::layout(&roofline, &axes(), width, 400.0);
        assert!(layout.marks.iter().all(|mark| mark.centre.1 >= mark.point.1), "{width}");
        assert!(layout.marks.iter().any(|mark| mark.centre.1 > mark.point.1), "{width}");
    }
}

#[test]
fn every_label_finds_a_place_on_a_telephone() {
    assert_eq!(drawing(&four_scenarios(), 328.0, 300.0).1.unlabelled, Vec::<String>::new());
}

#[test]
fn nothing_as_svg() {
    let (document, drawn) = drawing(&Roofline::default(), 300.0, 200.0);
    assert_eq!(drawn, Drawn::default());
    insta::assert_snapshot!(document);
}

#[test]
fn one_point_as_svg() {
    let point = mark("A", 2.0, 9.6e12, Shape::Circle, 0);
    insta::assert_snapshot!(drawing(&h200(vec![point]), 400.0, 300.0).0);
}

#[test]
fn marks_without_a_place_are_reported() {
    let odd = [0.0, f64::NAN, 10.0, f64::INFINITY, -1.0];
    let mut points: Vec<_> = odd.into_iter().map(|x| mark("A", x, 1e12, Shape::Square, 0)).collect();
    points.push(mark("B", 10.0, 0.0, Shape::Square, 0));
    let drawn = drawing(&h200(points), 400.0, 300.0).1;
    assert_eq!(drawn.left_out, [0, 1, 3, 4, 5]);
    assert_eq!(drawn.regions.iter().map(|r| r.mark).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_memory_that_passes_by_the_marks_draws_no_slope() {
    let marks_only = |x, rate| Roofline { roofs: vec![], ..h200(vec![mark("A", x, rate, Shape::Circle, 0)]) };
    for (roofline, lines) in [(h200(vec![]), 3), (marks_only(1.0, 1e12), 1), (marks_only(1.0, 1e3), 0)] {
        assert_eq!(layout::layout(&roofline, &axes(), 400.0, 300.0).lines.len(), lines, "{roofline:?}");
    }
}

#[test]
fn coinciding_marks_stay_apart_and_can_be_pointed_at() {
    let twins = (0..8).map(|i| mark("A", 300.0, 1.4e15, Shape::Circle, i));
    let small = (0..3).map(|i| mark("", 30.0, 1.4e14, Shape::Square, i));
    let layout = layout::layout(&h200(twins.chain(small).collect()), &axes(), 560.0, 400.0);
    let centres: Vec<_> = layout.marks.iter().filter(|m| m.emphasised).map(|m| m.centre).collect();
    for (i, a) in centres.iter().enumerate() {
        assert!(centres.iter().skip(i + 1).all(|b| (a.0 - b.0).hypot(a.1 - b.1) > 12.0), "{centres:?}");
    }
    let rings: Vec<_> = layout.marks.iter().filter(|m| !m.emphasised).map(|m| m.ring).collect();
    assert_eq!(rings, [2, 1, 0], "the largest lowest");
}

#[test]
fn odd_numbers_and_sizes_do_no_harm() {
    let odd =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, f64::MIN_POSITIVE / 4.0, 1e-300, 1.0, 1e300, f64::MAX];
    let sizes = [f64::NAN, -1.0, 0.0, 1.0, 30.0, 90.0, 300.0, 2000.0, f64::INFINITY];
    for bytes_per_second in odd {
        for peak in odd {
            let roofs = vec![roof("one", peak, false, "r"), roof("two", 1.0, true, "")];
            let points = odd.map(|x| mark("A", x, x, Shape::Circle, 0)).into();
            let slopes = vec![slope("memory", bytes_per_second), slope("other", 1.0)];
            let roofline = Roofline { roofs, slopes, points };
            for size in sizes {
                let drawn = drawing(&roofline, size, size).1;
                assert!(drawn.regions.iter().all(|r| r.area.x0.is_finite() && r.area.y1.is_finite()));
            }
        }
    }
}

fn any_roofline() -> impl Strategy<Value = Roofline> {
    let roof = (8.0..17.0_f64, any::<bool>(), "[a-z0-9 ]{0,20}", proptest::option::of("[a-z0-9 ]{1,16}"), 0..4_usize);
    let shape = prop::sample::select(Shape::ALL.as_slice());
    let point = (-3.0..6.0_f64, 8.0..17.0_f64, shape, any::<bool>());
    let roofs = prop::collection::vec(roof, 0..5);
    let slopes = prop::collection::vec(8.0..14.0_f64, 0..4);
    (roofs, slopes, prop::collection::vec(point, 0..40)).prop_map(|(roofs, slopes, marks)| Roofline {
        roofs: roofs
            .into_iter()
            .map(|(log, dashed, label, ridge, slope)| {
                let short = "fp8".into();
                Roof { label, short, peak: 10_f64.powf(log), dashed, ridge, slope }
            })
            .collect(),
        slopes: slopes.into_iter().map(|log| slope("memory 4.8 TB/s", 10_f64.powf(log))).collect(),
        points: marks
            .into_iter()
            .map(|(x, y, shape, emphasised)| Mark { emphasised, ..mark("A", 10_f64.powf(x), 10_f64.powf(y), shape, 0) })
            .collect(),
    })
}

/// Slopes of links that cross both roofs leave little room beside the lower one: its label stands at it, or nowhere.
#[test]
fn a_label_stands_at_its_own_roof() {
    let hexagons = [(2100.0, 945e12), (30_000.0, 989e12)].map(|(x, y)| mark("", x, y, Shape::Hexagon, 0));
    let mut chart = h200(vec![mark("", 16.0, 70e12, Shape::Circle, 0)]);
    chart.points.extend(hexagons);
    chart.slopes.extend([slope("Links in the node 450 GB/s", 450e9), slope("Links between nodes 50.0 GB/s", 50e9)]);
    let mut shown = 0;
    for width in (300..900).step_by(10).map(f64::from) {
        let layout = layout::layout(&chart, &axes(), width, 0.62 * width);
        // Roofs are the level lines that end at the plot's right edge.
        let level = |dashed: bool| {
            let roof = layout
                .lines
                .iter()
                .find(|line| line.dashed == dashed && (line.from.1 - line.to.1).abs() < 1e-9)
                .unwrap();
            roof.from.1
        };
        for (label, own, other) in [("fp8", level(false), level(true)), ("bf16", level(true), level(false))] {
            for text in layout.texts.iter().filter(|text| text.words.starts_with(label)) {
                let from = |y: f64| (text.y - y).abs();
                assert!(from(own) < from(other), "{width}: {text:?} stands at {own} and {other}");
                shown += 1;
            }
        }
    }
    assert!(shown > 60, "{shown} labels of 120");
}

proptest! {
    #[test]
    fn labels_never_lie_on_each_other_or_on_a_line(
        roofline in any_roofline(),
        width in 0.0..1600.0_f64,
        height in 0.0..900.0_f64,
    ) {
        let layout = layout::layout(&roofline, &axes(), width, height);
        let bounds = Rect::new(0.0, 0.0, width, height);
        for (i, text) in layout.texts.iter().enumerate() {
            let area = text.area();
            prop_assert!(bounds.encloses(&area), "{text:?} leaves the chart");
            let others = layout.texts.iter().skip(i + 1).map(Text::area);
            prop_assert!(others.into_iter().all(|other| !other.overlaps(&area)), "{text:?} lies on another");
            let crossed = layout.lines.iter().any(|line| area.is_crossed(line.from, line.to));
            prop_assert!(!crossed, "{text:?} lies on a line");
        }
    }
}
