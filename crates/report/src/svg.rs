//! The writer of SVG pictures.

use std::fmt::Write;

use crate::markup::escape;
use crate::theme::svg_style;

/// An SVG picture that is being drawn. Places are `[x, y]` and sizes `[width, height]`, in pixels.
#[derive(Default)]
pub(crate) struct Svg {
    body: String,
}

impl Svg {
    /// Text whose baseline starts, or is anchored by its class, at a place.
    pub(crate) fn text(&mut self, class: &str, place: [f64; 2], text: &str) {
        let [x, y] = place.map(tenths);
        let text = escape(text);
        let _ = writeln!(
            self.body,
            r#"<text{} x="{x}" y="{y}">{text}</text>"#,
            of_class(class)
        );
    }

    /// Text that reads upwards from a place.
    pub(crate) fn upright(&mut self, class: &str, place: [f64; 2], text: &str) {
        let [x, y] = place.map(tenths);
        let _ = writeln!(
            self.body,
            r#"<text{} transform="translate({x} {y}) rotate(-90)">{}</text>"#,
            of_class(class),
            escape(text)
        );
    }

    /// A rectangle; `paint` is its attributes, such as `class="bar"`.
    pub(crate) fn rect(&mut self, paint: &str, corner: [f64; 2], size: [f64; 2]) {
        self.named_rect(paint, corner, size, "");
    }

    /// A rectangle that shows a text when it is pointed at.
    pub(crate) fn named_rect(&mut self, paint: &str, corner: [f64; 2], size: [f64; 2], name: &str) {
        let ([x, y], [width, height]) = (corner.map(tenths), size.map(tenths));
        let _ = write!(
            self.body,
            r#"<rect {paint} x="{x}" y="{y}" width="{width}" height="{height}""#
        );
        let _ = match name {
            "" => writeln!(self.body, "/>"),
            _ => writeln!(self.body, "><title>{}</title></rect>", escape(name)),
        };
    }

    /// Squares of one paint, as one shape.
    pub(crate) fn squares(&mut self, paint: &str, corners: &[[f64; 2]], side: f64) {
        let _ = write!(self.body, "<path {paint} d=\"");
        for [x, y] in corners.iter().map(|corner| corner.map(tenths)) {
            let _ = write!(self.body, "M{x} {y}h{side}v{side}h-{side}z");
        }
        self.body.push_str("\"/>\n");
    }

    /// A disc.
    pub(crate) fn disc(&mut self, class: &str, centre: [f64; 2], radius: f64) {
        let [x, y] = centre.map(tenths);
        let _ = writeln!(
            self.body,
            r#"<circle{} cx="{x}" cy="{y}" r="{radius}"/>"#,
            of_class(class)
        );
    }

    /// Lines between points; `end` is `Z` for a closed shape, else empty.
    pub(crate) fn path(&mut self, class: &str, points: &[[f64; 2]], end: &str) {
        let points = points.iter().map(|point| point.map(tenths));
        let points: Vec<String> = points.map(|[x, y]| format!("{x} {y}")).collect();
        let _ = writeln!(
            self.body,
            r#"<path class="{class}" d="M{}{end}"/>"#,
            points.join("L")
        );
    }

    /// What `draw` draws, as a group with these attributes.
    pub(crate) fn group(&mut self, attributes: &str, draw: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.body, "<g {attributes}>");
        draw(self);
        self.body.push_str("</g>\n");
    }

    /// Adds what another picture shows.
    pub(crate) fn append(&mut self, other: &Self) {
        self.body.push_str(&other.body);
    }

    /// The picture as a file, which can also stand in HTML.
    pub(crate) fn finish(self, title: &str, size: [f64; 2]) -> String {
        let [width, height] = size.map(f64::round);
        let title = escape(title);
        let hatch = if self.body.contains("url(#hatch)") {
            HATCH
        } else {
            ""
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n<style>{}</style>\n{hatch}{}</svg>\n",
            svg_style(),
            self.body
        )
    }
}

/// The paint `url(#hatch)`.
const HATCH: &str = "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
                     patternTransform=\"rotate(45)\"><path class=\"cell\" stroke-width=\"4\" d=\"M0 0V6\"/></pattern></defs>\n";

/// A class attribute, or nothing.
fn of_class(class: &str) -> String {
    match class.trim() {
        "" => String::new(),
        class => format!(r#" class="{class}""#),
    }
}

/// A tenth of a pixel is as precise as a picture needs.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
