//! Sweeps as lines.

use crate::chart::lines::{Flip, Line, Lines, Spread};
use crate::chart::theme::{Shape, Theme};
use crate::format::{Scale, grouped, significant};
use crate::sweep::{Axis, Measure, Series};

/// A scenario with its sweep.
#[derive(Clone, Copy, Debug)]
pub struct Swept<'a> {
    /// Its letter.
    pub key: char,
    /// What to call it.
    pub name: &'a str,
    /// Its place among the colours of a theme.
    pub place: usize,
    /// What came of it.
    pub series: &'a Series,
}

/// The lines of a sweep, with the flips of what binds. `log_x` spreads x by powers of two, which sizes of a layout
/// always are; `log_y` spreads y by its logarithm.
#[must_use]
pub fn sweep_lines(swept: &[Swept<'_>], axis: Axis, theme: &Theme, (log_x, log_y): (bool, bool)) -> Lines {
    let alone = swept.len() == 1;
    let line = |swept: &Swept<'_>| {
        let flip = |point: &usize| {
            let (before, behind) = swept.series.flip(*point)?;
            let words = format!("{} → {}", before.label(), behind.label());
            let label = if alone { words } else { format!("{}: {words}", swept.key) };
            Some(Flip { point: *point, label })
        };
        Line {
            key: swept.key.to_string(),
            label: swept.name.to_owned(),
            colour: theme.scenario(swept.place),
            shape: Shape::ALL.get(swept.place % Shape::ALL.len()).copied().unwrap_or_default(),
            points: swept.series.points.iter().map(|sample| (sample.x as f64, sample.value)).collect(),
            flips: swept.series.flips.iter().filter_map(flip).collect(),
        }
    };
    Lines {
        series: swept.iter().map(line).collect(),
        x: if log_x || axis.is_layout() { Spread::Log2 } else { Spread::Linear },
        y: if log_y { Spread::Log } else { Spread::Linear },
    }
}

/// The scale of y, one for all scenarios: its symbol belongs into the title, its numbers to the ticks and tooltips.
#[must_use]
pub fn sweep_scale(swept: &[Swept<'_>], measure: Measure) -> Scale {
    let samples = swept.iter().flat_map(|swept| &swept.series.points);
    Scale::of(measure.unit(), &samples.filter_map(|sample| sample.value).collect::<Vec<_>>())
}

/// A tick of x: `512`, `8 192` as `8Ki`, `1Mi`, which inputs take too; other thousands as they are.
#[must_use]
pub fn sweep_x_tick(value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in range")]
    let whole = (value.fract() == 0.0 && (0.0..1e15).contains(&value)).then_some(value as u128);
    match whole {
        Some(n) if n > 0 && n % (1 << 20) == 0 => format!("{}Mi", n >> 20),
        Some(n) if n > 0 && n % (1 << 10) == 0 => format!("{}Ki", n >> 10),
        Some(n) => grouped(n),
        None => significant(value),
    }
}

/// A tick of y without zeros that say nothing: `100`, `0.5`.
#[must_use]
pub fn sweep_y_tick(scale: &Scale, value: f64) -> String {
    let number = scale.number(value);
    if number.contains('.') && !number.contains('e') {
        return number.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    number
}
