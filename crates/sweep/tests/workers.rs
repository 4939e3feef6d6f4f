//! Runs on several threads.

use std::thread::sleep;
use std::time::Duration;

use headlight_sweep::work;
use headlight_trainer::{Failure, Signals};

/// A run that was begun before another one failed ends later, and its result is not lost.
#[test]
fn results_before_a_failure_are_passed_on() {
    let signals = Signals::listen().unwrap();
    let train = |run| match run {
        0 => {
            sleep(Duration::from_millis(200));
            Ok(Some(0))
        }
        1 => Err(Failure::Input("the second run".to_owned())),
        _ => Ok(Some(run)),
    };
    let mut passed_on = Vec::new();
    let pass_on = |run| {
        passed_on.push(run);
        Ok(())
    };
    let worked = work(train, 0..100, 2, &signals, |_| (), pass_on);
    assert_eq!(worked.unwrap_err().to_string(), "the second run");
    assert_eq!(passed_on, [0]);
}
