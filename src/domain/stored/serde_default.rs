//! What is left out of saved JSON.

/// Whether a field has the value that it is read as when it is left out: bodies stay small, and so does what a hook writes.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
