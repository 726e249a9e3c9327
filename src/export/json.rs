//! Exact integers for programs: what a job's answer holds, both scopes included.
//!
//! One case is its answer, an object. Several are `{"cases": [{"name": ..., ...answer}, ...]}`, also in one line.

use super::{Case, ExportError, Exporter, Report};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// JSON on one line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl Exporter for Json {
    fn export(&self, report: &Report<'_>) -> Result<String, ExportError> {
        let written = match report.cases {
            [case] => serde_json::to_string(&case.answer),
            cases => serde_json::to_string(&Cases { cases }),
        };
        written.map(|text| text + "\n").map_err(|error| ExportError(error.to_string()))
    }
}

#[derive(serde::Serialize)]
struct Cases<'a> {
    cases: &'a [Case],
}

impl Serialize for Case {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        self.answer.entries(&mut map)?;
        map.end()
    }
}
