//! Memory and processor time of processes, from Linux's `/proc`; elsewhere they are not known.

use std::fs;
use std::time::Duration;

/// Ticks of the clock that `/proc` counts processor time in; Linux shows 100 of them a second whatever the kernel uses.
const TICKS_PER_SECOND: f64 = 100.0;

/// The largest resident size since the start or the last [`forget_peak`], in KiB.
pub fn peak_memory_kib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Lets the next peak be that of what comes next. Where this cannot be done, peaks are those of everything so far.
pub fn forget_peak() {
    // 5 resets the peak, see proc(5). A failure only makes a figure larger than it had to be.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Processor time of a process, with that of its children that have ended.
pub fn processor_time(process: u32) -> Option<Duration> {
    stat(process).map(|stat| stat.processor)
}

/// Processor time of all processes of that name on this machine together; `None` when there are none to be seen.
pub fn processor_time_of_all(name: &str) -> Option<Duration> {
    let numbers = fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let times = numbers.filter_map(stat).filter(|stat| stat.name == name).map(|stat| stat.processor);
    times.reduce(|sum, time| sum + time)
}

/// Processor time that everything on this machine has used since it was started.
pub fn processor_time_of_machine() -> Option<Duration> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let fields = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> = fields.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    // See proc(5): the fourth and fifth are idle, those from the ninth on are in the first two already.
    let busy: u64 =
        ticks.iter().take(8).enumerate().filter(|(place, _)| ![3, 4].contains(place)).map(|(_, it)| it).sum();
    Some(Duration::from_secs_f64(busy as f64 / TICKS_PER_SECOND))
}

struct Stat {
    name: String,
    processor: Duration,
}

/// See proc(5): the name is in parentheses and may hold anything; times are the 14th to 17th field.
fn stat(process: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (before, after) = text.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let ticks: u64 = after.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(Stat { name: name.to_owned(), processor: Duration::from_secs_f64(ticks as f64 / TICKS_PER_SECOND) })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn work_shows_in_the_processor_time() {
        let before = processor_time(std::process::id()).expect("Linux tells");
        let begun = std::time::Instant::now();
        let mut number = 1_u64;
        while begun.elapsed() < Duration::from_millis(200) {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
        let name = stat(std::process::id()).expect("Linux tells").name;
        assert!(processor_time(std::process::id()).is_some_and(|after| after > before));
        assert!(processor_time_of_all(&name).is_some_and(|all| all > before));
        assert!(processor_time_of_machine().is_some_and(|all| all > before));
    }
}
