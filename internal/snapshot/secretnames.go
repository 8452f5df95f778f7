package snapshot

import (
	"path"
	"strings"
)

// secretName reports whether a file of this name usually holds credentials: environment files,
// private keys, key stores and the credential files of common tools. Only untracked files are
// checked, so a false alarm costs one file of a snapshot, which names it.
func secretName(name string) bool {
	name = strings.ToLower(name)
	base := path.Base(name)
	if isExample(base) {
		return false
	}
	if base == ".env" || base == ".envrc" || strings.HasPrefix(base, ".env.") || strings.HasSuffix(base, ".env") {
		return true
	}
	switch base {
	case ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf",
		".vault-token", ".dockercfg", ".dockerconfigjson", ".boto", ".s3cfg", ".terraformrc",
		"credentials", "credentials.json", "credentials.toml", "credentials.yml", "credentials.yaml",
		"client_secret.json", "secrets.json", "secrets.toml", "secrets.yml", "secrets.yaml", "secret.yml", "secret.yaml",
		"service-account.json", "service_account.json", "application_default_credentials.json",
		"master.key", "terraform.tfstate", "terraform.tfstate.backup", "kubeconfig", "wallet.dat",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk":
		return true
	}
	switch path.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".p8", ".jks", ".keystore", ".kdbx", ".ppk", ".ovpn", ".asc", ".gpg", ".pkcs12", ".tfvars":
		return true
	}
	return strings.HasSuffix(name, ".docker/config.json") || strings.HasSuffix(name, ".kube/config") ||
		strings.HasPrefix(base, "client_secret_") && strings.HasSuffix(base, ".json")
}

// isExample reports whether a file is a template that people commit on purpose.
func isExample(base string) bool {
	for _, word := range []string{"example", "sample", "template", "dist"} {
		if strings.HasSuffix(base, "."+word) || strings.HasSuffix(base, "-"+word) || strings.Contains(base, "."+word+".") {
			return true
		}
	}
	return false
}
