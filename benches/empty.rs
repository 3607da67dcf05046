//! What every process costs: the program that the benchmark compares with.

fn main() {}
