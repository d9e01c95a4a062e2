//! Ordinary commands that are long, or deep, or of many parts: source text in here-documents, programs in other languages, blobs, scripts.

use crate::ordinary::assert_none_is_refused;

/// Source text as people have an agent write it.
const SOURCES: [&str; 6] = [
    include_str!("../../../src/wire/shell/lexer.rs"),
    include_str!("../../../src/engine/decide.rs"),
    include_str!("../../../benches/tree.rs"),
    include_str!("../../page/browser.mjs"),
    include_str!("../corpus/commands.txt"),
    include_str!("../ordinary.rs"),
];

/// Repeats a text up to a length.
fn long(text: &str, length: usize) -> String {
    text.repeat(length / text.len() + 1)
}

/// A text of numbered lines.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn source_text_is_written_to_files() {
    let sources = || SOURCES.iter().flat_map(|text| [(*text).to_owned(), long(text, 100_000)]);
    let writes = [
        "cat <<'END' >src/x\n§\nEND\nmake",
        "cat >src/x <<-'END'\n§\nEND",
        "mkdir -p src && cat > src/x << 'END' && make\n§\nEND",
        "python3 - <<'END'\n§\nEND",
        "node --input-type=module <<'END'\n§\nEND",
        "git apply <<'END'\n§\nEND",
        "git commit -F - <<'END'\n§\nEND",
        "gh pr create --title x --body \"$(cat <<'END'\n§\nEND\n)\"",
        "tee src/x >/dev/null <<'END'\n§\nEND",
        "psql db <<'END'\n§\nEND",
    ];
    assert_none_is_refused(sources().flat_map(|text| writes.map(|form| form.replace('§', &text))));
}

#[test]
fn templates_are_written_to_files() {
    let bodies = [
        "export const Row = ({ items }) => `${items.map((item) => `<li class=\"${item.done ? 'done' : ''}\">${item.name}</li>`).join('')}`;\n",
        "      - run: make ${{ matrix.target }} VERSION=${{ github.ref_name }}\n        env: { TOKEN: \"${{ secrets.TOKEN }}\" }\n",
        "all: $(OBJECTS)\n\t$(CC) $(CFLAGS) -o $@ $^\n\t@for f in $(SOURCES); do echo $$f; done\n",
        "  name: {{ include \"chart.fullname\" . }}\n  labels: {{- include \"chart.labels\" . | nindent 4 }}\n",
        "server_name $HOSTNAME; location / { proxy_pass http://$UPSTREAM$request_uri; }\n",
        "\\frac{\\partial f}{\\partial x_{i}} = \\sum_{j=1}^{n} a_{ij} \\left( x_{j} \\right)\n",
        "(defun f (x) (let ((y (+ x 1))) (if (> y 2) (list y (f (- y 1))) (list y))))\n",
        "INSERT INTO t (a, b) VALUES ('it''s', \"x\"), (E'\\x41', '{\"k\": [1, {\"l\": 2}]}');\n",
    ];
    let long_template = format!("${{items.map((item) => `{}`)}}\n", "<li>${item.name}</li> ".repeat(100));
    let bodies = bodies.iter().map(|body| (*body).to_owned()).chain([long_template]);
    let bodies: Vec<String> = bodies.flat_map(|body| [long(&body, 2_000), long(&body, 60_000)]).collect();
    let forms = ["cat >x <<END\n§END\nmake", "cat >x <<'END'\n§END\nmake", "printf '%s' \"§\" >x"];
    assert_none_is_refused(bodies.iter().flat_map(|body| forms.map(|form| form.replace('§', body))));
}

