//! The names of measures.

use headlight_keys::choices;

macro_rules! names {
    ($( $(#[doc = $doc:literal])+ $measure:ident = $name:literal in $file:ident, )*) => {
        choices! {
            /// A measure of a trained model. The order is that of the columns of rows.
            #[derive(PartialOrd, Ord)]
            pub enum MeasureName {
                $( $(#[doc = $doc])+ $measure = $name, )*
            }
        }

        impl MeasureName {
            /// What it measures.
            pub fn sentence(self) -> String {
                match self {
                    $( Self::$measure => headlight_keys::sentence(&[$($doc),+]), )*
                }
            }
        }
    };
}

measures!(names);
