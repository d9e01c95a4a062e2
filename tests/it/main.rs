//! Fusebox from outside: commands and stories.

mod cost;
