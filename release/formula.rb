class @CLASS@ < Formula
  desc "@ABOUT@"
  version "@VERSION@"
  license any_of: [@LICENSES@]

@BLOCKS@
  def install
    bin.install "fusebox"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/fusebox.bash" => "fusebox"
    zsh_completion.install "completions/_fusebox"
    fish_completion.install "completions/fusebox.fish"
    doc.install "THIRD-PARTY"
  end

  def caveats
    "`fusebox uninstall` takes the hooks out of Claude Code's settings: run it before `brew uninstall`."
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/fusebox --version")
  end
end
