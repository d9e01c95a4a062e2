#!/usr/bin/env bash
# Installs the published peers that the benchmarks run against, each pinned and in a folder of its own, and prints where they are.
# What cannot be installed is said on standard error, and the benchmark does without it. None of their code is part of this tree.
#
#   benches/peers/install.sh [FOLDER]      FOLDER: $FUSEBOX_PEERS, else ~/.cache/fusebox/peers
set -uo pipefail

folder=${1:-${FUSEBOX_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/fusebox/peers}}
mkdir -p "$folder/logs"

# registry, package, version, the folder's name
peers='
npm   ccusage                20.0.24  ccusage-20
npm   ccusage                18.0.11  ccusage-18
npm   ccstatusline           2.2.30   ccstatusline
pypi  subagent-budget        0.1.0    subagent-budget
pypi  claude-session-budget  1.3.2    claude-session-budget
pypi  agentguard47           2.0.0    agentguard47
cargo ccusage-statusline-rs  1.17.0   ccusage-statusline-rs
'

install() {
    local registry=$1 package=$2 version=$3 into=$4
    case $registry in
    npm) npm install --silent --no-fund --no-audit --prefix "$into" "$package@$version" && native "$into" ;;
    pypi) python3 -m venv "$into" && "$into/bin/pip" install --quiet "$package==$version" ;;
    cargo) cargo install --quiet --locked --root "$into" --version "$version" "$package" ;;
    esac
}

# Native programs inside of npm packages are made to run; npm leaves that to their wrappers.
native() {
    chmod -f +x "$1"/node_modules/@*/*/bin/* || true
}

while read -r registry package version name; do
    [ -n "$registry" ] || continue
    into=$folder/$name
    # The mark is written last: what was broken off is installed again.
    if [ "$(cat "$into/installed" 2>/dev/null)" != "$version" ]; then
        rm -rf "$into"
        mkdir -p "$into"
        if install "$registry" "$package" "$version" "$into" >"$folder/logs/$name" 2>&1 </dev/null; then
            echo "$version" >"$into/installed"
        else
            echo "$package $version cannot be installed from $registry: $folder/logs/$name says why" >&2
            rm -rf "$into"
            continue
        fi
    fi
    echo "$name $version $into"
done <<<"$peers"
