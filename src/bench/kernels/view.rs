//! What the page shows of one summary, or of two.
//!
//! Tables have a caption and heads of rows and columns; numbers are in cells of the class `n`, three significant digits
//! with one prefix a column, exact in their `title`. A bar is a `div` of the class [`BAR`] as wide as the row's share of
//! the busy time.

use super::diff::{Change, Diff};
use super::file_name::FileName;
use super::group::{Group, Grouping};
use super::summary::{Kernel, Summary, share};
use super::table::{TOP, table};
use crate::bench::view::{Element, View, element};
use crate::format::{NONE, Scale, Unit, grouped, percent, significant};

/// The class of bars.
pub const BAR: &str = "share";

/// The most rows of a diff: beyond them changes are small, and the page slow.
const MOST_ROWS: usize = 400;

/// How many kernels without a component are named.
const UNMATCHED_NAMES: usize = 5;

/// One file: its figures, kernel time by component, and the kernels that took longest.
#[must_use]
pub fn one(name: &FileName, summary: &Summary, grouping: &Grouping<'_>) -> View {
    let mut section = element("section").and(element("h3").and(title(name)));
    if let Some(note) = summary.origin.note() {
        section = section.and(element("p").with("class", "note").and(note));
    }
    section.and(figures(summary)).and(components(grouping)).all(unmatched(grouping)).and(kernels(summary)).into()
}

/// Two files: what may not compare, the change of span and busy, and a row a kernel, the largest change first.
#[must_use]
pub fn two(a: (&FileName, &Summary), b: (&FileName, &Summary), diff: &Diff<'_>) -> View {
    let heading = format!("{} against {}", title(a.0), title(b.0));
    let cautions = super::cautions(a, b);
    let cautions = cautions.into_iter().map(|text| element("p").with("class", "warning").and(text));
    element("section").and(element("h3").and(heading)).all(cautions).and(changes(diff)).and(rows(diff)).into()
}

/// `decode, rank 0`.
fn title(name: &FileName) -> String {
    let case = name.case.as_deref().unwrap_or("Kernels");
    name.rank.map_or_else(|| case.to_owned(), |rank| format!("{case}, rank {rank}"))
}

fn figures(summary: &Summary) -> Element {
    let span = Scale::of(Unit::SECOND, &[seconds(summary.span_us), seconds(summary.busy_us)]);
    let time = |us: f64| Some((span.text(seconds(us)), exact(us)));
    let overlap = summary.overlap();
    let streams = if overlap.is_some_and(|overlap| overlap > 1.0) { " (streams overlap)" } else { "" };
    let facts = [
        ("Span", time(summary.span_us)),
        ("Busy", time(summary.busy_us)),
        ("Busy over span", overlap.map(|overlap| (percent(overlap) + streams, format!("{overlap}")))),
        ("Before the forward pass", summary.pre_forward_us.and_then(time)),
        ("Activities", Some((counted(summary.activities), summary.activities.to_string()))),
        ("Replays", summary.replays.map(|replays| (grouped(replays.into()), replays.to_string()))),
    ];
    let rows = facts.into_iter().map(|(name, value)| {
        let (text, exact) = value.unwrap_or((NONE.to_owned(), "not in the file".to_owned()));
        element("tr").and(row_head(name)).and(number(text, exact))
    });
    element("table").and(element("caption").and("Figures of the step")).and(element("tbody").all(rows))
}

fn components(grouping: &Grouping<'_>) -> Element {
    let times: Vec<f64> = grouping.rows().map(|group| seconds(group.us)).collect();
    let scale = Scale::of(Unit::SECOND, &times);
    let row = |group: &Group<'_>| {
        let head = row_head(group.title()).with("title", names(group));
        timed(head, group.us, Some(group.calls), grouping.share(group.us), scale)
    };
    let unlisted =
        grouping.unlisted_us.map(|us| timed(row_head("not listed in the file"), us, None, grouping.share(us), scale));
    let rows = grouping.rows().map(row).chain(unlisted);
    timetable("Kernel time by component", "Component", scale, rows)
}

