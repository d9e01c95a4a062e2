# Installs fusebox for this user: powershell -ExecutionPolicy Bypass -File install.ps1. Removes what it installed: the same with -Uninstall.
# $env:FUSEBOX_PREFIX is where to, $env:FUSEBOX_BASE where from. No administrator: it says each file that it writes.
param([switch]$Uninstall)
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

$name = '@NAME@'
$version = '@VERSION@'
$base = if ($env:FUSEBOX_BASE) { $env:FUSEBOX_BASE } else { '@BASE@' }
$prefix = if ($env:FUSEBOX_PREFIX) { $env:FUSEBOX_PREFIX } else { Join-Path $env:LOCALAPPDATA 'Programs\fusebox' }
$program = Join-Path $prefix 'fusebox.exe'
$completions = Join-Path $prefix 'fusebox.ps1'

if ($Uninstall) {
    if (Test-Path $program) { & $program uninstall --scope user }
    foreach ($file in $program, "$program.old", $completions) {
        if (Test-Path $file) { Remove-Item $file; "removed $file" }
    }
    if ((Test-Path $prefix) -and -not (Get-ChildItem $prefix)) { Remove-Item $prefix }
    return
}

$target = 'x86_64-pc-windows-gnu'
$archive = "$name-$version-$target.zip"
$temporary = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory $temporary | Out-Null
try {
    Invoke-WebRequest -UseBasicParsing "$base/$archive" -OutFile (Join-Path $temporary $archive)
    Invoke-WebRequest -UseBasicParsing "$base/SHA256SUMS" -OutFile (Join-Path $temporary 'SHA256SUMS')
    $line = Get-Content (Join-Path $temporary 'SHA256SUMS') | Where-Object { $_.EndsWith("  $archive") }
    if (-not $line) { throw "$base/SHA256SUMS does not name $archive" }
    $found = (Get-FileHash -Algorithm SHA256 (Join-Path $temporary $archive)).Hash.ToLower()
    $wanted = $line.Split(' ')[0]
    if ($found -ne $wanted) { throw "$archive has the SHA-256 $found, and should have ${wanted}: nothing was installed" }
    "verified ${archive}: SHA-256 $found"
    Expand-Archive (Join-Path $temporary $archive) $temporary
    $from = Join-Path $temporary "$name-$version-$target"
    New-Item -ItemType Directory -Force $prefix | Out-Null
    # A program that runs can be renamed, and not replaced.
    if (Test-Path "$program.old") { Remove-Item "$program.old" -ErrorAction SilentlyContinue }
    if (Test-Path $program) { Move-Item -Force $program "$program.old" }
    Copy-Item (Join-Path $from 'fusebox.exe') $program
    "wrote $program"
    Copy-Item (Join-Path $from 'completions\fusebox.ps1') $completions
    "wrote $completions"
} finally {
    Remove-Item -Recurse -Force $temporary
}
& $program --version
"next: ``& '$program' init`` in a repository; put $prefix on your Path to call it ``fusebox``"
"undo: install.ps1 -Uninstall"
