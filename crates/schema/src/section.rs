//! Sections of configs.

use crate::{InvalidValue, Key};

/// A section of a config: a struct that [`section!`](crate::section) made.
pub trait ConfigSection {
    /// What it holds, in one paragraph: its doc comment.
    fn about() -> String;

    /// Its keys, in the order of its fields.
    fn keys() -> Vec<Key>;

    /// Checks each number against its range, except for those of sections inside this one.
    ///
    /// # Errors
    /// Names the first that is not in it, by its key within this section.
    fn check_ranges(&self) -> Result<(), InvalidValue>;
}

/// Makes the struct of a section, its serde form, its [`ConfigSection`], and its defaults: `Default`, or `with_defaults`, which takes
/// the values of the keys that have none.
///
/// A field is a key. Its doc comment says what the key does; the first paragraph is shown everywhere. These can follow:
///
/// - `#[range(...)]`: the [`Range`](crate::Range) of its value;
/// - `#[omit(default)]`: the key is not written while it has its default. A key that comes later than configs exist
///   needs it, so that these configs keep their bytes and hashes. So do keys that can be unset;
/// - `= value` after the type: the default. A key without one is required.
///
/// `#[complete(function)]` before the struct names a function that completes each section that was read, `fn(&mut Self)`: keys
/// whose default depends on another key.
#[macro_export]
macro_rules! section {
    (
        $(#[doc = $about:literal])*
        $(#[derive($($also:ident),*)])?
        $(#[complete($complete:path)])?
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[range($range:expr)])?
                $(#[omit($omit:ident)])?
                $field_vis:vis $field:ident: $type:ty $(= $default:expr)?
            ),* $(,)?
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq $($(, $also)*)?)]
        #[allow(clippy::struct_field_names)] // A field has the name of its key.
        $vis struct $name {
            $( $(#[doc = $doc])* $field_vis $field: $type, )*
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[derive(::serde::Serialize)]
                #[allow(clippy::struct_field_names)]
                struct $name<'a> {
                    $( #[serde(skip_serializing_if = "Option::is_none")] $field: Option<&'a $type>, )*
                    /// A section may have no keys.
                    #[serde(skip)]
                    lifetime: ::core::marker::PhantomData<&'a ()>,
                }

                let written = $name {
                    $( $field: $crate::section!(@written self.$field $(, $omit)? $(, $default)?), )*
                    lifetime: ::core::marker::PhantomData,
                };
                ::serde::Serialize::serialize(&written, serializer)
            }
        }

        // By hand, since a derived reader has no defaults by field, and takes lists too, which makes the page's module larger.
        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                const NAMES: &[&str] = &[$(stringify!($field)),*];

                #[allow(non_camel_case_types)]
                enum Field {
                    $($field),*
                }

                struct Reader;

                impl<'de> ::serde::de::Visitor<'de> for Reader {
                    type Value = $name;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str(concat!("struct ", stringify!($name)))
                    }

                    fn visit_map<A: ::serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        use ::serde::de::Error;

                        let mut given = 0_u64;
                        $( let mut $field: Option<$type> = None; )*
                        while let Some(name) = map.next_key::<String>()? {
                            let Some(index) = NAMES.iter().position(|&known| known == name) else {
                                return Err(A::Error::unknown_field(&name, NAMES));
                            };
                            if given & 1 << index != 0 {
                                return Err(A::Error::duplicate_field(NAMES[index]));
                            }
                            given |= 1 << index;
                            match index {
                                $( _ if index == Field::$field as usize => $field = Some(map.next_value()?), )*
                                _ => {}
                            }
                        }
                        #[allow(unused_mut)]
                        let mut section = $name {
                            $( $field: match $field {
                                Some(value) => value,
                                None => $crate::section!(@missing A, $field $(, $default)?),
                            }, )*
                        };
                        $( $complete(&mut section); )?
                        Ok(section)
                    }
                }

                const { assert!(NAMES.len() <= 64, "the bits of `given` are too few") }
                deserializer.deserialize_struct(stringify!($name), NAMES, Reader)
            }
        }

        impl $crate::ConfigSection for $name {
            fn about() -> String {
                $crate::sentence(&[$($about),*])
            }

            fn keys() -> Vec<$crate::Key> {
                vec![$( $crate::Key {
                    name: stringify!($field),
                    kind: <$type as $crate::Value>::kind(),
                    range: $crate::section!(@range $($range)?),
                    is_required: $crate::section!(@required $($default)?),
                    default: $crate::section!(@default $type $(, $default)?),
                    sentence: $crate::sentence(&[$($doc),*]),
                }, )*]
            }

            fn check_ranges(&self) -> Result<(), $crate::InvalidValue> {
                $( $( {
                    const RANGE: $crate::Range = $range;
                    RANGE.check(stringify!($field), &self.$field)?;
                } )? )*
                Ok(())
            }
        }

        impl $crate::Value for $name {
            fn kind() -> $crate::Kind {
                $crate::Kind::Section(<Self as $crate::ConfigSection>::keys())
            }
        }

        $crate::section! { @defaults $name [] [] $( $field: $type $(= $default)?; )* }
    };

    (@written $value:expr, default, $default:expr) => {
        $crate::unless_default(&$value, &$default)
    };
    (@written $value:expr $(, $default:expr)?) => { Some(&$value) };

    (@missing $reader:ident, $field:ident, $default:expr) => { $default };
    (@missing $reader:ident, $field:ident) => {
        return Err($reader::Error::missing_field(stringify!($field)))
    };

    (@range $range:expr) => { Some($range) };
    (@range) => { None };

    (@required $default:expr) => { false };
    (@required) => { true };

    (@default $type:ty, $default:expr) => {
        <$type as $crate::Value>::written(&$default)
    };
    (@default $type:ty) => { None };

    // Sorts the fields into those without and those with a default.
    (@defaults $name:ident [$($required:tt)*] [$($others:tt)*] $field:ident: $type:ty = $default:expr; $($rest:tt)*) => {
        $crate::section! { @defaults $name [$($required)*] [$($others)* $field = $default;] $($rest)* }
    };
    (@defaults $name:ident [$($required:tt)*] [$($others:tt)*] $field:ident: $type:ty; $($rest:tt)*) => {
        $crate::section! { @defaults $name [$($required)* $field: $type;] [$($others)*] $($rest)* }
    };
    (@defaults $name:ident [] [$( $field:ident = $default:expr; )*]) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }
    };
    (@defaults $name:ident [$( $required:ident: $type:ty; )*] [$( $field:ident = $default:expr; )*]) => {
        impl $name {
            /// The section with these values, and with defaults for all other keys.
            pub fn with_defaults($( $required: $type ),*) -> Self {
                Self { $( $required, )* $( $field: $default, )* }
            }
        }
    };
}

/// A value to write, if it is not the default.
pub fn unless_default<'a, T: PartialEq>(value: &'a T, default: &T) -> Option<&'a T> {
    Some(value).filter(|value| *value != default)
}
