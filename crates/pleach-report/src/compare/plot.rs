//! A comparison as a plot. Each strategy has a line, the mean of its campaigns, in a band
//! from the smallest to the largest. The SVG file needs no other file. It has colours for
//! light and dark pages, and uses the reader's fonts.

use super::{Campaign, Comparison, Spread, Strategy};
use std::fmt::Write;

/// The horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Time,
    /// Logarithmic, because some strategies make a thousand times as many runs as others.
    Runs,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 48.0;
/// The number of points of a curve.
const CURVE_POINTS: usize = 160;

/// Colours that colour-blind readers can distinguish, for light and for dark pages.
const COLOURS: [(&str, &str); 8] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#ff8c42"),
    ("#007a5a", "#2fd6a5"),
    ("#a3387a", "#e48fc4"),
    ("#8a6d00", "#f0d43a"),
    ("#333333", "#dddddd"),
    ("#5b3fb0", "#b3a0ff"),
    ("#b00020", "#ff8080"),
];
/// Dashes, for more strategies than colours.
const DASHES: [&str; 3] = ["", "7 3", "2 3"];

pub fn plot(comparison: &Comparison, axis: Axis) -> String {
    let frame = Frame::new(comparison, axis);
    let mut svg = String::new();
    let title = match axis {
        Axis::Time => "branches covered by time",
        Axis::Runs => "branches covered by runs",
    };
    let program = escaped(&comparison.program);
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         role=\"img\" aria-label=\"{program}: {title}\">\n<title>{program}: {title}</title>\n"
    );
    svg += &style(comparison.strategies.len());
    let _ = writeln!(svg, "<rect class=\"page\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>");
    let budget = escaped(&comparison.budget);
    let _ = writeln!(svg, "<text class=\"title\" x=\"{LEFT}\" y=\"18\">{program}: {title}</text>");
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"33\">{budget}</text>");
    frame.grid(&mut svg);
    for (i, strategy) in comparison.strategies.iter().enumerate() {
        frame.band(&mut svg, i, strategy);
    }
    for (i, strategy) in comparison.strategies.iter().enumerate() {
        frame.line(&mut svg, i, strategy);
    }
    legend(&mut svg, comparison);
    svg += "</svg>\n";
    svg
}

fn style(strategies: usize) -> String {
    let mut light = String::new();
    let mut dark = String::new();
    for i in 0..strategies {
        let (on_light, on_dark) = COLOURS[i % COLOURS.len()];
        let dash = DASHES[i / COLOURS.len() % DASHES.len()];
        let dash = match dash {
            "" => String::new(),
            dash => format!(";stroke-dasharray:{dash}"),
        };
        let _ = write!(light, ".l{i}{{stroke:{on_light}{dash}}}.b{i}{{fill:{on_light}}}");
        let _ = write!(dark, ".l{i}{{stroke:{on_dark}}}.b{i}{{fill:{on_dark}}}");
    }
    format!(
        "<style>\n\
         text{{font:12px system-ui,sans-serif;fill:#333}}.title{{font-weight:600;font-size:14px}}\n\
         .page{{fill:#fff}}.grid{{stroke:#ddd}}.axis{{stroke:#666;fill:none}}\n\
         .line{{fill:none;stroke-width:2;stroke-linejoin:round}}.band{{opacity:.15}}\n\
         {light}\n\
         @media (prefers-color-scheme:dark){{text{{fill:#ddd}}.page{{fill:#16181c}}\
         .grid{{stroke:#333}}.axis{{stroke:#999}}\n{dark}}}\n</style>\n"
    )
}

/// Maps numbers to positions on the page.
struct Frame {
    axis: Axis,
    /// The last tick of each axis.
    x_max: f64,
    y_max: f64,
    x_ticks: Vec<f64>,
    y_ticks: Vec<f64>,
}

impl Frame {
    fn new(comparison: &Comparison, axis: Axis) -> Frame {
        let points = || {
            let campaigns = comparison.strategies.iter().flat_map(|s| &s.campaigns);
            campaigns.flat_map(|c| &c.points)
        };
        let covered = points().map(|p| p.covered).max().unwrap_or(0).max(1) as f64;
        let y_ticks = ticks(covered);
        let x_ticks = match axis {
            Axis::Time => ticks(points().map(|p| p.seconds).fold(1.0, f64::max)),
            Axis::Runs => powers(points().map(|p| p.runs).max().unwrap_or(0)),
        };
        let last = |ticks: &[f64]| ticks.last().copied().unwrap_or(1.0);
        Frame { axis, x_max: last(&x_ticks), y_max: last(&y_ticks), x_ticks, y_ticks }
    }

    fn x(&self, n: f64) -> f64 {
        let share = match self.axis {
            Axis::Time => n / self.x_max,
            Axis::Runs => n.max(1.0).log10() / self.x_max.log10(),
        };
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, n: f64) -> f64 {
        HEIGHT - BOTTOM - n / self.y_max * (HEIGHT - TOP - BOTTOM)
    }

