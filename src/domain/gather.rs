//! Fills maps and sets item by item. `collect` sorts first, and that sort is compiled anew for each type of item: some 5 KB each time.

/// Returns a collection of items, put in one after the other.
pub fn gather<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    for item in items {
        all.extend([item]);
    }
    all
}
