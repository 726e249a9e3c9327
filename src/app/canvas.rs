//! A canvas that a chart is drawn on: crisp at any pixel ratio, as wide as its place, with a tooltip over what is hit.

use super::html::{Block, text};
use super::state::State;
use crate::chart::theme::Theme;
use crate::chart::{Axes, Frame, Rect, bars, lines, roofline};
use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use plotters::backend::SVGBackend;
use plotters_canvas::CanvasBackend;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

/// A place on a chart that has something to say.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) area: Rect,
    pub(super) text: String,
}

/// What a chart is asked to draw itself on: the screen, or a picture to save.
pub(super) struct Sheet<'a, 'b> {
    medium: Medium<'a, 'b>,
    frame: &'a Frame,
    pub(super) theme: &'a Theme,
}

enum Medium<'a, 'b> {
    Canvas(&'a mut CanvasBackend),
    Svg(&'a mut SVGBackend<'b>),
}

impl Sheet<'_, '_> {
    /// Draws bars.
    pub(super) fn bars(&mut self, chart: &bars::Bars) -> Vec<bars::Region> {
        match &mut self.medium {
            Medium::Canvas(backend) => bars::draw(*backend, self.frame, self.theme, chart).unwrap_or_default(),
            Medium::Svg(backend) => bars::draw(*backend, self.frame, self.theme, chart).unwrap_or_default(),
        }
    }

    /// Draws a roofline.
    pub(super) fn roofline(&mut self, chart: &roofline::Roofline, axes: &Axes<'_>) -> Vec<roofline::Region> {
        let drawn = match &mut self.medium {
            Medium::Canvas(backend) => roofline::draw(*backend, self.frame, self.theme, chart, axes).ok(),
            Medium::Svg(backend) => roofline::draw(*backend, self.frame, self.theme, chart, axes).ok(),
        };
        drawn.map(|drawn| drawn.regions).unwrap_or_default()
    }

