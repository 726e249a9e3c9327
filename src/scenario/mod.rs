//! What a user has put in: scenarios side by side, and the texts of their fields.

mod custom;
pub mod file;
pub mod hardware;
pub mod link;
mod recognise;
pub mod state;

use crate::batch::count::parse_count;
use crate::layout::Layout;
pub use recognise::{Document, recognise};
use std::num::NonZeroU32;

/// The largest parallel size that is taken.
pub const LARGEST_SIZE: u64 = 65_536;

/// A size of a [`Layout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Tensor parallel size.
    Tp,
    /// Pipeline parallel size.
    Pp,
    /// Data parallel size.
    Dp,
}

impl Size {
    /// Its short name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Tp => "TP",
            Self::Pp => "PP",
            Self::Dp => "DP",
        }
    }

    /// Its value in a layout.
    #[must_use]
    pub fn of(self, layout: &Layout) -> NonZeroU32 {
        match self {
            Self::Tp => layout.tp,
            Self::Pp => layout.pp,
            Self::Dp => layout.dp,
        }
    }

    /// Sets it in a layout.
    pub fn set(self, layout: &mut Layout, value: NonZeroU32) {
        match self {
            Self::Tp => layout.tp = value,
            Self::Pp => layout.pp = value,
            Self::Dp => layout.dp = value,
        }
    }

    /// Reads a text as a size.
    ///
    /// # Errors
    /// A sentence for the field, where the text is no whole number from 1 to [`LARGEST_SIZE`].
    pub fn read(self, text: &str) -> Result<NonZeroU32, String> {
        let count = parse_count(text).map_err(|error| error.to_string())?;
        let within = if count <= LARGEST_SIZE { u32::try_from(count).ok() } else { None };
        within
            .and_then(NonZeroU32::new)
            .ok_or_else(|| format!("{} is {count}; expected 1 to {LARGEST_SIZE}.", self.label()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_or_explained() {
        assert_eq!(Size::Tp.read(" 8 ").map(NonZeroU32::get), Ok(8));
        assert_eq!(Size::Pp.read("0"), Err("PP is 0; expected 1 to 65536.".into()));
        assert!(Size::Dp.read("x").is_err());
    }
}
