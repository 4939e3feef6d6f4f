//! `headlight walkthrough` in a build without Burn.

use headlight_trainer::Failure;

use crate::cli::WalkthroughArguments;

/// Reports that this build lacks Burn.
///
/// # Errors
/// Always.
pub(crate) fn run(_: &WalkthroughArguments) -> Result<(), Failure> {
    Err(Failure::without_burn("`headlight walkthrough`"))
}
