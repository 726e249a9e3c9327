use proptest::prelude::*;

use super::*;
use crate::chart::svg;
use crate::chart::text::Text;

fn tick(value: f64) -> String {
    crate::format::significant(value)
}

fn axes() -> Axes<'static> {
    Axes { x_title: "requests in the step", y_title: "step, at least, ms", x_tick: &tick, y_tick: &tick }
}

fn line(place: usize, points: Vec<(f64, Option<f64>)>, flips: &[usize]) -> Line {
    let key = ["A", "B", "C", "D", "E", "F", "G", "H"][place % 8];
    Line {
        key: key.into(),
        label: format!("TP{}", 1 << place),
        colour: Theme::LIGHT.scenario(place),
        shape: Shape::ALL[place % 6],
        points,
        flips: flips.iter().map(|point| Flip { point: *point, label: "memory → compute".into() }).collect(),
    }
}

/// Steps of growing batches that turn from a level line to a slope, one of them with a gap.
fn sweeps(count: u32) -> Lines {
    let series = (0..count).map(|place| {
        let (floor, slope) = (40.0 / f64::from(place + 1), 0.2 / f64::from(place + 1));
        let points = (0..60).map(|i| {
            let x = 2_f64.powf(f64::from(i) / 6.0);
            let gap = place == 1 && (30..36).contains(&i);
            (x, (!gap).then(|| floor.max(x * slope)))
        });
        line(usize::try_from(place).unwrap(), points.collect(), &[46])
    });
    Lines { series: series.collect(), x: Spread::Log2, y: Spread::Linear }
}

fn drawing(lines: &Lines, width: f64, height: f64) -> (String, Drawn) {
    svg(width, height, |backend, frame| draw(backend, frame, &Theme::LIGHT, lines, &axes())).unwrap()
}

#[test]
fn four_sweeps_as_svg() {
    let (document, drawn) = drawing(&sweeps(4), 620.0, 340.0);
    assert_eq!((drawn.bands.len(), drawn.unnamed.len()), (60, 0));
    insta::assert_snapshot!(document);
}

#[test]
fn one_point_and_nothing_as_svg() {
    let one = Lines { series: vec![line(0, vec![(8.0, Some(3.0))], &[])], ..Lines::default() };
    insta::assert_snapshot!(drawing(&one, 300.0, 200.0).0);
    let (document, drawn) = drawing(&Lines::default(), 300.0, 200.0);
    assert_eq!((drawn, document.matches("<rect").count()), (Drawn::default(), 1));
}

#[test]
fn bands_lie_side_by_side_and_find_the_nearest() {
    let drawn = drawing(&sweeps(3), 620.0, 340.0).1;
    assert!(drawn.bands.windows(2).all(|pair| (pair[0].area.x1 - pair[1].area.x0).abs() < 1e-9));
    assert_eq!(drawn.bands[32].hits.len(), 2, "one series has a gap there");
    for band in &drawn.bands {
        assert!(band.hits.windows(2).all(|pair| pair[0].y <= pair[1].y));
        for hit in &band.hits {
            assert_eq!(drawn.nearest(hit.x, hit.y).map(|found| found.y), Some(hit.y));
        }
    }
    assert_eq!(drawn.nearest(-1.0, 50.0), None);
}

#[test]
fn series_over_each_other_are_all_seen() {
    let twin = |place| line(place, (1..50).map(f64::from).map(|x| (x, Some(x * x))).collect(), &[]);
    let lines = Lines { series: (0..3).map(twin).collect(), ..Lines::default() };
    let layout = layout::layout(&lines, &axes(), 600.0, 300.0);
    for place in 0..3 {
        let colour = Theme::LIGHT.scenario(place);
        assert!(layout.strokes.iter().filter(|stroke| stroke.colour == colour).count() > 10);
    }
    let heights: Vec<f64> = layout.ends.iter().map(|end| end.centre.1).collect();
    assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > 2.0 * layout::END), "{heights:?}");
}

