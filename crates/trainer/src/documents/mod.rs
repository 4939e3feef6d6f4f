//! Documents of a run: its report, evaluations, its page.

pub mod assessment;
mod evidence;
pub mod explanation;
pub mod page;
pub mod report;