    fn grid(&self, svg: &mut String) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for &tick in &self.y_ticks {
            let y = self.y(tick);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>",
                LEFT - 8.0,
                y + 4.0
            );
        }
        for &tick in &self.x_ticks {
            let x = self.x(tick);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                label(tick)
            );
        }
        let name = match self.axis {
            Axis::Time => "seconds",
            Axis::Runs => "runs",
        };
        let _ = writeln!(
            svg,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>",
            (LEFT + right) / 2.0,
            HEIGHT - 10.0
        );
    }

    /// The points of a strategy's curve, from where all its campaigns have started.
    fn curve(&self, strategy: &Strategy) -> Vec<(f64, Spread)> {
        let step = |i: usize| {
            let share = i as f64 / CURVE_POINTS as f64;
            let at = match self.axis {
                Axis::Time => self.x_max * share,
                Axis::Runs => self.x_max.powf(share),
            };
            let all: Option<Vec<f64>> =
                strategy.campaigns.iter().map(|c| self.covered(c, at)).collect();
            Some((self.x(at), Spread::of(all?)?))
        };
        let end = strategy.campaigns.iter().map(|c| self.end(c)).fold(0.0, f64::max);
        let mut curve: Vec<_> = (0..=CURVE_POINTS).filter_map(step).collect();
        // The curve ends where the last campaign ended.
        let beyond = self.x(end) + (WIDTH - LEFT - RIGHT) / CURVE_POINTS as f64;
        curve.retain(|&(x, _)| x <= beyond);
        curve
    }

    /// What a campaign had covered at a point of the axis. After its end, its last value.
    fn covered(&self, campaign: &Campaign, at: f64) -> Option<f64> {
        let known = campaign.points.iter().take_while(|p| match self.axis {
            Axis::Time => p.seconds <= at,
            Axis::Runs => p.runs as f64 <= at,
        });
        known.last().map(|p| p.covered as f64)
    }

    fn end(&self, campaign: &Campaign) -> f64 {
        campaign.points.last().map_or(0.0, |p| match self.axis {
            Axis::Time => p.seconds,
            Axis::Runs => p.runs as f64,
        })
    }

    fn band(&self, svg: &mut String, i: usize, strategy: &Strategy) {
        if strategy.campaigns.len() < 2 {
            return;
        }
        let curve = self.curve(strategy);
        let there = curve.iter().map(|(x, s)| (*x, self.y(s.max)));
        let back = curve.iter().rev().map(|(x, s)| (*x, self.y(s.min)));
        let d = path(there.chain(back));
        let _ = writeln!(svg, "<path class=\"band b{i}\" d=\"{d}Z\"/>");
    }

    fn line(&self, svg: &mut String, i: usize, strategy: &Strategy) {
        let d = path(self.curve(strategy).iter().map(|(x, s)| (*x, self.y(s.mean))));
        let _ = writeln!(svg, "<path class=\"line l{i}\" d=\"{d}\"/>");
    }
}

fn legend(svg: &mut String, comparison: &Comparison) {
    let x = WIDTH - RIGHT + 16.0;
    for (i, strategy) in comparison.strategies.iter().enumerate() {
        let y = TOP + 10.0 + 20.0 * i as f64;
        let end = Spread::of(strategy.campaigns.iter().map(|c| c.covered as f64));
        let end = end.map_or(String::new(), |s| format!(" {:.0}", s.mean));
        let _ = writeln!(
            svg,
            "<path class=\"line l{i}\" d=\"M{x} {y}h20\"/>\
             <text x=\"{}\" y=\"{}\">{}{end}</text>",
            x + 26.0,
            y + 4.0,
            escaped(&strategy.name)
        );
    }
}

fn path(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (x, y) in places {
        let _ = write!(d, "{}{x:.1} {y:.1}", if d.is_empty() { 'M' } else { 'L' });
    }
    if d.is_empty() { "M0 0".into() } else { d }
}

/// Ticks from 0 to just past the largest number. Their distance is 1, 2 or 5 times a power
/// of ten.
fn ticks(largest: f64) -> Vec<f64> {
    let rough = largest / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let apart = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|&n| n >= rough);
    let apart = apart.unwrap_or(rough).max(f64::MIN_POSITIVE);
    let count = (largest / apart).ceil() as usize;
    (0..=count.max(1)).map(|i| (i as f64 * apart * 1000.0).round() / 1000.0).collect()
}

/// Powers of ten up to the largest number.
fn powers(largest: u64) -> Vec<f64> {
    let exponent = (largest.max(10) as f64).log10().ceil() as i32;
    (0..=exponent).map(|i| 10f64.powi(i)).collect()
}

/// A short number: `1000` as `1k`.
fn label(n: f64) -> String {
    match n {
        n if n >= 1e6 => format!("{}M", n / 1e6),
        n if n >= 1e3 => format!("{}k", n / 1e3),
        n => n.to_string(),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().filter(|c| !c.is_control()) {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}
