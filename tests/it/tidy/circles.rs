//! No file may use a file that uses it, directly or through others: such files can only be read all at once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::tidy::{Text, check, paths, rust};

/// The circles that there still are, each with its files: none. No row may come.
const KNOWN: &[&[&str]] = &[];

/// Which file uses which, and by which names.
#[derive(Default)]
struct Graph {
    files: Vec<String>,
    /// For each file the files that it uses, each with the names it takes and the first line that takes one.
    uses: Vec<BTreeMap<usize, (usize, BTreeSet<String>)>>,
}

impl Graph {
    /// Reads it from the files of `src`, inline tests left out.
    fn of(texts: &[Text]) -> Self {
        let texts: Vec<&Text> = texts.iter().filter(|text| !is_test(&text.path)).collect();
        let modules: BTreeMap<Vec<String>, usize> =
            texts.iter().enumerate().filter_map(|(at, text)| Some((module(&text.path)?, at))).collect();
        let mut graph = Self { files: texts.iter().map(|text| text.path.clone()).collect(), ..Self::default() };
        for (at, text) in texts.iter().enumerate() {
            let mut uses: BTreeMap<usize, (usize, BTreeSet<String>)> = BTreeMap::new();
            let own = module(&text.path).unwrap_or_default();
            for named in paths::of(&own, &text.lines.join("\n"), false) {
                // The longest beginning that is a module; what follows is a name in it.
                let ends = (1..=named.path.len()).rev();
                let found = ends.filter_map(|end| Some((end, *modules.get(&named.path[..end])?))).next();
                if let Some((end, used)) = found.filter(|(_, used)| *used != at) {
                    let (_, names) = uses.entry(used).or_insert((named.line, BTreeSet::new()));
                    names.extend(named.path.get(end).filter(|name| *name != "self").cloned());
                }
            }
            graph.uses.push(uses);
        }
        graph
    }

    /// Returns each set of two files or more that all use each other, by Tarjan's algorithm.
    fn circles(&self) -> Vec<Vec<usize>> {
        let order = vec![None; self.files.len()];
        let mut search = Search { graph: self, order, reached: 0, open: Vec::new(), found: Vec::new() };
        for start in 0..self.files.len() {
            if search.order[start].is_none() {
                search.visit(start);
            }
        }
        search.found
    }

    /// Returns the files of the shortest way from `start` back to it.
    fn shortest(&self, start: usize) -> Vec<usize> {
        let (mut from, mut next) = (BTreeMap::new(), VecDeque::from([start]));
        while let Some(at) = next.pop_front() {
            for used in self.uses[at].keys() {
                if *used == start {
                    let mut way = vec![at];
                    while way.last() != Some(&start) {
                        way.push(from[way.last().unwrap()]);
                    }
                    way.reverse();
                    return way;
                }
                if !from.contains_key(used) {
                    from.insert(*used, at);
                    next.push_back(*used);
                }
            }
        }
        Vec::new()
    }

    /// Words the shortest circle through one of `files`: a line for each file, with what it takes from the next.
    fn told(&self, files: &[usize]) -> String {
        let ways = files.iter().map(|file| self.shortest(*file)).filter(|way| !way.is_empty());
        let way = ways.min_by_key(Vec::len).unwrap_or_default();
        let lines = way.iter().zip(way.iter().cycle().skip(1)).map(|(file, next)| {
            let (line, names) = &self.uses[*file][next];
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{}:{line}: uses {} of {}", self.files[*file], names.join(", "), self.files[*next])
        });
        lines.collect::<Vec<_>>().join("\n    ")
    }
}

/// The state of Tarjan's search.
struct Search<'a> {
    graph: &'a Graph,
    /// How many files had been reached before each one; `None` for one that has not been.
    order: Vec<Option<usize>>,
    reached: usize,
    open: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// Follows what `at` uses; returns the earliest file, by order, that it leads back to.
    fn visit(&mut self, at: usize) -> usize {
        let own = self.reached;
        let mut earliest = own;
        self.order[at] = Some(own);
        self.reached += 1;
        self.open.push(at);
        for used in self.graph.uses[at].keys() {
            let leads_to = match self.order[*used] {
                None => self.visit(*used),
                Some(order) if self.open.contains(used) => order,
                Some(_) => continue,
            };
            earliest = earliest.min(leads_to);
        }
        if earliest == own {
            let start = self.open.iter().position(|open| *open == at).unwrap();
            let mut circle = self.open.split_off(start);
            circle.sort_unstable();
            self.found.extend((circle.len() > 1).then_some(circle));
        }
        earliest
    }
}

