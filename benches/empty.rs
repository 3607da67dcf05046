//! The cost of any process: the benchmark compares the hook with this program.

fn main() {}
