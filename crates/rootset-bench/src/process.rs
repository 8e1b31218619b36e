//! Peak memory of this process, from Linux's `/proc`; elsewhere it is not known.

use std::fs;

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
