//! Programs in other languages: what one does to the session's own files is refused, and the same call of other files passes.

use crate::hidden_forms::values::{lay_out, own};
use crate::hidden_forms::{guard, run};
use crate::world::TestWorld;

/// A language: how a text is run in it, what it begins with under other names, calls of a file, and paths of files.
struct Language {
    run: &'static str,
    /// How its modules are named, and the names that the calls below have then instead of their own.
    beginnings: &'static [(&'static str, &'static [(&'static str, &'static str)])],
    /// Calls that change the file `P`, and calls that change nothing of their own.
    calls: &'static [&'static str],
    paths: &'static [&'static str],
    /// Calls as people write them, in which another word than that of a file is a name of the session's own.
    others: &'static [&'static str],
}

const LANGUAGES: [Language; 3] = [
    Language {
        run: "perl - <<'E'\nTEXT\nE",
        beginnings: &[("use strict;", &[])],
        calls: &[
            "unlink(P);",
            "rename('x', P);",
            "open(my $f, '>', P);",
            "open(my $f, '<', P);",
            "system('rm', '-f', P);",
        ],
        paths: &["'.claude/fusebox.json'", "'.claude/notes.md'"],
        others: &[
            "my @a = (1); print $#a; unlink('.claude/fusebox.json');",
            "$_ = 'a'; s#a#b#; unlink('.claude/fusebox.json');",
            "my $n = undef // 1; unlink('.claude/fusebox.json');",
            "print 1; # unlink('.claude/fusebox.json');",
            "print 1;# isn't it\nunlink('.claude/fusebox.json');",
        ],
    },
    Language {
        run: "python3 - <<'E'\nTEXT\nE",
        beginnings: &[
            ("import os, shutil, subprocess\nfrom pathlib import Path", &[]),
            (
                "import os as o, shutil as s, subprocess as p\nfrom pathlib import Path",
                &[("os.", "o."), ("shutil.", "s."), ("subprocess.", "p.")],
            ),
        ],
        calls: &[
            "os.remove(P)",
            "os.rename(P, 'zz')",
            "os.replace('x', P)",
            "shutil.copy('x', P)",
            "shutil.copy(P, 'zz')",
            "open(P, 'w').write('{}')",
            "open(P).read()",
            "subprocess.run(['rm', '-f', P])",
            "subprocess.run(['cp', 'x', P], check=True)",
            "subprocess.run(['cat', P], stdin=open(P), env={'A': P})",
            "subprocess.run(['touch', 'zz'], stdin=open(P))",
        ],
        paths: &[
            "'.claude/fusebox.json'",
            "'.claude/notes.md'",
            "os.path.join('.claude', 'fusebox.json')",
            "os.path.join('build', '.claude/fusebox.json')",
        ],
        others: &[
            "subprocess.run(['rm', '-f', 'notes.md'], cwd='.claude')",
            "subprocess.run(['rm', '-f', 'fusebox.json'], cwd='.claude')",
            "subprocess.run(['rm', '-f', 'fusebox.json'], cwd=os.path.join('build', '.claude'))",
            "subprocess.run('rm -f fusebox.json', shell=True, cwd='.claude')",
            "subprocess.run(['touch', 'notes.md'], cwd='.claude', env={'A': '.claude/fusebox.json'})",
            "subprocess.run(['tee', 'out.txt'], stdin=open('.claude/fusebox.json'))",
            "subprocess.run(['rm', '-f', 'fusebox.json'], cwd='build'); os.remove('.claude/notes.md')",
            "os.chdir('.claude'); os.remove('fusebox.json')",
            "os.chdir('.claude'); os.remove('notes.md')",
            "os.chdir('build'); os.remove('fusebox.json')",
            "n = 7 // 2; os.remove('.claude/fusebox.json')",
            "n = 1 # os.remove('.claude/fusebox.json')",
            "n = max(1, 2)# isn't it\nos.remove('.claude/fusebox.json')",
            "Path('x').rename('.claude/fusebox.json')",
            "Path('x').replace('.claude/notes.md')",
            "Path('.claude/fusebox.json').replace('zz')",
            "Path('.claude/fusebox.json').touch(); Path('.claude/fusebox.json').write_text('.')",
            "Path('.claude/notes.md').write_text('.claude/fusebox.json')",
            "Path('zz').write_text('.claude/fusebox.json')",
            "os.system(' '.join(['rm', '.claude/fusebox.json']))",
            "os.system(' '.join(['rm', '.claude/notes.md']))",
            "root = 'build'\nopen(os.path.join(root, '.claude', 'fusebox.json'), 'w').write('.')",
            "root = 'build'; os.remove(os.path.join(root, '.claude', 'fusebox.json'))",
            "root = 'build'\nos.makedirs(root, exist_ok=True)\nos.remove(os.path.join(root, '.claude/fusebox.json'))",
            "root = '.claude'\nos.chdir(root)\nos.remove('fusebox.json')",
            "root = 'build'\nos.chdir(root)\nos.remove('.claude/fusebox.json')",
            "root = '.'\nopen(os.path.join(root, '.claude', 'fusebox.json'), 'w').write('.')",
            "root = os.getcwd()\nopen(os.path.join(root, '.claude', 'fusebox.json'), 'w').write('.')",
            "root = 'build'\nroot = '.'\nos.remove(os.path.join(root, '.claude', 'fusebox.json'))",
            "root = 'build'\nroot += '/..'\nos.remove(os.path.join(root, '.claude', 'fusebox.json'))",
            "root = 'build' if 0 else '.'\nos.remove(os.path.join(root, '.claude', 'fusebox.json'))",
            "root = 'build' '/..'\nos.remove(os.path.join(root, '.claude', 'fusebox.json'))",
            "root = 'build/\\56\\56'\nos.remove(os.path.join(root, '.claude', 'fusebox.json'))",
            "root = 'build'\nos.remove(os.path.join(root, os.getcwd(), '.claude', 'fusebox.json'))",
            "root = 'build'\nfor root in ['.']:\n    os.remove(os.path.join(root, '.claude', 'fusebox.json'))",
            "root = 'build'\nfor root, x in [('.', 1)]: os.remove(os.path.join(root, '.claude', 'fusebox.json'))",
            "root = 'build'\n(lambda root: os.remove(os.path.join(root, '.claude', 'fusebox.json')))('.')",
            "root = 'build'\ndef w(root):\n    os.remove(os.path.join(root, '.claude', 'fusebox.json'))\nw('.')",
            "root = 'build'\ndef w(a, root):\n    os.remove(os.path.join(root, '.claude', 'fusebox.json'))\nw(1, '.')",
            "own = '.claude/fusebox.json'\nos.remove(own)",
            "own = '.claude/fusebox.json'\nprint(own)\nopen(own).read()",
            "def replace(path, text):\n    open(path, 'w').write(text)\nreplace('.claude/fusebox.json', '.')",
            "def replace(text, path):\n    open(path, 'w').write(text)\nreplace('.', '.claude/fusebox.json')",
            "def write(text, to=None):\n    Path(to).write_text(text)\nwrite('.', to='.claude/fusebox.json')",
            "def run(c):\n    subprocess.run(c, shell=True)\nrun('rm .claude/fusebox.json')",
            "def run(c):\n    os.system(f'{c} -f')\nrun('rm .claude/fusebox.json')",
            "def run(c):\n    return c\nprint(run('rm .claude/fusebox.json'))",
            "def call(c: str) -> None:\n    print('-', c)\n\ncall('rm .claude/fusebox.json')",
            "def replace(path, old, new):\n    text = open(path).read().replace(old, new)\n    open(path, 'w').write(text)\nreplace('x', '.claude/fusebox.json', '-')",
            "def remove(x):\n    print(x)\nremove('.claude/fusebox.json')",
            "def write(path, text):\n    file = Path(path)\n    file.write_text(text)\nwrite('.claude/fusebox.json', '.')",
            "def write(path, text):\n    full = os.path.join(os.getcwd(), path)\n    open(full, 'w').write(text)\nwrite('.claude/fusebox.json', '.')",
            "def remove(x):\n    print(x)\nfrom os import remove\nremove('.claude/fusebox.json')",
            "def remove(x):\n    print(x)\nfrom os import (remove)\nremove('.claude/fusebox.json')",
            "def remove(x):\n    print(x)\nremove = os.remove\nremove('.claude/fusebox.json')",
            "def remove(x):\n    print(x)\ndef remove(x):\n    os.unlink(x)\nremove('.claude/fusebox.json')",
            "def remove(x):\n    print(x)\nos.remove('.claude/fusebox.json')",
            "def move(a, b):\n    print(a, b)\nmove('x', '.claude/fusebox.json')",
            "def move(a, b):\n    shutil.move(a, b)\nmove('x', '.claude/fusebox.json')",
            "def move(*a):\n    shutil.move(*a)\nmove('x', '.claude/fusebox.json')",
            "import tempfile\nos.chdir(tempfile.mkdtemp())\nos.makedirs('.claude')\nopen('.claude/fusebox.json', 'w')",
            "import tempfile\nd = tempfile.mkdtemp()\nos.chdir(d)\nos.mkdir('.claude')\nopen('.claude/fusebox.json', 'w')",
            "import tempfile as t\nwith t.TemporaryDirectory() as d:\n    os.chdir(d)\n    os.mkdir('.claude')\n    open('.claude/fusebox.json', 'w')",
            "import tempfile\nd = tempfile.mkdtemp()\nos.remove('.claude/fusebox.json')",
            "own = Path('.claude/fusebox.json')\nown.write_text('.')",
            "own = Path('.claude/fusebox.json'); print(own.name); own.write_text('.')",
            "own = Path('.claude/fusebox.json')\nwith own.open('w') as f: f.write('.')",
            "own = Path('.claude/fusebox.json')\nprint(own.read_text(), own.open().read())",
            "own = Path('.claude/fusebox.json')\nown = Path('zz')\nown.write_text('.')",
            "own = Path('.claude/notes.md')\nown.write_text('.claude/fusebox.json')",
            "t = '.claude/fusebox.json'\nprint(t.replace('.', '-'))",
            "root = 'build'\nos.remove(os.path.join(root + '/..', '.claude', 'fusebox.json'))",
            "root = 'build'\nos.remove(os.path.join(root + '/.claude', 'fusebox.json'))",
            "root = '.claude'\nos.remove(root + '/fusebox.json')",
            "root = 'build'\nos.remove(root + '/.claude/fusebox.json')",
            "root = 'build'\nos.remove(root + '/../.claude/fusebox.json')",
        ],
    },
    Language {
        run: "node - <<'E'\nTEXT\nE",
        beginnings: &[
            ("const fs = require('fs'), cp = require('child_process'), path = require('path'), os = process", &[]),
            (
                "const f = require('fs'), c = require('child_process'), path = require('path'), os = process",
                &[("fs.", "f."), ("cp.", "c.")],
            ),
        ],
        calls: &[
            "fs.rm(P, () => 0)",
            "fs.rename(P, 'zz', () => 0)",
            "fs.unlinkSync(P)",
            "fs.writeFileSync(P, '{}')",
            "fs.copyFileSync('x', P)",
            "fs.copyFileSync(P, 'zz')",
            "fs.readFileSync(P)",
            "cp.execFileSync('rm', ['-f', P])",
            "cp.spawnSync('touch', ['zz'], {env: {A: P}})",
        ],
        paths: &[
            "'.claude/fusebox.json'",
            "'.claude/notes.md'",
            "path.join('.claude', 'fusebox.json')",
            "path.join('build', '.claude/fusebox.json')",
        ],
        others: &[
            "cp.execFileSync('rm', ['-f', 'notes.md'], {cwd: '.claude'})",
            "cp.execFileSync('rm', ['-f', 'fusebox.json'], {cwd: '.claude'})",
            "cp.execSync('rm -f fusebox.json', {cwd: '.claude'})",
            "process.chdir('.claude'); fs.unlinkSync('fusebox.json')",
            "process.chdir('.claude'); fs.unlinkSync('notes.md')",
            "class A { #x = 1; a() { fs.unlinkSync('.claude/fusebox.json') } }; new A().a()",
            "1 // fs.unlinkSync('.claude/fusebox.json')",
            "cp.execSync(['rm', '.claude/fusebox.json'].join(' '))",
            "cp.execSync(['rm', '.claude/notes.md'].join(' '))",
            "const run = it => console.log(it); run('rm .claude/fusebox.json')",
            "const run = (it) => console.log(it); run('rm .claude/fusebox.json')",
            "const run = (it) => { console.log(it) }; run('rm .claude/fusebox.json')",
            "const run = function (it) { console.log(it) }; run('rm .claude/fusebox.json')",
            "function run(it) { console.log(it) } run('rm .claude/fusebox.json')",
            "const run = it => cp.execSync(it); run('rm .claude/fusebox.json')",
            "const run = it => { cp.execSync(it) }; run('rm .claude/fusebox.json')",
            "const run = (it) => /[}]/.test(it) || cp.execSync(it); run('rm .claude/fusebox.json')",
            "function run(it) { /}/.test(it); cp.execSync(it) } run('rm .claude/fusebox.json')",
            "const run = it => `${cp.execSync(it)}`; run('rm .claude/fusebox.json')",
            "const run = it => 1\nin cp.execSync(it); run('rm .claude/fusebox.json')",
            "let run = it => it; run = cp.execSync; run('rm .claude/fusebox.json')",
            "const remove = p => fs.unlinkSync(p); remove('.claude/fusebox.json')",
            "const clear = p => fs.unlinkSync(p); clear('.claude/fusebox.json')",
            "const write = (p, t) => { fs.writeFileSync(p, t) }; write('.claude/notes.md', '.claude/fusebox.json')",
        ],
    },
];