/// The largest kernels that no rule matches, if there are any.
fn unmatched(grouping: &Grouping<'_>) -> Option<Element> {
    let kernels = &grouping.unmatched.kernels;
    let items = kernels.iter().take(UNMATCHED_NAMES).map(|kernel| {
        let time = crate::format::si(seconds(kernel.us), Unit::SECOND);
        element("li").and(element("code").with("title", full(kernel)).and(kernel.name.as_str())).and(format!(" {time}"))
    });
    let lead = match kernels.len() {
        0 => return None,
        1 => "No rule matches one kernel:".to_owned(),
        count => format!("No rule matches {count} kernels; the largest are:"),
    };
    Some(element("div").with("class", "unmatched").and(element("p").and(lead)).and(element("ul").all(items)))
}

fn kernels(summary: &Summary) -> Element {
    let table = table(summary, TOP);
    let times: Vec<f64> = table.rows.iter().map(|kernel| seconds(kernel.us)).collect();
    let scale = Scale::of(Unit::SECOND, &times);
    let row = |kernel: &Kernel| {
        let name = element("code").and(kernel.name.as_str());
        let head = element("th").with("scope", "row").with("title", full(kernel)).and(name);
        timed(head, kernel.us, Some(kernel.calls), share(kernel.us, summary.busy_us), scale)
    };
    let more = (table.more > 0).then(|| {
        let head = row_head(format!("{} more", grouped(table.more as u128)));
        timed(head, table.more_us, None, share(table.more_us, summary.busy_us), scale)
    });
    let rows = table.rows.iter().map(row).chain(more);
    timetable("Kernels that took longest", "Kernel", scale, rows)
}

/// A table of times: name, time, share with a bar, launches.
fn timetable(caption: &'static str, what: &'static str, scale: Scale, rows: impl Iterator<Item = Element>) -> Element {
    let heads = [what.to_owned(), format!("Time [{}]", scale.symbol()), "Of busy".to_owned(), "Calls".to_owned()];
    element("table")
        .and(element("caption").and(caption))
        .and(element("thead").and(element("tr").all(heads.map(column_head))))
        .and(element("tbody").all(rows))
}

fn timed(head: Element, us: f64, calls: Option<f64>, share: Option<f64>, scale: Scale) -> Element {
    let width = share.unwrap_or_default().clamp(0.0, 1.0) * 100.0;
    let bar =
        element("div").with("class", BAR).with("style", format!("width: {width:.1}%")).with("aria-hidden", "true");
    let part =
        share.map_or((NONE.to_owned(), NONE.to_owned()), |share| (percent(share), format!("{}%", share * 100.0)));
    let calls = calls.map_or((NONE.to_owned(), NONE.to_owned()), |calls| (counted(calls), calls.to_string()));
    element("tr")
        .and(head)
        .and(number(scale.cell(seconds(us)), exact(us)))
        .and(number(part.0, part.1).and(bar))
        .and(number(calls.0, calls.1))
}

fn changes(diff: &Diff<'_>) -> Element {
    let values = [diff.span.a, diff.span.b, diff.busy.a, diff.busy.b].map(seconds);
    let scale = Scale::of(Unit::SECOND, &values);
    let row = |name: &'static str, change: Change| {
        let relative = change.relative();
        let text = relative.map_or(NONE.to_owned(), |relative| signed(percent(relative), relative));
        element("tr")
            .and(row_head(name))
            .and(number(signed(scale.cell(seconds(change.delta())), change.delta()), exact(change.delta())))
            .and(number(text, relative.map_or(NONE.to_owned(), |relative| format!("{}%", relative * 100.0))))
            .and(number(scale.cell(seconds(change.a)), exact(change.a)))
            .and(number(scale.cell(seconds(change.b)), exact(change.b)))
    };
    let unit = scale.symbol();
    let heads = ["Time", &format!("Change [{unit}]"), "Change", &format!("A [{unit}]"), &format!("B [{unit}]")];
    let heads = heads.map(str::to_owned);
    element("table")
        .and(element("caption").and("Change of the step, B less A"))
        .and(element("thead").and(element("tr").all(heads.map(column_head))))
        .and(element("tbody").and(row("Span", diff.span)).and(row("Busy", diff.busy)))
}

