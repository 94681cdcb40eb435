//! A program that is a leash and nothing else: what the tests start where the product starts itself.

fn main() -> std::process::ExitCode {
    terminal::leash::main()
}