#[test]
fn eight_names_on_a_telephone() {
    let drawn = drawing(&sweeps(8), 320.0, 240.0).1;
    assert_eq!(drawn.unnamed, Vec::<usize>::new());
    assert_eq!(drawing(&sweeps(8), 320.0, 100.0).1.unnamed.len(), 5);
}

#[test]
fn odd_numbers_and_sizes_do_no_harm() {
    let odd =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, f64::MIN_POSITIVE / 4.0, 1e-300, 1.0, 1e300, f64::MAX];
    let sizes = [f64::NAN, -1.0, 0.0, 1.0, 30.0, 90.0, 300.0, 2000.0, f64::INFINITY];
    let pairs = odd.iter().flat_map(|x| odd.iter().map(|y| (*x, Some(*y)))).chain([(1.0, None)]);
    let equal = vec![(5.0, Some(5.0)); 4];
    for spread in [Spread::Linear, Spread::Log, Spread::Log2] {
        let series = vec![
            line(0, pairs.clone().collect(), &[0, 3, 77, usize::MAX]),
            line(1, equal.clone(), &[1]),
            line(2, vec![], &[0]),
            line(3, odd.iter().map(|x| (*x, None)).collect(), &[]),
        ];
        let lines = Lines { series, x: spread, y: spread };
        for size in sizes {
            let drawn = drawing(&lines, size, size).1;
            assert!(drawn.bands.iter().all(|band| band.area.x0.is_finite() && band.area.x1 >= band.area.x0));
        }
    }
}

fn any_lines() -> impl Strategy<Value = Lines> {
    let point = (0.0..1e6_f64, proptest::option::of(-10.0..1e9_f64));
    let series = (prop::collection::vec(point, 0..40), prop::collection::vec(0..40_usize, 0..4), 0..20_usize);
    let spread = prop::sample::select(vec![Spread::Linear, Spread::Log, Spread::Log2]);
    (prop::collection::vec(series, 0..9), spread.clone(), spread).prop_map(|(series, x, y)| {
        let lines = series.into_iter().enumerate().map(|(place, (mut points, flips, long))| {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Line { label: "TP8 ".repeat(long), ..line(place, points, &flips) }
        });
        Lines { series: lines.collect(), x, y }
    })
}

proptest! {
    #[test]
    fn labels_never_lie_on_each_other_or_on_a_line(
        lines in any_lines(),
        width in 0.0..1600.0_f64,
        height in 0.0..900.0_f64,
    ) {
        let layout = layout::layout(&lines, &axes(), width, height);
        let bounds = Rect::new(0.0, 0.0, width, height);
        let ends: Vec<Rect> = layout.ends.iter().map(|end| Rect::around(end.centre, layout::END)).collect();
        for (i, end) in ends.iter().enumerate() {
            prop_assert!(bounds.encloses(end), "{end:?} leaves the chart");
            prop_assert!(ends.iter().skip(i + 1).all(|other| !other.overlaps(end)), "{end:?} lies on another");
        }
        for (i, text) in layout.texts.iter().enumerate() {
            let area = text.area();
            prop_assert!(bounds.encloses(&area), "{text:?} leaves the chart");
            let others = layout.texts.iter().skip(i + 1).map(Text::area);
            prop_assert!(others.into_iter().all(|other| !other.overlaps(&area)), "{text:?} lies on another");
            prop_assert!(ends.iter().all(|end| !end.overlaps(&area)), "{text:?} lies on the end of a line");
            // Stripes begin and end within a hair of the line that was kept free.
            let crossed = layout.strokes.iter().flat_map(|stroke| stroke.points.windows(2));
            let crossed = crossed.into_iter().any(|pair| area.grow(-0.1).is_crossed(pair[0], pair[1]));
            prop_assert!(!crossed, "{text:?} lies on a line");
            let crossed = layout.pointers.iter().any(|(from, to)| area.grow(-0.1).is_crossed(*from, *to));
            prop_assert!(!crossed, "{text:?} lies on a pointer");
        }
    }
}
