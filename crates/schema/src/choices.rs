//! Enums of values that configs write as names.

/// Makes an enum whose values a config writes as names: the enum, its serde form, `ALL`, `name`, `sentence`, and its
/// [`Value`](crate::Value). The doc comments of the variants are their sentences.
///
/// Each variant has its name as `= "name"`. With `#[derive(Default)]` on the enum, one variant is `#[default]`.
///
/// After the enum, `or Variant(Type), "such values"` adds a variant for any value of a type. Such an enum has neither `ALL` nor names;
/// the text says what is expected, in messages.
#[macro_export]
macro_rules! choices {
    (
        $(#[$about:meta])*
        $vis:vis enum $name:ident {
            $( $(#[$attribute:ident $(= $doc:literal)?])* $variant:ident = $text:literal, )*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $name {
            $( $(#[$attribute $(= $doc)?])* #[serde(rename = $text)] $variant, )*
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

            /// What it means, as a sentence.
            pub fn sentence(self) -> String {
                match self {
                    $( Self::$variant => $crate::sentence(&[$( $($doc,)? )*]), )*
                }
            }
        }

        impl $crate::Value for $name {
            fn kind() -> $crate::Kind {
                let choices = Self::ALL.map(|one| $crate::Choice {
                    name: one.name().to_owned(),
                    sentence: one.sentence(),
                });
                $crate::Kind::Choice(choices.into())
            }
        }
    };

    (
        $(#[$about:meta])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $doc:literal])* $variant:ident = $text:literal, )*
        }
        or $(#[doc = $other_doc:literal])* $other:ident($type:ty), $expecting:literal
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(expecting = $expecting)]
        $vis enum $name {
            $( $(#[doc = $doc])* #[serde(rename = $text)] $variant, )*
            $(#[doc = $other_doc])*
            #[serde(untagged)]
            $other($type),
        }

        impl $crate::Value for $name {
            fn kind() -> $crate::Kind {
                let choices = [$( $crate::Choice {
                    name: $text.to_owned(),
                    sentence: $crate::sentence(&[$($doc),*]),
                } ),*];
                let other = <$type as $crate::Value>::kind();
                $crate::Kind::Either(vec![$crate::Kind::Choice(choices.into()), other])
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
