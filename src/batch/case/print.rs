//! A case as text: the shortest that reads back as the same case.

use std::fmt;

use super::{Case, Request};

/// The requests between commas.
pub(super) fn body(requests: &[Request]) -> String {
    requests.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// `[N*]Q[@K][c][:D]` without what goes without saying: one request, a KV length that is the query, no drafts.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count() != 1 {
            write!(f, "{}*", self.count())?;
        }
        write!(f, "{}", self.query())?;
        if self.prefix() > 0 {
            write!(f, "@{}", self.kv())?;
        }
        if self.chunked() {
            f.write_str("c")?;
        }
        if self.drafts() > 0 {
            write!(f, ":{}", self.drafts())?;
        }
        Ok(())
    }
}

/// `NAME=REQS`, or only `REQS` where that is the name.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = self.body();
        if self.name() != body {
            write!(f, "{}=", self.name())?;
        }
        f.write_str(&body)
    }
}