#[test]
fn programs_in_other_languages_are_run() {
    let python =
        long("for a, b in zip(range(9), [x for x in {1: (2, [3, {4}])}]):\n    print(f\"{a}: {b!r}\")\n", 20_000);
    let jq = format!("{}.{}", "(".repeat(60), " | if . then {a: [.b[] | {c: .d}]} else . end)".repeat(60));
    let awk = long("{ if ($1 ~ /^[a-z]+$/) { n[$1]++; s[$2] += $3 } else { print $0 > \"/dev/stderr\" } } ", 8_000);
    let sed = lines(300, |at| format!(" -e 's/\\(a{at}\\)[0-9]*\\.{{2}}/\\1_b/g'"));
    let sql = format!("SELECT {}1{}", "coalesce(nullif((".repeat(40), "), 0), 1)".repeat(40));
    let json = format!("{}1{}", "{\"a\": [".repeat(50), "]}".repeat(50));
    let blob =
        long("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg", 100_000);
    assert_none_is_refused([
        format!("python3 -c '{}'", python.replace('\'', "")),
        format!("python3 -c \"{}\"", python.replace('"', "'")),
        format!("jq '{jq}' in.json >out.json"),
        format!("awk '{awk}' in.txt | sort | uniq -c"),
        format!("sed -i{sed} src/*.txt"),
        format!("perl -pe '{}' x", long("s{a(b|c)}{$1 . uc($2)}ge; ", 8_000)),
        format!("psql -c \"{sql}\""),
        format!("curl -sS -H 'Content-Type: application/json' -d '{json}' https://a.b/c"),
        format!("curl -sS -d \"{}\" https://a.b/c | jq .", json.replace('"', "\\\"")),
        format!("emacs --batch --eval '{}{}'", "(progn (f ".repeat(60), "))".repeat(60)),
        format!("echo {blob} | base64 -d >x.png"),
        format!("base64 -d >x.png <<'END'\n{blob}\nEND"),
        format!("printf '{}' >x.bin", "\\x89\\x50\\x4e\\x47".repeat(4_000)),
        format!("node -e \"{}\"", "console.log(\\`${{a: [1, 2].map((x) => x + 1)}}\\`); ".repeat(200)),
    ]);
}

#[test]
fn scripts_of_many_commands_are_run() {
    let steps = |count| {
        lines(count, |at| format!("v{at}=$(date +%s); echo \"$v{at} $(git rev-parse HEAD~{at})\" >>out/{at}.log\n"))
    };
    let functions = lines(100, |at| {
        format!(
            "step_{at}() {{\n  local name=$1; shift\n  echo \"$name: $(basename \"$1\")\"\n  make -C \"$1\" all || return 1\n}}\n"
        )
    });
    let calls = lines(100, |at| format!("step_{at} \"build {at}\" src/{at} extra\n"));
    let arms = lines(200, |at| format!("  a{at}|b{at}) x=$y; y=${{x%.c}}.o; echo \"$y\" ;;\n"));
    let nested =
        format!("{}echo $a{}", "for a in x y; do if test -n \"$a\"; then ".repeat(12), "; fi; done".repeat(12));
    let files = lines(200, |at| format!(" src/module{at}/file{at}.c"));
    let each = lines(10, |at| format!("  tool{at} \"$f\" --out \"build/$(basename \"$f\" .c).o{at}\"\n"));
    let rows = lines(200, |at| format!("name{at} value{at} claude-{at}\n"));
    let scripts = [
        steps(20),
        steps(400),
        steps(1_500),
        format!("set -euo pipefail\n{functions}{calls}"),
        format!("case \"$1\" in\n{arms}esac"),
        nested,
        format!("for f in{files}; do\n{each}done"),
        "for i in {1..50}; do for j in {1..50}; do curl -sf \"http://host/$i/$j?page=$((i + j))\" >\"out/$i-$j\"; done; done".to_owned(),
        "for a in {a..z}; do for b in {a..z}; do mkdir -p \"$a/$a$b\"; done; done; touch {a..z}{a..z}".to_owned(),
        format!("while read -r name value; do\n  echo \"$name=$value\" >>.env\ndone <<'END'\n{rows}END"),
        format!("while read -r name; do\n  echo \"$name\" >>.env\ndone <<'END'\n{rows}END"),
        format!("xargs -n 2 echo <<'END'\n{rows}END"),
        format!("diff <(sort <<'END'\n{rows}END\n) <(sort other.txt)"),
        format!("mkdir -p {}", lines(300, |at| format!("a{at}/{{src,include,test}} "))),
        format!("export {}", lines(300, |at| format!("VAR_{at}=\"$HOME/lib{at}:$PATH\" "))),
        format!("files=({files})\nfor f in \"${{files[@]}}\"; do echo \"$f\"; done"),
        format!("find . {} -exec sed -i s/a/b/ {{}} +", lines(100, |at| format!("-name '*.x{at}' -o "))),
        "nice -n 5 env A=1 timeout 60 nohup stdbuf -oL setsid ionice -c 3 make -j4".to_owned(),
        "bash -c 'ssh host \"sh -c \\\"cd /srv && docker exec app sh -c \\\\\\\"ls -la\\\\\\\"\\\"\"'".to_owned(),
    ];
    let wrapped = |script: &String| {
        let quoted = fusebox::domain::text::shell_word::quoted(script);
        [
            script.clone(),
            format!("bash <<'SCRIPT'\n{script}\nSCRIPT"),
            format!("bash -c {quoted}"),
            format!("( {script}\n)"),
        ]
    };
    assert_none_is_refused(scripts.iter().flat_map(wrapped));
}
