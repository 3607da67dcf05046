//! Writes the manual pages into a folder: `cargo run --example man -- FOLDER`. It is an example, so that the shipped
//! program doesn't contain the code that writes them.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("name the folder for the pages")?;
    let command = taskie::command().ok_or("the default chart cannot be loaded")?;
    std::fs::create_dir_all(&folder)?;
    clap_mangen::generate_to(command, &folder)?;
    Ok(())
}
