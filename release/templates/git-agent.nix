# git-agent {{.Version}}: nix-env -if git-agent.nix, or pkgs.callPackage ./git-agent.nix { }.
# It takes the archives of the release.
{ pkgs ? import <nixpkgs> { }, lib ? pkgs.lib, stdenvNoCC ? pkgs.stdenvNoCC, fetchurl ? pkgs.fetchurl, git ? pkgs.git }:

let
  archives = {
    x86_64-linux = { name = "linux-amd64"; sha256 = "{{sum "linux-amd64"}}"; };
    aarch64-linux = { name = "linux-arm64"; sha256 = "{{sum "linux-arm64"}}"; };
    x86_64-darwin = { name = "darwin-amd64"; sha256 = "{{sum "darwin-amd64"}}"; };
    aarch64-darwin = { name = "darwin-arm64"; sha256 = "{{sum "darwin-arm64"}}"; };
  };
  system = stdenvNoCC.hostPlatform.system;
  archive = archives.${system} or (throw "git-agent: there is no archive for ${system}");
in
stdenvNoCC.mkDerivation {
  pname = "git-agent";
  version = "{{.Version}}";

  src = fetchurl {
    url = "{{.Download}}/git-agent-{{.Version}}-${archive.name}.tar.gz";
    inherit (archive) sha256;
  };

  nativeBuildInputs = [ git ];
  dontConfigure = true;
  dontBuild = true;
  dontStrip = true;
  installPhase = "PREFIX=$out sh ./install.sh";

  meta = {
    description = "Record, hand off and fork the turns of coding agents in git";
    homepage = "{{.Site}}";
    license = lib.licenses.mit;
    mainProgram = "git-agent-turn";
    platforms = builtins.attrNames archives;
    sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
  };
}