fn rows(diff: &Diff<'_>) -> Element {
    let times = diff.rows.iter().flat_map(|row| [row.delta(), row.a.us, row.b.us]).map(seconds);
    let scale = Scale::of(Unit::SECOND, &times.collect::<Vec<_>>());
    let time = |us: f64| number(scale.cell(seconds(us)), exact(us));
    let calls = |calls: f64| number(counted(calls), calls.to_string());
    let rows = diff.rows.iter().take(MOST_ROWS).map(|row| {
        let name = element("th").with("scope", "row").with("title", row.name).and(element("code").and(row.name));
        element("tr")
            .and(name)
            .and(number(signed(scale.cell(seconds(row.delta())), row.delta()), exact(row.delta())))
            .all([time(row.a.us), time(row.b.us), calls(row.a.calls), calls(row.b.calls)])
    });
    let caption = match diff.rows.len().checked_sub(MOST_ROWS) {
        Some(more @ 1..) => format!("The {MOST_ROWS} largest changes, B less A; {more} more are not shown"),
        _ => "Kernels, the largest change first, B less A".to_owned(),
    };
    let unit = scale.symbol();
    let [change, a, b] = ["Change", "A", "B"].map(|name| format!("{name} [{unit}]"));
    let heads = ["Kernel", &change, &a, &b, "A calls", "B calls"].map(str::to_owned);
    element("table")
        .and(element("caption").and(caption))
        .and(element("thead").and(element("tr").all(heads.map(column_head))))
        .and(element("tbody").all(rows))
}

fn row_head(text: impl Into<View>) -> Element {
    element("th").with("scope", "row").and(text)
}

fn column_head(text: String) -> Element {
    element("th").with("scope", "col").and(text)
}

/// A cell of a number, with its exact value for whoever points at it.
fn number(text: String, exact: String) -> Element {
    element("td").with("class", "n").with("title", exact).and(text)
}

/// The names of a component's largest kernels.
fn names(group: &Group<'_>) -> String {
    let names = group.kernels.iter().take(UNMATCHED_NAMES).map(|kernel| kernel.name.as_str());
    names.collect::<Vec<_>>().join("\n")
}

/// A full name of a kernel.
fn full(kernel: &Kernel) -> &str {
    kernel.example.as_deref().unwrap_or(&kernel.name)
}

fn seconds(us: f64) -> f64 {
    us / 1e6
}

fn exact(us: f64) -> String {
    format!("{us} µs")
}

fn signed(text: String, value: f64) -> String {
    if value > 0.0 { format!("+{text}") } else { text }
}

/// A count; an average over replays may have decimals.
fn counted(count: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 0 to 1e15")]
    let whole = (count.fract() == 0.0 && (0.0..1e15).contains(&count)).then_some(count as u128);
    whole.map_or_else(|| significant(count), grouped)
}

#[cfg(test)]
mod tests {
    use super::super::{Origin, Rules, diff, group};
    use super::*;

    const A: &str = include_str!("../../../tests/bench/decode.rank0.kernels.json");
    const B: &str = include_str!("../../../tests/bench/decode.rank1.kernels.json");

    #[track_caller]
    fn holds(view: &View, parts: &[&str]) {
        let markup = view.to_markup();
        for part in parts {
            assert!(markup.contains(part), "{part} is not in {markup}");
        }
    }

