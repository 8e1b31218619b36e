//! Servers of their own, so which engine the run is about does not matter. Too long for every change: what the store does
//! after a crash has short tests beside it.

mod at_length {
    use rootset_stress::postgres_crashes::{Control, PostgresCrashSettings, run};

    use crate::{seed, setting};

    fn settings(control: Option<Control>) -> PostgresCrashSettings {
        PostgresCrashSettings { rounds: setting("ROOTSET_STRESS_POSTGRES_ROUNDS", 10), seed: seed(14), control }
    }

    #[test]
    fn nothing_acknowledged_is_lost_by_crashes_and_failovers_of_postgres() {
        let report = run(&settings(None)).unwrap_or_else(|failed| panic!("{failed}"));
        println!("{report}");
        assert!(report.crashes >= report.rounds && report.promotions > 0, "{report}");
        assert!(report.acknowledged > 0 && report.lost_answers > 0, "{report}");
    }

    #[test]
    fn every_planted_mistake_loses_something_in_a_crash_of_postgres() {
        for control in Control::ALL {
            let report = run(&settings(Some(control))).unwrap_or_else(|failed| panic!("{failed}"));
            println!("{report}");
        }
    }
}
