//! `headlight._headlight`: the experiment for Python. The package around it, `headlight`, is what users import; this
//! module holds what computes.
//!
//! Everything that takes longer than a call of Python runs on a thread of its own, without the interpreter's lock.

mod certify;
mod config;
mod explain;
mod failure;
mod fitting;
mod interventions;
mod model;
mod page;
mod sweep;
mod training;
mod watched;

use pyo3::prelude::*;

/// What `headlight` computes with.
#[pymodule]
#[pyo3(name = "_headlight")]
mod headlight_python {
    #[pymodule_export]
    use crate::certify::certify;
    #[pymodule_export]
    use crate::config::{Config, built_in_configs, toml_of};
    #[pymodule_export]
    use crate::explain::explain;
    #[pymodule_export]
    use crate::failure::{Diverged, hide_folder};
    #[pymodule_export]
    use crate::fitting::fit;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::page::{attention_page, page};
    #[pymodule_export]
    use crate::sweep::{sweep, sweep_picture};
    #[pymodule_export]
    use crate::training::{at_step, train, verify};

    use pyo3::prelude::*;

    #[pymodule_init]
    #[allow(clippy::unnecessary_wraps)] // PyO3 wants a result.
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::failure::listen();
        Ok(())
    }
}
