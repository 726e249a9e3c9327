use super::*;
use crate::chart::svg;

fn row(key: &str, label: &str, values: &[f64], total: &str) -> BarRow {
    let parts = Theme::LIGHT.parts;
    let colours = [parts.attention, parts.ffn, parts.unembed, parts.norm, parts.other].into_iter().cycle();
    let segments =
        values.iter().zip(colours).map(|(value, colour)| Segment { value: *value, colour, label: String::new() });
    BarRow { key: key.into(), label: label.into(), segments: segments.collect(), total: total.into() }
}

fn group(heading: &str, rows: Vec<BarRow>) -> BarGroup {
    BarGroup { heading: heading.into(), rows }
}

/// A heading, the values of four scenarios, and their totals.
type Figures = (&'static str, [&'static [f64]; 4], [&'static str; 4]);

/// DeepSeek-V3 on eight GPUs, one prefill of 8192 tokens and 32 decodes, by vLLM's counters.
fn four_scenarios() -> Bars {
    let labels = [("A", "TP8"), ("B", "TP8 EP8"), ("C", "DP8 EP8"), ("D", "TP4 PP2")];
    let figures: [Figures; 3] = [
        (
            "FLOPs, T",
            [&[78.839, 49.71], &[78.839, 103.585], &[524.389, 103.585], &[70.077, 48.895]],
            ["129", "182", "628", "119"],
        ),
        (
            "Read, GB",
            [&[47.35, 151.04, 0.23], &[47.35, 113.96, 0.23], &[128.31, 113.96, 1.85], &[28.97, 119.87, 0.23]],
            ["199", "162", "244", "149"],
        ),
        (
            "Written, GB",
            [&[17.08, 68.83], &[17.08, 28.48], &[67.42, 28.48], &[11.94, 37.71]],
            ["85.9", "45.6", "95.9", "49.6"],
        ),
    ];
    let groups = figures.map(|(heading, values, totals)| {
        let rows = labels.into_iter().zip(values).zip(totals);
        group(heading, rows.map(|(((key, label), values), total)| row(key, label, values, total)).collect())
    });
    Bars { groups: groups.into(), parted: false }
}

fn drawing(bars: &Bars, width: f64) -> (String, Vec<Region>) {
    svg(width, height(bars), |backend, frame| draw(backend, frame, &Theme::LIGHT, bars)).unwrap()
}

#[test]
fn four_scenarios_as_svg() {
    insta::assert_snapshot!(drawing(&four_scenarios(), 480.0).0);
}

#[test]
fn zeros_and_nothing_as_svg() {
    let rows = vec![row("A", "decode", &[0.0, 0.0], "0"), row("B", "also <none>", &[], "0")];
    insta::assert_snapshot!(
        drawing(&Bars { groups: vec![group("Written, GB", rows), group("", vec![])], ..Bars::default() }, 300.0).0
    );
    assert!(height(&Bars::default()).abs() < 1e-9);
}

#[test]
fn a_group_shares_one_scale_and_totals_stay_inside() {
    for width in [240.0, 360.0, 480.0, 1200.0] {
        let bars = four_scenarios();
        let layout = layout(&bars, width);
        let texts: Vec<Rect> = layout.texts.iter().map(Text::area).collect();
        for (i, area) in texts.iter().enumerate() {
            assert!(area.x0 >= 0.0 && area.x1 <= width && area.y1 <= height(&bars), "{:?} at {width}", layout.texts[i]);
            assert!(texts.iter().skip(i + 1).all(|other| !other.overlaps(area)), "{:?} at {width}", layout.texts[i]);
            assert!(layout.fills.iter().all(|(fill, _)| !fill.overlaps(area)), "{:?} at {width}", layout.texts[i]);
        }
        let unit = layout.fills[0].0.width() / 78.839;
        assert!((layout.fills[5].0.width() - unit * 103.585).abs() < 1e-6);
    }
}

#[test]
fn a_tiny_segment_takes_its_pixel_from_the_largest() {
    let scale = Linear::fit([1000.0]).over(50.0, 150.0);
    let sizes = lengths(&row("", "", &[1e-9, 999.0, 0.0, 1.0], ""), &scale);
    assert_eq!(sizes.iter().map(|w| w.round()).collect::<Vec<_>>(), [1.0, 98.0, 0.0, 1.0]);
    assert!((sizes.iter().sum::<f64>() - 100.0).abs() < 1e-6);
    let crowded = lengths(&row("", "", &[0.01; 5], ""), &scale);
    assert_eq!(crowded, [1.0; 5], "fewer pixels than segments");
}

#[test]
fn regions_name_their_segment_narrowest_first() {
    let (_, regions) = drawing(&four_scenarios(), 480.0);
    assert_eq!(regions.len(), 28);
    assert!(regions.windows(2).all(|pair| pair[0].area.width() <= pair[1].area.width()));
    let unembed = regions.iter().find(|r| (r.group, r.row, r.segment) == (1, 0, 2)).unwrap();
    assert!((unembed.area.width() - REACH).abs() < 1e-9);
    let (x, y) = (unembed.area.x0.midpoint(unembed.area.x1), unembed.area.y0 + 1.0);
    assert_eq!(regions.iter().find(|r| r.area.contains(x, y)), Some(unembed));
}

#[test]
fn odd_numbers_and_sizes_do_no_harm() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e-300, 1e300, f64::MAX, f64::MAX];
    let long = "a very long label ".repeat(20);
    let bars = Bars {
        groups: vec![group(&long, vec![row("A", &long, &odd, &long), row(&long, "", &[], "")]); 2],
        parted: true,
    };
    for width in [f64::NAN, -1.0, 0.0, 1.0, 3.0, 20.0, 50.0, 300.0, 1e9, f64::INFINITY] {
        for (_, regions) in [drawing(&bars, width), drawing(&Bars::default(), width)] {
            assert!(regions.iter().all(|r| r.area.x0.is_finite() && r.area.x1.is_finite()));
        }
    }
}
