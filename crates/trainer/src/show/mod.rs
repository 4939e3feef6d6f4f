//! Documents of a run: its first screen, its report, evaluations, its measures, its page.

pub mod assessment;
pub mod certificate;
mod evidence;
pub mod explanation;
pub mod finished_run;
pub mod measures;
pub mod page;
pub mod report;
pub mod screen;