    /// Draws lines.
    pub(super) fn lines(&mut self, chart: &lines::Lines, axes: &Axes<'_>) -> Vec<lines::Band> {
        let drawn = match &mut self.medium {
            Medium::Canvas(backend) => lines::draw(*backend, self.frame, self.theme, chart, axes).ok(),
            Medium::Svg(backend) => lines::draw(*backend, self.frame, self.theme, chart, axes).ok(),
        };
        drawn.map(|drawn| drawn.bands).unwrap_or_default()
    }
}

/// How a chart draws itself and what can be hit on it.
pub(super) type Draw = Box<dyn Fn(&mut Sheet<'_, '_>) -> Vec<Spot>>;

fn dark_query() -> Option<web_sys::MediaQueryList> {
    window().match_media("(prefers-color-scheme: dark)").ok().flatten()
}

/// Whether dark colours are on: those that were chosen, else the system's.
pub(super) fn is_dark() -> bool {
    match document().document_element().and_then(|root| root.get_attribute("data-theme")).as_deref() {
        Some("dark") => true,
        Some("light") => false,
        _ => dark_query().is_some_and(|query| query.matches()),
    }
}

/// Whether dark colours are on, kept up to date with the system.
pub(super) fn dark_mode() -> RwSignal<bool> {
    let dark = RwSignal::new(is_dark());
    if let Some(query) = dark_query() {
        let changed = Closure::<dyn Fn()>::new(move || {
            let _ = dark.try_set(is_dark());
        });
        let _ = query.add_event_listener_with_callback("change", changed.as_ref().unchecked_ref());
        // The page listens as long as it lives.
        changed.forget();
    }
    // Paper is white.
    super::html::listen("beforeprint", move |_| dark.set(false));
    super::html::listen("afterprint", move |_| dark.set(is_dark()));
    dark
}

/// Device pixels a CSS pixel, kept up to date: zooming and moving to another screen change it.
fn pixel_ratio() -> RwSignal<f64> {
    let ratio = RwSignal::new(window().device_pixel_ratio());
    super::html::listen("resize", move |_| {
        let now = window().device_pixel_ratio();
        if (ratio.get_untracked() - now).abs() > 1e-6 {
            ratio.set(now);
        }
    });
    ratio
}

/// A chart of `height(width)` CSS pixels. `draw` reads its data from signals and is called again when they change.
#[component]
pub(super) fn Chart(
    /// The finding, for those who do not see the picture.
    label: Signal<String>,
    /// Whether dark colours are on.
    dark: RwSignal<bool>,
    /// What a picture of it is called.
    name: &'static str,
    /// Whose chart it is.
    state: State,
    /// The height for a width.
    height: Box<dyn Fn(f64) -> f64>,
    /// Draws and says what can be hit.
    draw: Draw,
) -> impl IntoView {
    let draw = StoredValue::new_local(draw);
    let height = StoredValue::new_local(height);
    let wrapper = NodeRef::<Div>::new();
    let canvas = NodeRef::<Canvas>::new();
    let width = element_width(wrapper);
    let ratio = pixel_ratio();
    let sight = in_sight(wrapper);
    let spots = StoredValue::new(Vec::<Spot>::new());
    let tip = NodeRef::<Div>::new();
    let paint = move || {
        let (width, ratio, dark, target) = (width.get(), ratio.get(), dark.get(), canvas.get());
        let height = height.with_value(|height| height(width));
        let Some(target) = target else { return };
        let frame = Frame::canvas(width, height, ratio);
        let pixels = frame.pixels();
        if (target.width(), target.height()) != pixels {
            target.set_width(pixels.0);
            target.set_height(pixels.1);
        }
        let _ = target.style(("height", format!("{height}px")));
        if width < 1.0 {
            return;
        }
        let Some(mut backend) = CanvasBackend::with_canvas_object(target) else { return };
        let theme = if dark { &Theme::DARK } else { &Theme::LIGHT };
        let medium = Medium::Canvas(&mut backend);
        spots.set_value(draw.with_value(|draw| draw(&mut Sheet { medium, frame: &frame, theme })));
    };
    keep_drawn(state, sight, (width, ratio, dark), paint);
    // The tooltip is moved by hand: nothing else of the page depends on where the pointer is.
    let show = move |hit: Option<(f64, f64, String)>| {
        let Some(tip) = tip.get_untracked() else { return };
        tip.set_hidden(hit.is_none());
        if let Some((x, y, text)) = hit {
            let flip = x > width.get_untracked() * 0.6;
            tip.set_text_content(Some(&text));
            tip.set_class_name(if flip { "tip flip" } else { "tip" });
            let left = if flip { x - 12.0 } else { x + 12.0 };
            let _ = tip.set_attribute("style", &format!("left:{left}px;top:{y}px"));
        }
    };
    let point = move |event: web_sys::MouseEvent| {
        let (x, y) = (f64::from(event.offset_x()), f64::from(event.offset_y()));
        let hit = spots.with_value(|spots| spots.iter().find(|spot| spot.area.contains(x, y)).map(|s| s.text.clone()));
        show(hit.map(|text| (x, y, text)));
    };
    // Arrows go from one spot to the next, for those without a pointer.
    let at = StoredValue::new(usize::MAX);
    let keys = move |event: web_sys::KeyboardEvent| {
        let (last, now) = (spots.with_value(Vec::len).wrapping_sub(1), at.get_value());
        let next = match event.key().as_str() {
            "ArrowRight" | "ArrowDown" if now < last => now + 1,
            "ArrowRight" | "ArrowDown" => 0,
            "ArrowLeft" | "ArrowUp" => now.wrapping_sub(1).min(last),
            "Escape" => usize::MAX,
            _ => return,
        };
        event.prevent_default();
        at.set_value(next);
        // As one reads: from top to bottom, from left to right.
        let mut read = spots.get_value();
        crate::chart::order::sort(&mut read, |a, b| {
            a.area.y0.total_cmp(&b.area.y0).then(a.area.x0.total_cmp(&b.area.x0))
        });
        let spot = read.into_iter().nth(next);
        show(spot.map(|spot| (spot.area.x0.midpoint(spot.area.x1), spot.area.y0.midpoint(spot.area.y1), spot.text)));
    };
    let save = Callback::new(move |kind: String| {
        let (width, theme) = (720.0, &Theme::LIGHT);
        let height = untrack(move || height.with_value(|height| height(width)));
        let drawn = untrack(move || {
            crate::chart::svg(width, height, |backend, frame| {
                draw.with_value(|draw| draw(&mut Sheet { medium: Medium::Svg(backend), frame, theme }));
                Ok::<_, std::convert::Infallible>(())
            })
        });
        let Ok((svg, ())) = drawn;
        super::export::picture(state, name, kind, svg, (width, height));
    });
    let buttons = text(|| {
        "<button type=\"button\" class=\"save\" data-act=\"svg\">SVG</button><button type=\"button\" class=\"save\" data-act=\"png\">PNG</button>".to_owned()
    });
    view! {
        <div class="chart" node_ref=wrapper>
            <canvas
                node_ref=canvas
                role="img"
                aria-label=label
                tabindex="0"
                on:mousemove=point
                on:keydown=keys
                on:blur=move |_| show(None)
                on:mouseleave=move |_| show(None)
            ></canvas>
            <div class="tip" role="status" hidden node_ref=tip></div>
            <Block class="saves" markup=buttons act=save/>
        </div>
    }
}

/// The width of an element's content box in CSS pixels, kept up to date; also re-read when the pixel ratio changes,
/// since the observer fires when zooming changes the width.
fn element_width(of: NodeRef<Div>) -> RwSignal<f64> {
    let width = RwSignal::new(0.0);
    super::html::follow(move || {
        let Some(element) = of.get() else { return };
        let _ = width.try_set(f64::from(element.client_width()));
        let measured = element.clone();
        let resized = Closure::<dyn Fn()>::new(move || {
            let now = f64::from(measured.client_width());
            if width.try_get_untracked().is_some_and(|before| (before - now).abs() > 0.5) {
                let _ = width.try_set(now);
            }
        });
        if let Ok(observer) = web_sys::ResizeObserver::new(resized.as_ref().unchecked_ref()) {
            observer.observe(&element);
        }
        // The page's charts live as long as the page.
        resized.forget();
    });
    width
}

/// Paints when something changes: at once what is in sight. What nobody sees is painted a moment after the last change,
/// before somebody scrolls there or takes a picture.
fn keep_drawn(
    state: State,
    sight: RwSignal<bool>,
    (width, ratio, dark): (RwSignal<f64>, RwSignal<f64>, RwSignal<bool>),
    paint: impl Fn() + Copy + 'static,
) {
    let later = StoredValue::new(None::<TimeoutHandle>);
    super::html::follow(move || {
        if sight.get() {
            return paint();
        }
        state.outcomes.track();
        state.view.track();
        width.track();
        ratio.track();
        dark.track();
        if let Some(timer) = later.get_value() {
            timer.clear();
        }
        later.set_value(set_timeout_with_handle(move || untrack(paint), PAUSE).ok());
    });
}

/// How long a chart that is out of sight waits after a change.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(300);

/// Whether an element is in sight. All of them are where the page is printed.
fn in_sight(of: NodeRef<Div>) -> RwSignal<bool> {
    let sight = RwSignal::new(false);
    super::html::listen("beforeprint", move |_| sight.set(true));
    super::html::follow(move || {
        let Some(element) = of.get() else { return };
        let seen = Closure::<dyn Fn(js_sys::Array)>::new(move |entries: js_sys::Array| {
            let last = entries.pop().unchecked_into::<web_sys::IntersectionObserverEntry>();
            if sight.try_get_untracked().is_some_and(|before| before != last.is_intersecting()) {
                let _ = sight.try_set(last.is_intersecting());
            }
        });
        match web_sys::IntersectionObserver::new(seen.as_ref().unchecked_ref()) {
            Ok(observer) => observer.observe(&element),
            Err(_) => sight.set(true),
        }
        // The page's charts live as long as the page.
        seen.forget();
    });
    sight
}