impl Language {
    fn programs(&self) -> Vec<String> {
        let with_paths = self.calls.iter().flat_map(|call| self.paths.iter().map(|path| call.replace('P', path)));
        let all: Vec<String> = with_paths.chain(self.others.iter().map(|it| (*it).to_owned())).collect();
        let begun = self.beginnings.iter().flat_map(|(begin, names)| {
            all.iter().map(move |text| {
                let text = names.iter().fold(text.clone(), |text, (own, name)| text.replace(own, name));
                self.run.replace("TEXT", &format!("{begin}\n{text}"))
            })
        });
        begun.collect()
    }
}

#[test]
fn a_program_is_refused_for_what_it_changes_and_for_nothing_else() {
    let world = TestWorld::new();
    let (mut wrong, mut changing, mut total) = (Vec::new(), 0, 0);
    for program in LANGUAGES.iter().flat_map(Language::programs) {
        lay_out(&world);
        world.write("project/.claude/notes.md", "notes");
        world.write("project/build/.claude/fusebox.json", "{}");
        world.write("project/build/fusebox.json", "{}");
        let before = own(&world);
        run(&world, &program);
        let (changes, refused) = (own(&world) != before, guard(&world).command(&program));
        if changes != refused.is_some() {
            wrong.push(format!("{program}: changes {changes}, {refused:?}"));
        }
        total += 1;
        changing += usize::from(changes);
    }
    assert!(wrong.is_empty(), "{} of {total}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(changing * 5 > total && changing * 2 < total, "{changing} of {total} change something");
}

/// Programs of languages that few machines have, and whether each changes something.
const OTHERS: &[(&str, bool)] = &[
    ("ruby -e \"def run(c)\n  puts c\nend\nrun('rm .claude/fusebox.json')\"", false),
    ("ruby -e \"def run(c) puts c end; run('rm .claude/fusebox.json')\"", false),
    ("ruby -e \"def run(c)\n  system(c)\nend\nrun('rm .claude/fusebox.json')\"", true),
    ("ruby -e \"def run(c) if c then puts c end; system(c) end; run('rm .claude/fusebox.json')\"", true),
    ("ruby - <<'E'\ndef run(c)\n  `#{c}`\nend\nrun('rm .claude/fusebox.json')\nE", true),
    ("php -r 'function run($c) { echo $c; } run(\"rm .claude/fusebox.json\");'", false),
    ("php -r '$run = function ($c) { echo $c; }; $run(\"rm .claude/fusebox.json\");'", false),
    ("php -r 'function run($c) { system($c); } run(\"rm .claude/fusebox.json\");'", true),
    ("php -r 'function run($c) { echo `$c`; } run(\"rm .claude/fusebox.json\");'", true),
];

#[test]
fn functions_of_a_programs_own_are_read_in_other_languages_too() {
    let world = TestWorld::new();
    for (program, is_refused) in OTHERS {
        assert_eq!(guard(&world).command(program).is_some(), *is_refused, "{program}");
    }
}
