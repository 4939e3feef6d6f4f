//! Reads JSON.

use std::fmt;

use serde::Deserializer;
use serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};

/// The deepest list or object.
const DEPTH_LIMIT: usize = 100;

/// Why a text cannot be read.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Reads a value.
///
/// # Errors
/// When the text is not JSON, or holds another value.
pub fn read<'de, T: de::Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    let value = T::deserialize(&mut reader)?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.unexpected("the end")),
    }
}

/// A text, and the place that is read next.
struct Reader<'de> {
    text: &'de str,
    at: usize,
    depth: usize,
}

/// The text of a string: a part of the input, unless something in it is escaped.
enum Text<'de> {
    Plain(&'de str),
    Changed(String),
}

impl<'de> Reader<'de> {
    /// The next byte that is not a blank.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        self.at += rest.iter().take_while(blank).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn unexpected(&self, expected: &str) -> Error {
        Error(format!("expected {expected} at byte {}", self.at))
    }

    /// Takes a byte if it is next.
    fn takes(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, name: &str) -> Result<(), Error> {
        if self.takes(byte) {
            Ok(())
        } else {
            Err(self.unexpected(name))
        }
    }

    /// Takes a word if it is next.
    fn takes_word(&mut self, word: &str) -> bool {
        self.peek();
        let found = self.text[self.at..].starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn string(&mut self) -> Result<Text<'de>, Error> {
        self.expect(b'"', "a string")?;
        let mut changed = String::new();
        let mut start = self.at;
        loop {
            let byte = self.text.as_bytes().get(self.at);
            match byte {
                Some(b'"') => {
                    let part = &self.text[start..self.at];
                    self.at += 1;
                    if changed.is_empty() {
                        return Ok(Text::Plain(part));
                    }
                    changed.push_str(part);
                    return Ok(Text::Changed(changed));
                }
                Some(b'\\') => {
                    changed.push_str(&self.text[start..self.at]);
                    self.at += 1;
                    changed.push(self.escaped()?);
                    start = self.at;
                }
                Some(0x20..) => self.at += 1,
                _ => return Err(self.unexpected("a character of a string")),
            }
        }
    }

    /// The character that an escape stands for.
    fn escaped(&mut self) -> Result<char, Error> {
        let byte = self.text.as_bytes().get(self.at);
        let plain = match byte {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                let mut code = self.hexadecimal()?;
                // A character beyond the first 65,536 has two escapes.
                if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    let low = self.hexadecimal()?;
                    if !(0xdc00..0xe000).contains(&low) {
                        return Err(self.unexpected("the second half of a character"));
                    }
                    code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                }
                return char::from_u32(code).ok_or_else(|| self.unexpected("a whole character"));
            }
            _ => return Err(self.unexpected("an escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn hexadecimal(&mut self) -> Result<u32, Error> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.unexpected("four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }

    /// The text of a number, and whether it is a whole one.
    fn number_text(&mut self) -> Result<(&'de str, bool), Error> {
        self.peek();
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digits = |from: usize| {
            bytes[from..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
        };
        let is = |at: usize, any: &[u8]| bytes.get(at).is_some_and(|byte| any.contains(byte));
        let mut end = start + usize::from(is(start, b"-"));
        let count = digits(end).count();
        if count == 0 || (count > 1 && bytes[end] == b'0') {
            return Err(self.unexpected("a value"));
        }
        end += count;
        let mut whole = true;
        if is(end, b".") {
            whole = false;
            end += 1 + digits(end + 1).count();
        }
        if is(end, b"eE") {
            whole = false;
            end += 1 + usize::from(is(end + 1, b"+-"));
            end += digits(end).count();
        }
        if !bytes[end - 1].is_ascii_digit() {
            return Err(self.unexpected("a number"));
        }
        self.at = end;
        Ok((&self.text[start..end], whole))
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let (text, whole) = self.number_text()?;
        if whole {
            // Minus zero is no whole number.
            if let Ok(number) = text.parse() {
                return visitor.visit_u64(number);
            }
            if let Some(number) = text.parse().ok().filter(|&number: &i64| number != 0) {
                return visitor.visit_i64(number);
            }
        }
        match text.parse() {
            Ok(number) if f64::is_finite(number) => visitor.visit_f64(number),
            _ => Err(self.unexpected("a smaller number")),
        }
    }

    /// Enters a list or an object.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(self.unexpected("a value that is less deep"));
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn list<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        self.expect(b'[', "a list")?;
        let value = self.nested(|reader| visitor.visit_seq(Items(reader, true)))?;
        self.expect(b']', "the end of the list")?;
        Ok(value)
    }

    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        self.expect(b'{', "an object")?;
        let value = self.nested(|reader| visitor.visit_map(Items(reader, true)))?;
        self.expect(b'}', "the end of the object")?;
        Ok(value)
    }

    /// Goes past a value.
    fn skip(&mut self) -> Result<(), Error> {
        match self.peek() {
            Some(b'[') => self.list(de::IgnoredAny).map(|_| ()),
            Some(b'{') => self.object(de::IgnoredAny).map(|_| ()),
            Some(b'"') => self.string().map(|_| ()),
            _ if self.takes_word("null") || self.takes_word("true") || self.takes_word("false") => {
                Ok(())
            }
            _ => self.number_text().map(|_| ()),
        }
    }
}

