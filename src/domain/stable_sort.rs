//! A stable sort of short lists that is compiled once. The standard one is compiled anew for each type of item, 4 to 10 KB each time.

use std::cmp::Ordering;

/// Sorts items by a key; those of one key stay in their order.
pub fn sort_by_key<T, K: Ord>(items: &mut Vec<T>, key: impl Fn(&T) -> K) {
    let compare = |one: usize, other: usize| match (items.get(one), items.get(other)) {
        (Some(one), Some(other)) => key(one).cmp(&key(other)),
        _ => Ordering::Equal,
    };
    let order = order_of(items.len(), &compare);
    let mut unsorted: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(order.into_iter().filter_map(|at| unsorted.get_mut(at)?.take()));
}

/// Returns the positions of items in their order.
fn order_of(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sorts_as_the_standard_library_does() {
        for length in 0..60_u32 {
            let mut items: Vec<(u32, String)> = (0..length).map(|at| (at * 7919 % 11, at.to_string())).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_by_key(&mut items, |item| item.0);
            assert_eq!(items, expected);
        }
    }
}
