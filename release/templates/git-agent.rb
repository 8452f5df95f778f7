# The formula of git-agent {{.Version}}, for a tap. It takes the archives of the release.
class GitAgent < Formula
  desc "Record, hand off and fork the turns of coding agents in git"
  homepage "{{.Site}}"
  version "{{.Version}}"
  license "MIT"

  depends_on "git"

  on_macos do
    on_arm do
      url "{{.Download}}/git-agent-{{.Version}}-darwin-arm64.tar.gz"
      sha256 "{{sum "darwin-arm64"}}"
    end
    on_intel do
      url "{{.Download}}/git-agent-{{.Version}}-darwin-amd64.tar.gz"
      sha256 "{{sum "darwin-amd64"}}"
    end
  end

  on_linux do
    on_arm do
      url "{{.Download}}/git-agent-{{.Version}}-linux-arm64.tar.gz"
      sha256 "{{sum "linux-arm64"}}"
    end
    on_intel do
      url "{{.Download}}/git-agent-{{.Version}}-linux-amd64.tar.gz"
      sha256 "{{sum "linux-amd64"}}"
    end
  end

  def install
    ENV["PREFIX"] = prefix
    system "./install.sh"
  end

  test do
    assert_match version.to_s, shell_output("git agent-turn --version")
    system "git", "agent-turn", "demo"
  end
end
