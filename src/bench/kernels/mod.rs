//! Where the time of a step went, kernel by kernel.
//!
//! ```text
//! CASE.rankR.kernels.json ──summary──┐
//!                                    ├──▶ Summary ──┬── table    its figures and largest rows
//! CASE.rankR.trace.json.gz ──trace───┘              ├── group    time by component, through rules
//!                                                   └── diff     against another one
//! ```
//!
//! `vllm bench forward --profile-dir` writes both files, a pair for each case and rank; [`FileName`] tells ranks apart.
//! [`view`] is what the page shows of them, [`text`] what a terminal shows. Times are microseconds, as in the files.

mod diff;
mod file_name;
mod group;
mod gunzip;
mod rules;
mod scan;
mod summary;
mod table;
pub mod text;
mod totals;
mod trace;
mod trace_file;
pub mod view;

pub use diff::{Change, Diff, Row, Side, cautions, diff};
pub use file_name::{FileKind, FileName};
pub use group::{Group, Grouping, group};
pub use rules::{DEFAULT_RULES, Rule, RuleError, Rules};
pub use summary::{Kernel, Origin, Summary, SummaryError};
pub use table::{TOP, Table, table};
pub use trace::{MAX_EVENT, MAX_TRACE, Trace, TraceError};
pub use trace_file::TraceFile;