/// The items of a list or an object, and whether the next is the first.
struct Items<'a, 'de>(&'a mut Reader<'de>, bool);

impl Items<'_, '_> {
    /// Whether there is another item before `end`.
    fn has_next(&mut self, end: u8) -> Result<bool, Error> {
        if self.0.peek() == Some(end) {
            return Ok(false);
        }
        if !std::mem::replace(&mut self.1, false) {
            self.0.expect(b',', "a comma")?;
        }
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        if !self.has_next(b']')? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.0).map(Some)
    }
}

impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        if !self.has_next(b'}')? {
            return Ok(None);
        }
        let key = match self.0.string()? {
            Text::Plain(text) => seed.deserialize(BorrowedStrDeserializer::new(text))?,
            Text::Changed(text) => {
                let text: StringDeserializer<Error> = text.into_deserializer();
                seed.deserialize(text)?
            }
        };
        Ok(Some(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        self.0.expect(b':', "a colon")?;
        seed.deserialize(&mut *self.0)
    }
}

/// Methods that read a value in the same way.
macro_rules! each {
    ($($method:ident)+ => $read:ident) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.$read(visitor)
        })+
    };
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    each! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
    deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64 => number }
    each! { deserialize_str deserialize_string deserialize_identifier deserialize_char => text }
    each! { deserialize_seq => list }
    each! { deserialize_map => object }
    each! { deserialize_bytes deserialize_byte_buf deserialize_unit => deserialize_any }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek() {
            Some(b'[') => self.list(visitor),
            Some(b'{') => self.object(visitor),
            Some(b'"') => self.text(visitor),
            Some(b't' | b'f') => self.deserialize_bool(visitor),
            _ if self.takes_word("null") => visitor.visit_unit(),
            _ => self.number(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.takes_word("true") {
            return visitor.visit_bool(true);
        }
        if self.takes_word("false") {
            return visitor.visit_bool(false);
        }
        Err(self.unexpected("true or false"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.takes_word("null") {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _count: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _count: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.list(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.object(visitor)
    }

    /// A variant without content; other enums have a tag in an object.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.string()? {
            Text::Plain(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            Text::Changed(text) => {
                let text: StringDeserializer<Error> = text.into_deserializer();
                visitor.visit_enum(text)
            }
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.skip()?;
        visitor.visit_unit()
    }
}

impl<'de> Reader<'de> {
    fn text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        match self.string()? {
            Text::Plain(text) => visitor.visit_borrowed_str(text),
            Text::Changed(text) => visitor.visit_string(text),
        }
    }
}
