//! A document's text and tables as JSON.

use serde_json::{Map, Value, json};

use super::Document;
use super::table::{Row, Table};

impl Document {
    /// Its title, paragraphs and tables, whose rows have their cells by column; a cell that is a number becomes one, as
    /// rounded as it is shown.
    pub fn json(&self) -> Value {
        let sections = || self.sections.iter();
        let paragraphs = sections().flat_map(|section| &section.paragraphs);
        let paragraphs: Vec<&String> = self.paragraphs.iter().chain(paragraphs).collect();
        let tables: Vec<Value> = sections()
            .flat_map(|section| &section.tables)
            .map(Table::json)
            .collect();
        json!({"title": self.title, "paragraphs": paragraphs, "tables": tables})
    }
}

impl Table {
    fn json(&self) -> Value {
        let row = |row: &Row| {
            let cells = row.cells.iter().map(|cell| value(&cell.text));
            let columns = self.columns.iter().cloned().zip(cells);
            let name = [("name".to_owned(), value(&row.name))];
            Value::from(name.into_iter().chain(columns).collect::<Map<_, _>>())
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({"title": self.title, "rows": rows})
    }
}

/// A number, no value, or text.
fn value(cell: &str) -> Value {
    match cell.parse::<f64>() {
        Ok(number) if number.is_finite() => number.into(),
        _ if matches!(cell, "" | "–") => Value::Null,
        _ => cell.into(),
    }
}
