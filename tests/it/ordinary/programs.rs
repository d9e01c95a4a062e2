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
