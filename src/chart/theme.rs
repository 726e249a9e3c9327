//! Colours and marker shapes.
//!
//! The palette is Okabe and Ito's ("Color Universal Design", 2008), told apart under every common colour blindness,
//! with a purple and a grey added for the seventh and eighth scenario. The dark theme lightens those of its colours that
//! would fall below a contrast of 3:1 on a dark panel.

use std::fmt;

/// An opaque sRGB colour, black by default; prints as CSS (`#0072b2`), so a legend in HTML matches the chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Colour {
    /// Red, green and blue.
    pub rgb: (u8, u8, u8),
}

impl Colour {
    /// The colour of a literal such as `0x0072b2`.
    #[must_use]
    pub const fn hex(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self { rgb: (red, green, blue) }
    }

    /// Relative luminance as in WCAG 2.2: 0 for black, 1 for white.
    #[must_use]
    pub fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { to_the_2_4((c + 0.055) / 1.055) }
        };
        let (red, green, blue) = self.rgb;
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    /// WCAG contrast ratio between two colours, 1 to 21.
    #[must_use]
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// This colour with a share of another in it.
    #[must_use]
    pub fn mix(self, other: Self, share: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
        let channel =
            |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share.clamp(0.0, 1.0)).round() as u8;
        let ((r, g, b), (other_r, other_g, other_b)) = (self.rgb, other.rgb);
        Self { rgb: (channel(r, other_r), channel(g, other_g), channel(b, other_b)) }
    }

    /// The colour of a letter on this one: white where it reads well, else nearly black.
    #[must_use]
    pub fn letter(self) -> Self {
        let white = Self::hex(0x00ff_ffff);
        if self.contrast(white) >= 3.0 { white } else { Self::hex(0x0014_171a) }
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (red, green, blue) = self.rgb;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// Everything a chart takes its colours from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// The panel behind the chart.
    pub surface: Colour,
    /// Texts and roofs.
    pub ink: Colour,
    /// Texts that stand back: headings, ticks, titles.
    pub muted: Colour,
    /// Grid lines and base lines.
    pub grid: Colour,
    /// One colour a scenario, in order.
    pub series: [Colour; 8],
    /// One colour a component of the model.
    pub parts: Parts,
}

/// The colours of a model's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Attention of any kind.
    pub attention: Colour,
    /// Feed-forward, dense or routed.
    pub ffn: Colour,
    /// The projection to logits.
    pub unembed: Colour,
    /// The token embedding.
    pub embed: Colour,
    /// Norms and other element-wise work.
    pub norm: Colour,
    /// Expert choice.
    pub router: Colour,
    /// Traffic between devices.
    pub communication: Colour,
    /// Whatever has no colour of its own.
    pub other: Colour,
}

impl Theme {
    /// On a white panel, for print and export too.
    pub const LIGHT: Self = Self {
        surface: Colour::hex(0x00ff_ffff),
        ink: Colour::hex(0x001b_1f24),
        muted: Colour::hex(0x0064_6c76),
        grid: Colour::hex(0x00e2_e2dd),
        series: [
            Colour::hex(0x0000_72b2),
            Colour::hex(0x00d5_5e00),
            Colour::hex(0x0000_9e73),
            Colour::hex(0x008c_5fb0),
            Colour::hex(0x00e6_9f00),
            Colour::hex(0x0056_b4e9),
            Colour::hex(0x00cc_79a7),
            Colour::hex(0x005f_6771),
        ],
        parts: Parts {
            attention: Colour::hex(0x0000_72b2),
            ffn: Colour::hex(0x00e6_9f00),
            unembed: Colour::hex(0x00cc_79a7),
            embed: Colour::hex(0x008c_5fb0),
            norm: Colour::hex(0x0056_b4e9),
            router: Colour::hex(0x0000_9e73),
            communication: Colour::hex(0x00d5_5e00),
            other: Colour::hex(0x0096_9ea8),
        },
    };

