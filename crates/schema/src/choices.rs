//! Enums of values that configs write as names.

/// Makes an enum whose values a config writes as names: the enum, its serde form, `ALL`, `name`, and its
/// [`Value`](crate::Value). The doc comments of the variants are their sentences.
///
/// Each variant has its name as `= "name"`.
#[macro_export]
macro_rules! choices {
    (
        $(#[$about:meta])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:literal])* $variant:ident = $text:literal, )*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $name {
            $( $(#[doc = $doc])* #[serde(rename = $text)] $variant, )*
        }

        impl $name {
            /// All values.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            /// The name in configs.
            pub fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )*
                }
            }
        }

        impl $crate::Value for $name {
            fn kind() -> $crate::Kind {
                $crate::Kind::Choice(vec![$(
                    $crate::Choice { name: $text.to_owned(), sentence: $crate::sentence(&[$($doc),*]) },
                )*])
            }

            fn written(&self) -> Option<String> {
                Some(format!("{:?}", self.name()))
            }
        }
    };
}

/// The first paragraph of a doc comment, given by its lines, on one line.
pub fn sentence(doc: &[&str]) -> String {
    let lines = doc.iter().map(|line| line.trim());
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    paragraph.join(" ")
}
