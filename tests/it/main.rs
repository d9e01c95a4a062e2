//! Fusebox from outside: commands and stories.