    #[test]
    fn one_file() {
        let summary = Summary::read(A).unwrap();
        let rules = Rules::default();
        let view = one(&FileName::of("decode.rank0.kernels.json"), &summary, &group(&summary, &rules));
        // A bar after a number is a line of its own there.
        insta::assert_snapshot!(view.plain().replace("\n ", " "), @"
        decode, rank 0
        Figures of the step
        Span 200 µs
        Busy 190 µs
        Busy over span 95.2%
        Before the forward pass 3.50 µs
        Activities 12
        Replays 5
        Kernel time by component
        Component Time [µs] Of busy Calls
        GEMM/FFN 100 52.5% 4
        attention 40.0 21.0% 2
        communication 30.0 15.7% 2
        unmatched 20.5 10.8% 4
        No rule matches 3 kernels; the largest are:
        only_in_a_kernel  12.5 µs
        tie_b  5.00 µs
        tie_a  3.00 µs
        Kernels that took longest
        Kernel Time [µs] Of busy Calls
        nvjet_tst_128x64 100 52.5% 4
        flash::FlashAttnFwdSm90 40.0 21.0% 2
        ncclDevKernel_AllReduce_Sum_bf16_RING_LL 30.0 15.7% 2
        only_in_a_kernel 12.5 6.56% 1
        tie_b 5.00 2.62% 2
        tie_a 3.00 1.57% 1
        ");
        holds(
            &view,
            &[
                r#"<th scope="col">Time [µs]</th>"#,
                r#"<td class="n" title="100 µs">100</td>"#,
                r#"<div class="share" style="width: 52.5%" aria-hidden="true"></div>"#,
                "<th scope=\"row\" title=\"only_in_a_kernel\ntie_b\ntie_a\">unmatched</th>",
            ],
        );
    }

    #[test]
    fn what_is_missing_or_overlaps_is_said() {
        let mut summary = Summary::read(B).unwrap();
        summary.origin = Origin::Trace;
        summary.pre_forward_us = None;
        summary.kernels.truncate(3);
        let again = summary.kernels[0].clone();
        summary.kernels.extend(std::iter::repeat_n(again, 30));
        let rules = Rules::parse("").unwrap();
        let view = one(&FileName::of("x.json"), &summary, &group(&summary, &rules));
        let plain = view.plain();
        for part in
            ["nothing is left out", "105% (streams overlap)", "Before the forward pass –", "13 more", "33 kernels"]
        {
            assert!(plain.contains(part), "{part}: {plain}");
        }
        summary.kernels.truncate(1);
        assert!(one(&FileName::of(""), &summary, &group(&summary, &rules)).plain().contains("not listed in the file"));
        summary.kernels.clear();
        summary.busy_us = 0.0;
        holds(&one(&FileName::of(""), &summary, &group(&summary, &rules)), &["width: 0.0%"]);
    }

    #[test]
    fn two_files() {
        let (a, b) = (Summary::read(A).unwrap(), Summary::read(B).unwrap());
        let names = ["decode.rank0.kernels.json", "decode.rank1.kernels.json"].map(FileName::of);
        let view = two((&names[0], &a), (&names[1], &b), &diff(&a, &b));
        insta::assert_snapshot!(view.plain(), @"
        decode, rank 0 against decode, rank 1
        The files are of different ranks (0 and 1); compare the same rank: under expert parallelism ranks do different work, and waiting for another rank counts as time of communication kernels.
        Change of the step, B less A
        Time Change [µs] Change A [µs] B [µs]
        Span -20.0 -10.0% 200 180
        Busy -1.50 -0.787% 190 189
        Kernels, the largest change first, B less A
        Kernel Change [µs] A [µs] B [µs] A calls B calls
        ncclDevKernel_AllReduce_Sum_bf16_RING_LL +25.2 30.0 55.3 2 2
        nvjet_tst_128x64 -20.0 100 80.0 4 4
        only_in_a_kernel -12.5 12.5 0 1 0
        only_in_b_kernel +5.75 0 5.75 0 1
        tie_a -1.00 3.00 2.00 1 1
        tie_b +1.00 5.00 6.00 2 3
        flash::FlashAttnFwdSm90 0 40.0 40.0 2 2
        ");
        holds(&view, &[r#"<td class="n" title="25.25 µs">+25.2</td>"#, r#"<p class="warning">"#]);
    }
}
