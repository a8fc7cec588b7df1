//! Runs simulations off the main thread.

use goodput_app::worker::protocol::{FromSimulator, Hello};
use goodput_app::worker::scope;
use goodput_app::worker::simulator::Simulator;

/// Between two words about how far a job is.
const PROGRESS_EVERY_MS: f64 = 400.0;

fn main() {
    scope::tell_before_dying(|message| FromSimulator::Panicked { message });
    let mut simulator = Simulator::default();
    scope::listen(move |event| {
        let Some(message) = event.data().as_string() else { return };
        // A word makes the page draw a frame, and what is soon done needs none on the way.
        let mut said_ms = js_sys::Date::now();
        simulator.handle(&message, &mut |answer| {
            let is_progress = matches!(answer, FromSimulator::Progress { .. });
            if is_progress && js_sys::Date::now() - said_ms < PROGRESS_EVERY_MS {
                return;
            }
            said_ms = js_sys::Date::now();
            scope::say(answer);
        });
    });
    scope::say(&FromSimulator::Hello(Hello::of("simulator")));
}
