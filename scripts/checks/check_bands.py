"""Whether each band of a page of attention ends at its own tile; for the checks of pages."""

import time

from check_page import check

# How far the end of each band is from the middle of its tile, across, in pixels; and how many rows the tiles take.
BAND_ENDS = """
    const tiles = [...document.querySelectorAll('#card [data-position]')].map((tile) => tile.getBoundingClientRect());
    const { query } = headlight.here.value;
    const ends = [...document.querySelectorAll('#card .band')].map((band) => {
        const key = Number(band.dataset.key);
        // The outline has two ends upon the tiles, each with two corners.
        const numbers = band.getAttribute('d').match(/[-\\d.]+/g).map(Number);
        const [a, b, c, d] = [0, 6, 8, 13].map((place) => numbers[place]);
        const feet = [(a + d) / 2, (b + c) / 2];
        const away = feet.map((foot) => Math.abs(new DOMPoint(foot, 0).matrixTransform(band.getScreenCTM()).x - (tiles[key].left + tiles[key].right) / 2));
        return key < query ? away[0] : key > query ? away[1] : Math.min(...away);
    });
    return [ends.length, Math.max(...ends), new Set(tiles.map(({ top }) => Math.round(top))).size];
"""


def check_bands(page, name, positions):
    """Each band ends at its own tile, at any width."""
    for width in [360, 768, 1280, 1920]:
        page.resize(width, 900)
        time.sleep(0.1)
        bands, apart, rows = page.js(BAND_ENDS)
        check(f"{name}, {width} pixels: bands end at their tiles", bands == positions and apart < 2 and rows == 1, (bands, apart, rows))
    page.resize(1400, 1400)