    /// On a dark panel.
    pub const DARK: Self = Self {
        surface: Colour::hex(0x001c_2024),
        ink: Colour::hex(0x00e8_eaed),
        muted: Colour::hex(0x009a_a3ad),
        grid: Colour::hex(0x0033_3a41),
        series: [
            Colour::hex(0x004b_a3e3),
            Colour::hex(0x00f0_7f3c),
            Colour::hex(0x002f_bf94),
            Colour::hex(0x00b0_8ad6),
            Colour::hex(0x00e6_9f00),
            Colour::hex(0x0086_cdf3),
            Colour::hex(0x00e0_95bf),
            Colour::hex(0x00aa_b2bb),
        ],
        parts: Parts {
            attention: Colour::hex(0x002f_8fd0),
            ffn: Colour::hex(0x00e6_9f00),
            unembed: Colour::hex(0x00d9_8bb6),
            embed: Colour::hex(0x00a8_82cf),
            norm: Colour::hex(0x0086_cdf3),
            router: Colour::hex(0x0023_b389),
            communication: Colour::hex(0x00e8_7431),
            other: Colour::hex(0x0084_8d97),
        },
    };

    /// The colour of a scenario by its place; more than eight begin again.
    #[must_use]
    pub fn scenario(&self, place: usize) -> Colour {
        self.series.get(place % self.series.len()).copied().unwrap_or(self.ink)
    }
}

/// The shape of a marker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// ○
    #[default]
    Circle,
    /// △
    Triangle,
    /// □
    Square,
    /// ◇
    Diamond,
    /// ▽
    Down,
    /// ⬡
    Hexagon,
}

impl Shape {
    /// All shapes, in the order in which they are best given out.
    pub const ALL: [Self; 6] = [Self::Circle, Self::Triangle, Self::Square, Self::Diamond, Self::Down, Self::Hexagon];

    /// A character like the marker's outline, for a legend in text.
    #[must_use]
    pub fn glyph(self) -> char {
        match self {
            Self::Circle => '○',
            Self::Triangle => '△',
            Self::Square => '□',
            Self::Diamond => '◇',
            Self::Down => '▽',
            Self::Hexagon => '⬡',
        }
    }

    /// The corners around the origin, sized to look as large as a circle of radius 1; none for the circle.
    pub(crate) fn corners(self) -> &'static [(f64, f64)] {
        match self {
            Self::Circle => &[],
            Self::Triangle => &[(0.0, -1.2), (1.1, 0.75), (-1.1, 0.75)],
            Self::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Self::Diamond => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
            Self::Down => &[(0.0, 1.2), (1.1, -0.75), (-1.1, -0.75)],
            Self::Hexagon => &[(0.0, -1.1), (0.95, -0.55), (0.95, 0.55), (0.0, 1.1), (-0.95, 0.55), (-0.95, -0.55)],
        }
    }
}

/// x to the power of 2.4 for x from 0.04 to 1: x squared times the fifth root of x squared, by Newton's method. The
/// standard function would bring its tables into the page.
fn to_the_2_4(x: f64) -> f64 {
    let square = x * x;
    let mut root = 1.0_f64;
    for _ in 0..24 {
        root -= (root * root * root * root * root - square) / (5.0 * root * root * root * root);
    }
    square * root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_power_is_that_of_the_standard_library() {
        for percent in 4..=100 {
            let x = f64::from(percent) / 100.0;
            assert!((to_the_2_4(x) - x.powf(2.4)).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn colours_print_as_css() {
        assert_eq!(Theme::LIGHT.parts.attention.to_string(), "#0072b2");
        assert_eq!(Colour::hex(0x0001_0203).to_string(), "#010203");
    }

    #[test]
    fn texts_and_letters_can_be_read() {
        for theme in [Theme::LIGHT, Theme::DARK] {
            assert!(theme.ink.contrast(theme.surface) > 7.0);
            assert!(theme.muted.contrast(theme.surface) > 4.5);
            for colour in theme.series {
                assert!(colour.contrast(colour.letter()) >= 3.0, "{colour}");
            }
        }
    }

    #[test]
    fn dark_colours_stand_out_from_the_panel() {
        let Parts { attention, ffn, unembed, embed, norm, router, communication, other } = Theme::DARK.parts;
        let parts = [attention, ffn, unembed, embed, norm, router, communication, other];
        for colour in parts.into_iter().chain(Theme::DARK.series) {
            assert!(colour.contrast(Theme::DARK.surface) >= 3.0, "{colour}");
        }
    }

    #[test]
    fn scenarios_beyond_the_eighth_begin_again() {
        assert_eq!(Theme::LIGHT.scenario(9), Theme::LIGHT.scenario(1));
        assert_ne!(Theme::LIGHT.scenario(7), Theme::LIGHT.scenario(0));
    }
}
