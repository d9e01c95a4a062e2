//! Programs in other languages that name what is the session's own in functions that write nothing of it, and the same programs with
//! functions that do.

use crate::ordinary::{assert_none_is_refused, refused_command};

/// What the programs run and write, in words in quotes.
const GRANT: &str = "'fusebox grant a5b484 max_turns=+10'";
const POLICY: &str = "'.claude/fusebox.json'";

/// Modules of a text for Node that hold no functions of its file system, and those that do.
const OTHER_MODULES: [&str; 9] = [
    "const NAME = require('./data.json');",
    "const NAME = require('./fs');",
    "const NAME = require('lodash');",
    "const NAME = require('node:test');",
    "const NAME = require('fs').readFileSync('docs/x.md', 'utf8');",
    "const NAME = require('node:fs').promises.readFile('docs/x.md', 'utf8');",
    "import NAME from './text.mjs';",
    "import * as NAME from '../fs.mjs';",
    "const { NAME } = require('./helper');",
];
const MODULES: [&str; 9] = [
    "const NAME = require('fs');",
    "const NAME = require('node:fs')",
    "var NAME = require('fs').promises;",
    "let NAME = require('fs/promises'), x;",
    "const NAME = require('fs-extra');",
    "const NAME = require('child_process');",
    "import NAME from 'fs';",
    "import * as NAME from 'node:fs/promises';",
    "import NAME from \"node:child_process\"",
];

#[test]
fn a_module_of_node_is_known_by_what_is_required() {
    for name in ["f", "text"] {
        for call in ["NAME.rm(P)", "NAME.unlink(P, () => 0)", "NAME.rename('x', P)", "NAME.exec(G)", "NAME.spawn(G)"] {
            let call = call.replace('P', POLICY).replace('G', GRANT);
            let program = |module: &str| format!("node - <<'E'\n{module}\n{call};\nE").replace("NAME", name);
            assert_none_is_refused(OTHER_MODULES.map(program));
            for module in MODULES {
                assert!(refused_command(&program(module)).is_some(), "{}", program(module));
            }
        }
    }
    let direct = |module: &str| format!("node -e \"require('{module}').exec({GRANT})\"");
    assert_none_is_refused(["./rx", "node:console", "suite"].map(direct));
    for module in ["child_process", "node:child_process"] {
        assert!(refused_command(&direct(module)).is_some(), "{module}");
    }
}

#[test]
fn a_path_is_read_with_the_values_of_names() {
    let program = |root: &str| {
        format!(
            "python3 - <<'E'\nimport os, tempfile\n{root}\nopen(os.path.join(root, '.claude', 'fusebox.json'), 'w')\nE"
        )
    };
    assert_none_is_refused(
        [
            "root = '/tmp/demo'",
            "root = 'examples/demo'",
            "root = \"examples\"; os.makedirs(root, exist_ok=True)",
            "root = tempfile.mkdtemp()",
            "root = '/tmp/demo'\nos.makedirs(os.path.join(root, '.claude'), exist_ok=True)",
        ]
        .map(program),
    );
    for root in
        ["root = '.'", "root = '/home/you/src/fusebox'", "root = os.getcwd()", "root = os.environ['X']", "x = 1"]
    {
        assert!(refused_command(&program(root)).is_some(), "{root}");
    }
    let node = |root: &str| {
        format!("node -e \"{root}; require('fs').writeFileSync(path.join(root, '.claude', 'fusebox.json'), '{{}}')\"")
    };
    assert_none_is_refused(["const root = '/tmp/demo'", "let root = 'examples'"].map(node));
    for root in ["const root = '.'", "const root = process.cwd()", "let root = 'x'; root = '.'"] {
        assert!(refused_command(&node(root)).is_some(), "{root}");
    }
}

#[test]
fn a_new_folder_is_no_project() {
    let program = |enters: &str| {
        format!(
            "python3 - <<'E'\nimport os, tempfile\n{enters}\nos.mkdir('.claude')\nopen('.claude/fusebox.json', 'w')\nE"
        )
    };
    assert_none_is_refused(
        [
            "os.chdir(tempfile.mkdtemp())",
            "d = tempfile.mkdtemp()\nos.chdir(d)",
            "with tempfile.TemporaryDirectory() as d: os.chdir(d)",
            "d = '/tmp/x'\nos.makedirs(d)\nos.chdir(d)",
        ]
        .map(program),
    );
    for enters in ["os.chdir(os.getcwd())", "os.chdir('.')", "tempfile.mkdtemp()", "d = tempfile.mkdtemp()"] {
        assert!(refused_command(&program(enters)).is_some(), "{enters}");
    }
}

#[test]
fn a_texts_own_functions_are_no_others() {
    let python = |function: &str, call: &str| {
        let call = call.replace('P', POLICY).replace('G', GRANT);
        format!("python3 - <<'E'\nimport os\n{function}\n\nprint('x')\n{call}\nE")
    };
    let ordinary = [
        (
            "def replace(path, old, new):\n    s = open(path).read()\n    assert old in s, path\n    open(path, 'w').write(s.replace(old, new))",
            "replace('README.md', G, 'x')",
        ),
        (
            "def replace(path, old, new):\n    s = open(path).read()\n    open(path, 'w').write(s.replace(old, new))",
            "replace('README.md', P, 'x')",
        ),
        ("def move(title, place): print(title, place)", "move('fusebox.json', P)"),
        ("def link(text, target): return f'[{text}]({target})'", "print(link('policy', P))"),
        ("def touch(x): return x", "print(touch(P))"),
        ("def run(cmd): return cmd", "print(run(G))"),
        ("def call(x: str) -> None:\n    print(x)", "call(G)"),
    ];
    assert_none_is_refused(ordinary.map(|(function, call)| python(function, call)));
    let attempts = [
        ("def replace(path, old, new):\n    open(path, 'w').write(new)", "replace(P, 'a', 'x')"),
        ("def touch(x):\n    open(x, 'w')", "touch(x=P)"),
        ("def run(cmd): return os.system(cmd)", "print(run(G))"),
        ("def run(cmd):\n    import subprocess\n    subprocess.getstatusoutput(cmd)", "run(G)"),
        ("def call(x): pass\nfrom subprocess import call", "call(G)"),
        ("def call(x='y'):\n    os.system(G)", "call()"),
    ];
    for (function, call) in attempts {
        let program = python(&function.replace('G', GRANT), call);
        assert!(refused_command(&program).is_some(), "{program}");
    }
    let node = |body: &str| format!("node - <<'E'\nfunction run(c) {{\n{body}\n}}\nrun({GRANT});\nE");
    assert_none_is_refused([node("console.log(c);"), node("  return c;")]);
    assert!(refused_command(&node("require('child_process').execSync(c);")).is_some());
}
