//! Writes JSON.

/// A value that JSON can hold.
pub trait Json {
    /// Appends the value.
    fn write(&self, into: &mut String);
}

/// An object. Its keys come in the order in which they are added.
#[derive(Clone, Debug, Default)]
pub struct Object(String);

impl Object {
    /// Adds a key.
    #[must_use]
    pub fn with(mut self, key: &str, value: &dyn Json) -> Self {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        key.write(&mut self.0);
        self.0.push(':');
        value.write(&mut self.0);
        self
    }
}

impl Json for Object {
    fn write(&self, into: &mut String) {
        into.push_str(if self.0.is_empty() { "{" } else { &self.0 });
        into.push('}');
    }
}

impl Json for str {
    fn write(&self, into: &mut String) {
        into.push('"');
        for character in self.chars() {
            match character {
                '"' | '\\' => into.extend(['\\', character]),
                '\0'..' ' => {
                    into.push_str("\\u00");
                    let code = character as u32;
                    into.extend(
                        [code >> 4, code & 15]
                            .map(|digit| char::from_digit(digit, 16).unwrap_or_default()),
                    );
                }
                _ => into.push(character),
            }
        }
        into.push('"');
    }
}

impl Json for String {
    fn write(&self, into: &mut String) {
        self.as_str().write(into);
    }
}

impl Json for bool {
    fn write(&self, into: &mut String) {
        into.push_str(if *self { "true" } else { "false" });
    }
}

impl Json for u64 {
    fn write(&self, into: &mut String) {
        into.push_str(&self.to_string());
    }
}

impl Json for usize {
    fn write(&self, into: &mut String) {
        (*self as u64).write(into);
    }
}

impl Json for u32 {
    fn write(&self, into: &mut String) {
        u64::from(*self).write(into);
    }
}

impl Json for u8 {
    fn write(&self, into: &mut String) {
        u64::from(*self).write(into);
    }
}

/// NaN and infinity are `null`.
impl Json for f64 {
    fn write(&self, into: &mut String) {
        if self.is_finite() {
            into.push_str(&self.to_string());
        } else {
            into.push_str("null");
        }
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn write(&self, into: &mut String) {
        (**self).write(into);
    }
}

/// `None` is `null`.
impl<T: Json> Json for Option<T> {
    fn write(&self, into: &mut String) {
        match self {
            Some(value) => value.write(into),
            None => into.push_str("null"),
        }
    }
}

impl<T: Json> Json for [T] {
    fn write(&self, into: &mut String) {
        into.push('[');
        for (index, value) in self.iter().enumerate() {
            if index > 0 {
                into.push(',');
            }
            value.write(into);
        }
        into.push(']');
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self, into: &mut String) {
        self.as_slice().write(into);
    }
}

impl<T: Json, const N: usize> Json for [T; N] {
    fn write(&self, into: &mut String) {
        self.as_slice().write(into);
    }
}

/// A list of three values.
impl<A: Json, B: Json, C: Json> Json for (A, B, C) {
    fn write(&self, into: &mut String) {
        into.push('[');
        self.0.write(into);
        into.push(',');
        self.1.write(into);
        into.push(',');
        self.2.write(into);
        into.push(']');
    }
}

/// A list of two values.
impl<A: Json, B: Json> Json for (A, B) {
    fn write(&self, into: &mut String) {
        into.push('[');
        self.0.write(into);
        into.push(',');
        self.1.write(into);
        into.push(']');
    }
}
