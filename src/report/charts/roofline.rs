//! The roofline of one scenario or of several.

use super::layers::Layer;
use super::{colour, finding, shape};
use crate::chart::roofline::{Mark, Roof as RoofLine, Roofline, Slope};
use crate::chart::theme::{Shape, Theme};
use crate::format::{Unit, si};
use crate::hardware::{Accelerator, Precision};
use crate::report::answer::LINKS;
use crate::report::{Entry, Roof, Summary};

/// The slopes and roofs that the scenarios stand under, with a mark for each step and one for each component.
///
/// One scenario has its components in their colours; several have their own colours, and their letter in the mark of
/// the whole step. Roofs in use are solid; while there is one accelerator its other rates are dashed. A component that
/// is not visible has no mark.
#[must_use]
pub fn roofline(entries: &[Entry<'_>], theme: &Theme, visible: &dyn Fn(Layer) -> bool) -> Roofline {
    let mut chart = Roofline::default();
    let mut memories: Vec<&Accelerator> = Vec::new();
    let used: Vec<(&Entry<'_>, &Roof)> = entries.iter().filter_map(|entry| Some((entry, entry.roof?))).collect();
    for (entry, roof) in &used {
        let known = memories.iter().position(|other| alike(other, entry.accelerator));
        let slope = known.unwrap_or(memories.len());
        if known.is_none() {
            memories.push(entry.accelerator);
        }
        let rate = roof.peak.rate.0;
        if chart.roofs.iter().all(|other| other.slope != slope || !same(other.peak, rate)) {
            let ridge = roof.ridge().map(|ridge| format!("ridge {}", si(ridge.0, Unit::INTENSITY)));
            let label = label(roof.peak.precision_used, rate);
            chart.roofs.push(RoofLine { label, short: String::new(), peak: rate, dashed: false, ridge, slope });
        }
    }
    let alone = memories.len() < 2;
    if let [accelerator] = memories.as_slice() {
        for precision in Precision::ALL {
            if let Some(rate) = accelerator.peaks.of(precision).map(|rate| rate.0)
                && chart.roofs.iter().all(|other| !same(other.peak, rate))
            {
                let label = label(precision, rate);
                let roof = RoofLine { label, peak: rate, dashed: true, ..RoofLine::default() };
                chart.roofs.push(roof);
            }
        }
    }
    for accelerator in &memories {
        let rate = accelerator.bandwidth.0;
        let short = si(rate, Unit::BYTE_PER_SECOND);
        let label = if alone { format!("memory {short}") } else { format!("{} {short}", accelerator.name) };
        chart.slopes.push(Slope { label, short, bytes_per_second: rate });
    }
    // The links are slopes of their own: FLOPs of a step over the bytes that go over them.
    for (entry, _) in &used {
        for (name, (bytes, time)) in LINKS.into_iter().zip(entry.step.map(|step| step.links).unwrap_or_default()) {
            let rate = bytes / time.0;
            if time.0 > 0.0 && chart.slopes.iter().all(|other| !same(other.bytes_per_second, rate)) {
                let short = si(rate, Unit::BYTE_PER_SECOND);
                chart.slopes.push(Slope { label: format!("{name} {short}"), short, bytes_per_second: rate });
            }
        }
    }
    if !alone {
        for roof in &mut chart.roofs {
            let name = memories.get(roof.slope).map(|accelerator| accelerator.name.as_ref()).unwrap_or_default();
            roof.short = match roof.label.split_once(' ') {
                Some((precision, _)) => format!("{name} {precision}"),
                None => String::new(),
            };
            roof.label = format!("{name} {}", roof.label);
            // What the ridges are is said once by the axis; here only how much.
            roof.ridge =
                roof.ridge.take().map(|ridge| ridge.strip_suffix(" FLOP/B").map(str::to_owned).unwrap_or(ridge));
        }
    }
    let (parts, wholes): (Vec<_>, Vec<_>) = used
        .iter()
        .flat_map(|(entry, roof)| marks(entry, roof, used.len() == 1, theme, visible))
        .partition(|mark| mark.shape != Shape::Circle);
    chart.points = parts;
    chart.points.extend(wholes);
    chart
}

/// A measurement on the roofline.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What it is of, and how long it took.
    pub label: String,
    /// Estimated FLOP per byte.
    pub intensity: f64,
    /// Estimated FLOP over measured seconds.
    pub rate: f64,
}

impl Measured {
    /// Its mark, in the colour of text, as it belongs to no component, and small, so that it stands where it is.
    #[must_use]
    pub fn mark(&self, theme: &Theme) -> Mark {
        Mark {
            label: self.label.clone(),
            letter: String::new(),
            intensity: self.intensity,
            rate: self.rate,
            shape: Shape::Hexagon,
            colour: theme.ink,
            emphasised: false,
        }
    }
}

fn marks(entry: &Entry<'_>, roof: &Roof, alone: bool, theme: &Theme, visible: &dyn Fn(Layer) -> bool) -> Vec<Mark> {
    let own = theme.scenario(entry.place);
    let mark = |title: &str, summary: Summary, shape, colour| {
        let finding = finding(&summary)?;
        Some(Mark {
            label: if alone {
                format!("{title}: {finding}")
            } else {
                format!("{} {}\n{title}: {finding}", entry.key, entry.name)
            },
            letter: if shape == Shape::Circle { entry.key.to_string() } else { String::new() },
            intensity: summary.intensity?.0,
            rate: summary.attainable?,
            shape,
            colour,
            emphasised: !alone && shape == Shape::Circle,
        })
    };
    let parts = entry.per_gpu.parts.iter().filter(|part| visible(Layer::Component(part.component)));
    let parts = parts.filter_map(|part| {
        let colour = if alone { colour(&theme.parts, part.component) } else { own };
        let summary = Summary::of_part(part, Some(roof), Some(entry.accelerator));
        mark(part.component.title(), summary, shape(part.component), colour)
    });
    let whole = mark("Whole step", entry.summary(), Shape::Circle, if alone { theme.ink } else { own });
    let mut marks: Vec<Mark> = parts.chain(whole).collect();
    for (name, summary) in entry.links() {
        // Links that would allow more than the roof do not limit a step.
        let rate = summary.time.map(|time| summary.cost.flops.as_f64() / time.0);
        let attainable = rate.map(|rate| rate.min(roof.peak.rate.0));
        let summary = Summary { attainable, ..summary };
        marks.extend(mark(name, summary, Shape::Hexagon, if alone { theme.ink } else { own }));
    }
    marks
}

fn label(precision: Precision, rate: f64) -> String {
    format!("{} {}", precision.label(), si(rate, Unit::FLOP_PER_SECOND))
}

/// Whether two accelerators have the same lines: an edited one may keep its name.
fn alike(a: &Accelerator, b: &Accelerator) -> bool {
    a.name == b.name && a.peaks == b.peaks && a.bandwidth == b.bandwidth
}

fn same(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() <= 0.01
}
