//! Runs simulations off the main thread.

use goodput_app::worker::protocol::{FromSimulator, Hello};
use goodput_app::worker::{scope, simulator};

fn main() {
    scope::tell_before_dying(|message| FromSimulator::Panicked { message });
    scope::listen(|event| {
        if let Some(message) = event.data().as_string() {
            simulator::handle(&message, &mut |answer| scope::say(answer));
        }
    });
    scope::say(&FromSimulator::Hello(Hello::of("simulator")));
}