/// Returns the module that a file of `src` is, `["engine", "session_state"]`. The two roots are used by no file.
fn module(path: &str) -> Option<Vec<String>> {
    let name = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    let name = name.strip_suffix("/mod").unwrap_or(name);
    (!["main", "lib"].contains(&name)).then(|| name.split('/').map(str::to_owned).collect())
}

/// Whether a whole file is test code.
fn is_test(path: &str) -> bool {
    !path.starts_with("src/") || path.ends_with("/tests.rs")
}

/// Compares the circles of the tree with those that are known, and says how each differs.
fn differences(graph: &Graph, known: &[&[&str]]) -> Vec<String> {
    let circles = graph.circles();
    let mut broken = Vec::new();
    for circle in &circles {
        let unknown_to = |row: &[&str]| -> Vec<usize> {
            circle.iter().copied().filter(|file| !row.contains(&graph.files[*file].as_str())).collect()
        };
        let new = known.iter().map(|row| unknown_to(row)).min_by_key(Vec::len).unwrap_or_else(|| circle.clone());
        if !new.is_empty() {
            broken.push(format!(
                "files use each other in a circle: take out one of these uses, or move what is named to a file that both use:\n    {}",
                graph.told(&new)
            ));
        }
    }
    for row in known {
        for file in row.iter() {
            let is_in = |circle: &Vec<usize>| {
                let files: Vec<&str> = circle.iter().map(|file| graph.files[*file].as_str()).collect();
                files.contains(file) && files.iter().all(|file| row.contains(file))
            };
            if !circles.iter().any(is_in) {
                broken.push(format!(
                    "{file}: is in no such circle by now: take it out of KNOWN in tests/it/tidy/circles.rs"
                ));
            }
        }
    }
    broken
}

#[test]
fn no_file_uses_itself_through_others() {
    check(differences(&Graph::of(&rust()), KNOWN));
}

/// Makes up a tree of files.
fn made_up(files: &[(&str, &str)]) -> Graph {
    let text = |(path, text): &(&str, &str)| Text { path: (*path).to_owned(), lines: vec![(*text).to_owned()] };
    Graph::of(&files.iter().map(text).collect::<Vec<_>>())
}

#[test]
fn a_circle_is_found_and_told() {
    let graph = made_up(&[
        ("src/lib.rs", "mod a; mod b; mod c;"),
        ("src/a/mod.rs", "mod inner; pub struct A; fn f() { inner::run(); }"),
        ("src/a/inner.rs", "use crate::b::{B, C}; pub fn run() {}"),
        ("src/b.rs", "use crate::c; fn f() -> c::C { c::new() }"),
        ("src/c.rs", "use crate::a::A; use crate::alone::X;"),
        ("src/alone.rs", "pub struct X; #[cfg(test)] mod tests { use crate::b::B; }"),
    ]);
    let told = differences(&graph, &[]);
    assert_eq!(told.len(), 1, "{told:?}");
    let lines: Vec<&str> = told[0].lines().skip(1).map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "src/a/mod.rs:1: uses run of src/a/inner.rs",
            "src/a/inner.rs:1: uses B, C of src/b.rs",
            "src/b.rs:1: uses C, new of src/c.rs",
            "src/c.rs:1: uses A of src/a/mod.rs",
        ]
    );
    let all: &[&str] = &["src/a/mod.rs", "src/a/inner.rs", "src/b.rs", "src/c.rs"];
    assert_eq!(differences(&graph, &[all]), [""; 0]);
    // A row that knows too little, one that knows too much, and two rows for what has become one circle.
    assert_eq!(differences(&graph, &[&all[..3]]).len(), 4, "the circle, and each file of a row that is none");
    let more: &[&str] = &[all[0], all[1], all[2], all[3], "src/alone.rs"];
    assert_eq!(differences(&graph, &[more]).len(), 1);
    assert!(differences(&graph, &[&all[..2], &all[2..]])[0].contains("in a circle"));
}

#[test]
fn the_shortest_circle_is_told() {
    let graph = made_up(&[
        ("src/a.rs", "use crate::b::B; use crate::c::C;"),
        ("src/b.rs", "use crate::c::C;"),
        ("src/c.rs", "use crate::a::A;"),
    ]);
    assert_eq!(graph.told(&[0, 1, 2]).lines().count(), 2, "a and c, without b");
    assert_eq!(graph.circles(), [vec![0, 1, 2]]);
}
