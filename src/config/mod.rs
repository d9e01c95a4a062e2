//! Configuration: layers, keys and what is in force.
