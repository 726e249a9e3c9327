//! From a `config.json` to a [`ModelSpec`].
//!
//! text -> [`crate::json`] (values with positions) -> [`Attributes`] (a config as its class presents it: aliases,
//! defaults, derivations) -> [`ModelSpec`] (the fields the estimators use, each with its [`Origin`]).
//!
//! What its layers are made of is [`anatomy`], how their weights are stored is [`scheme`].
//!
//! A new attention kind begins in [`spec`] and [`anatomy`]; a new alias or class default is a line of `classes.json`.

pub mod anatomy;
mod attributes;
pub mod classes;
pub mod dtype;
mod keys;
pub mod layers;
mod notes;
pub mod number;
pub mod origin;
pub mod presets;
pub mod quantization;
pub mod reading;
mod reduce;
mod refuse;
mod resolve;
pub mod scheme;
pub mod spec;

pub use attributes::{Attribute, Attributes};
pub use classes::ClassTable;
pub use dtype::{Dtype, KvDtype};
pub use origin::Origin;
pub use reading::Reading;
pub use reduce::{reduce, reduce_companion};
pub use resolve::{ConfigError, Depth, read, resolve};
pub use spec::{ModelSpec, Note, Weight};
