//! Curves as an SVG picture: both axes logarithmic, in colours that can be read on a light and on a dark page.

use plotters::prelude::*;

const SIZE: (u32, u32) = (760, 400);
/// The curves' part of the width; the legend has the rest.
const CURVES: u32 = 560;
const FONT: &str = "sans-serif";
/// Greys that stand out from white and from black, on a background that is neither.
const INK: RGBColor = RGBColor(128, 134, 144);
const COLOURS: [RGBColor; 6] = [
    RGBColor(47, 129, 247),
    RGBColor(224, 123, 0),
    RGBColor(26, 158, 84),
    RGBColor(168, 85, 247),
    RGBColor(219, 55, 70),
    RGBColor(8, 145, 178),
];

/// Draws one curve for each name and its points, which have to be greater than 0, and returns the picture's SVG.
pub fn curves(title: &str, x: &str, y: &str, lines: &[(&str, &[(f64, f64)])]) -> String {
    let mut picture = String::new();
    {
        let page = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
        let page = page.titled(title, (FONT, 18).into_font().color(&INK)).unwrap();
        let (plot, legend) = page.split_horizontally(CURVES);
        let points = || lines.iter().flat_map(|(_, points)| points.iter());
        let across = whole_decades(points().map(|point| point.0));
        let up = whole_decades(points().map(|point| point.1));
        let mut chart = ChartBuilder::on(&plot)
            .margin(8)
            .margin_right(24)
            .x_label_area_size(44)
            .y_label_area_size(60)
            .build_cartesian_2d((across.0..across.1).log_scale(), (up.0..up.1).log_scale())
            .unwrap();
        let text = || (FONT, 13).into_font().color(&INK);
        let mesh = |strength| INK.mix(strength).stroke_width(1);
        let mut axes = chart.configure_mesh();
        axes.x_desc(x).y_desc(y).axis_desc_style(text()).label_style(text()).axis_style(INK);
        axes.bold_line_style(mesh(0.35)).light_line_style(mesh(0.1)).x_labels(8).y_labels(8);
        axes.x_label_formatter(&|value| short(*value)).y_label_formatter(&|value| short(*value));
        axes.draw().unwrap();
        for ((at, (name, points)), colour) in lines.iter().enumerate().zip(COLOURS.iter().cycle()) {
            chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3)).unwrap();
            let height = 24 + 22 * i32::try_from(at).unwrap();
            legend.draw(&PathElement::new([(0, height), (20, height)], colour.stroke_width(3))).unwrap();
            legend.draw(&Text::new(*name, (28, height - 7), text())).unwrap();
        }
        page.present().unwrap();
    }
    picture + "\n"
}

/// Returns the powers of ten that enclose the values.
fn whole_decades(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let least = values.clone().fold(f64::INFINITY, f64::min).log10().floor();
    let most = values.fold(0.0, f64::max).log10().ceil();
    // A little below, so that rounding does not cost the lowest tick.
    (10f64.powf(least) * 0.999, 10f64.powf(most.max(least + 1.0)))
}

/// Returns how a tick reads: 0.1, 100, 10k, 1M.
fn short(value: f64) -> String {
    match value {
        1e9.. => format!("{:.0}G", value / 1e9),
        1e6.. => format!("{:.0}M", value / 1e6),
        1e3.. => format!("{:.0}k", value / 1e3),
        _ => format!("{value}"),
    }
}
