//! What a user has put in: texts as they were typed, and what they mean.
//!
//! Inputs keep the raw text, so that a half-typed number is neither lost nor replaced; reading them gives either a
//! value or the sentence that belongs beside the field.

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

/// Parallel sizes as they were typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutInput {
    /// Tensor parallel size.
    pub tp: String,
    /// Pipeline parallel size.
    pub pp: String,
    /// Data parallel size.
    pub dp: String,
    /// Expert parallelism.
    pub ep: bool,
}

/// A field of [`LayoutInput`].
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
}

impl LayoutInput {
    /// The text of a field.
    #[must_use]
    pub fn text(&self, size: Size) -> &str {
        match size {
            Size::Tp => &self.tp,
            Size::Pp => &self.pp,
            Size::Dp => &self.dp,
        }
    }

    /// Replaces the text of a field.
    pub fn set(&mut self, size: Size, text: String) {
        match size {
            Size::Tp => self.tp = text,
            Size::Pp => self.pp = text,
            Size::Dp => self.dp = text,
        }
    }

    /// The value of a field.
    ///
    /// # Errors
    /// A sentence for the field, where the text is no whole number from 1 to [`LARGEST_SIZE`].
    pub fn size(&self, size: Size) -> Result<NonZeroU32, String> {
        let count = parse_count(self.text(size)).map_err(|error| error.to_string())?;
        let within = if count <= LARGEST_SIZE { u32::try_from(count).ok() } else { None };
        within
            .and_then(NonZeroU32::new)
            .ok_or_else(|| format!("{} is {count}; expected 1 to {LARGEST_SIZE}.", size.label()))
    }

    /// The layout, if every field has a value.
    #[must_use]
    pub fn layout(&self) -> Option<Layout> {
        let size = |which| self.size(which).ok();
        Some(Layout { tp: size(Size::Tp)?, pp: size(Size::Pp)?, dp: size(Size::Dp)?, ep: self.ep })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_or_explained() {
        let input = LayoutInput { tp: " 8 ".into(), pp: "0".into(), dp: "x".into(), ep: false };
        assert_eq!(input.size(Size::Tp).map(NonZeroU32::get), Ok(8));
        assert_eq!(input.size(Size::Pp), Err("PP is 0; expected 1 to 65536.".into()));
        assert!(input.size(Size::Dp).is_err());
        assert_eq!(input.layout(), None);
    }
}
