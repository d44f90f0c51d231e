//! Metrics that a module brings along: defined for the run when a script imports it.

use host::js::{Ctx, Result};
use metrics::{Contains, Kind, MetricId};
use script::Vu;
use script::go_error;

/// Defines a metric, or finds the one that another user has defined. Throws when a script has one of that name that is
/// something else.
pub fn define(ctx: &Ctx<'_>, name: &str, kind: Kind, contains: Contains) -> Result<MetricId> {
    let defined = Vu::of(ctx).registry().define(name, kind, contains);
    defined.map_err(|error| go_error::throw(ctx, &error.to_string()))
}
