//! SVG pictures as PNG files.

use std::sync::Arc;

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// A font in the binary, so that a picture looks the same on every machine.
const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans.ttf");

/// The largest width and height of a picture, in pixels.
const LIMIT: f32 = 16_384.0;

/// Why there is no PNG of a picture.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The text is not valid SVG.
    #[error("the picture cannot be drawn: {0}")]
    Svg(#[from] resvg::usvg::Error),
    /// It has no pixels, or too many for the memory.
    #[error("a picture of {0} x {1} pixels cannot be drawn")]
    Size(u32, u32),
    /// The PNG encoder failed.
    #[error("the picture cannot be encoded: {0}")]
    Encoding(String),
}

/// Draws an SVG picture on white, with two pixels per SVG unit, or fewer if it would be too large.
///
/// # Errors
/// If the text is not valid SVG, or the picture has no size.
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    let mut options = Options {
        font_family: "DejaVu Sans".to_owned(),
        ..Options::default()
    };
    Arc::make_mut(&mut options.fontdb).load_font_data(FONT.to_vec());
    let tree = Tree::from_str(svg, &options)?;
    let size = tree.size();
    let zoom = (LIMIT / size.width().max(size.height())).min(2.0);
    let [width, height] = [size.width(), size.height()].map(|extent| (extent * zoom).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::Size(width, height))?;
    pixels.fill(Color::WHITE);
    resvg::render(
        &tree,
        Transform::from_scale(zoom, zoom),
        &mut pixels.as_mut(),
    );
    pixels
        .encode_png()
        .map_err(|error| PngError::Encoding(error.to_string()))
}
