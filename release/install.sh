#!/bin/sh
# Installs fusebox for this user: sh install.sh. Removes what it installed: sh install.sh --uninstall.
#
# FUSEBOX_PREFIX is where to (~/.local), FUSEBOX_BASE where from. No root, no change of any shell's files: it says each file that it writes.
set -eu

name=@NAME@ version=@VERSION@
base=${FUSEBOX_BASE:-@BASE@}
prefix=${FUSEBOX_PREFIX:-$HOME/.local}
list=$prefix/share/fusebox/installed

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

fetch() {
    if command -v curl >/dev/null 2>&1; then
        curl -fsSL --proto '=https,http' -o "$2" "$1" || fail "cannot fetch $1"
    elif command -v wget >/dev/null 2>&1; then
        wget -q -O "$2" "$1" || fail "cannot fetch $1"
    else
        fail "it takes curl or wget"
    fi
}

sha256() {
    if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

remove() {
    [ -f "$list" ] || fail "nothing was installed into $prefix"
    if [ -x "$prefix/bin/fusebox" ]; then
        (cd / && "$prefix/bin/fusebox" uninstall --scope user) || echo "install.sh: the hooks could not be taken out" >&2
    fi
    while read -r file; do
        rm -f "$prefix/$file" && echo "removed $prefix/$file"
        # Folders that nothing is in any more go, too.
        folder=$(dirname "$file")
        while [ "$folder" != . ] && rmdir "$prefix/$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
    done <"$list"
    rm -f "$list"
    rmdir "$prefix/share/fusebox" "$prefix/share" "$prefix" 2>/dev/null || true
    echo "hooks of repositories and the state stay: \`fusebox uninstall\` in each, before this, takes hooks out"
}

# put FILE PLACE MODE: puts a file in place at once, so that hooks that run meanwhile find the old or the new one.
put() {
    mkdir -p "$prefix/$(dirname "$2")"
    cp "$1" "$prefix/$2.new"
    chmod "$3" "$prefix/$2.new"
    mv -f "$prefix/$2.new" "$prefix/$2"
    echo "$2" >>"$temporary/installed"
    echo "wrote $prefix/$2"
}

case "${1:-}" in
--uninstall) remove && exit 0 ;;
"") ;;
*) fail "usage: sh install.sh [--uninstall]" ;;
esac

case "$(uname -s) $(uname -m)" in
"Linux x86_64") target=x86_64-unknown-linux-musl ;;
"Linux aarch64" | "Linux arm64") target=aarch64-unknown-linux-musl ;;
"Darwin arm64") target=aarch64-apple-darwin ;;
*) fail "there is no program for $(uname -s) $(uname -m); \`cargo install $name --locked\` builds one" ;;
esac

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
archive=$name-$version-$target.tar.gz
fetch "$base/$archive" "$temporary/$archive"
fetch "$base/SHA256SUMS" "$temporary/SHA256SUMS"
wanted=$(sed -n "s/  $archive\$//p" "$temporary/SHA256SUMS")
found=$(sha256 "$temporary/$archive")
[ -n "$wanted" ] || fail "$base/SHA256SUMS does not name $archive"
[ "$wanted" = "$found" ] || fail "$archive has the SHA-256 $found, and should have $wanted: nothing was installed"
echo "verified $archive: SHA-256 $found"
tar -xzf "$temporary/$archive" -C "$temporary"
from=$temporary/$name-$version-$target

put "$from/fusebox" bin/fusebox 755
for page in "$from"/man/*.1; do put "$page" "share/man/man1/$(basename "$page")" 644; done
put "$from/completions/fusebox.bash" share/bash-completion/completions/fusebox 644
put "$from/completions/_fusebox" share/zsh/site-functions/_fusebox 644
put "$from/completions/fusebox.fish" share/fish/vendor_completions.d/fusebox.fish 644
for text in LICENSE-APACHE LICENSE-MIT THIRD-PARTY; do put "$from/$text" "share/doc/fusebox/$text" 644; done
mkdir -p "$prefix/share/fusebox"
mv "$temporary/installed" "$list"
"$prefix/bin/fusebox" --version
case ":$PATH:" in
*":$prefix/bin:"*) echo "next: \`fusebox init\` in a repository" ;;
*) echo "next: \`$prefix/bin/fusebox init\` in a repository ($prefix/bin is not on your PATH)" ;;
esac
echo "undo: sh install.sh --uninstall"
