package redact

import "strings"

type form uint8

const (
	whole     form = iota // the argument is the secret
	attached              // the same if no blank precedes it: mysql -pSECRET
	userPass              // user:password
	setting               // name=value
	after                 // the secret follows the first of the program's separators : , %
	cookieJar             // cookies
)

// An argument is a flag that takes a secret, in any form.
type argument struct {
	flag     string
	form     form
	programs oneOf  // nil for any
	also     string // a word that the command must contain
}

// arguments lists the flags. A longer flag precedes its own beginnings.
var arguments = []argument{
	{flag: "--user", form: userPass},
	{flag: "--proxy-user", form: userPass, programs: oneOf{"curl"}},
	{flag: "--from-literal", form: setting, programs: oneOf{"kubectl", "oc"}},
	{flag: "--creds", form: userPass, programs: oneOf{"skopeo", "podman", "buildah"}},
	{flag: "--src-creds", form: userPass, programs: oneOf{"skopeo"}},
	{flag: "--dest-creds", form: userPass, programs: oneOf{"skopeo"}},
	{flag: "--auth", form: userPass, programs: oneOf{"http", "https"}},
	{flag: "--cookie", form: cookieJar, programs: oneOf{"curl"}},
	{flag: "--password", form: whole, programs: logins},
	{flag: "--password", form: whole, programs: databases},
	{flag: "--passphrase", form: whole, programs: oneOf{"gpg", "gpg2"}},
	{flag: "--pass", form: whole, programs: oneOf{"redis-cli", "valkey-cli"}},
	{flag: "-storepass", form: whole, programs: oneOf{"keytool", "jarsigner"}},
	{flag: "-keypass", form: whole, programs: oneOf{"keytool", "jarsigner"}},
	{flag: "-deststorepass", form: whole, programs: oneOf{"keytool"}},
	{flag: "-srcstorepass", form: whole, programs: oneOf{"keytool"}},
	{flag: "-passin", form: after, programs: oneOf{"openssl"}},
	{flag: "-passout", form: after, programs: oneOf{"openssl"}},
	{flag: "-pass", form: after, programs: oneOf{"openssl"}},
	{flag: "-u", form: after, programs: oneOf{"smbclient", "rpcclient", "lftp"}},
	{flag: "-u", form: userPass},
	{flag: "-U", form: after, programs: oneOf{"smbclient", "rpcclient"}},
	{flag: "-U", form: userPass, programs: oneOf{"curl"}},
	{flag: "-b", form: cookieJar, programs: oneOf{"curl"}},
	{flag: "-a", form: userPass, programs: oneOf{"http", "https"}},
	{flag: "-a", form: whole, programs: oneOf{"redis-cli", "valkey-cli"}},
	{flag: "-p", form: attached, programs: databases},
	{flag: "-p", form: attached, programs: oneOf{"7z", "7za", "7zz", "rar", "unrar"}},
	{flag: "-p", form: whole, programs: oneOf{"sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "cqlsh", "influx"}},
	{flag: "-p", form: whole, programs: logins, also: "login"},
	{flag: "-P", form: whole, programs: oneOf{"sqlcmd", "bcp", "osql", "mosquitto_pub", "mosquitto_sub", "ipmitool", "zip", "unzip"}},
	{flag: "-w", form: whole, programs: oneOf{"ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"}},
	{flag: "-A", form: whole, programs: oneOf{"snmpget", "snmpwalk"}},
	{flag: "-X", form: whole, programs: oneOf{"snmpget", "snmpwalk"}},
}

// flagLetters lists the second bytes of the flags.
const flagLetters = "-AUPXabdkpsuw"

// logins lists the programs that log in to a registry or a cloud.
var logins = oneOf{"docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "crane", "regctl", "az", "oc", "svn", "twine", "wget", "mongosh"}

// databases lists the clients of MySQL and MariaDB.
var databases = oneOf{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlcheck", "mariadb", "mariadb-dump", "mycli"}

// argument examines the flag at s[p], after a blank, or a quote in a list.
func (c *scanner) argument(p int) {
	s := c.s
	for i := range arguments {
		a := &arguments[i]
		if !strings.HasPrefix(s[p:], a.flag) {
			continue
		}
		at := p + len(a.flag)
		if at == len(s) || !c.command(p, a) {
			continue
		}
		listed := at+1 < len(s) && s[at+1] == ',' && (s[at] == '"' || s[at] == '\'')
		separated := s[at] == ' ' || s[at] == '=' || listed
		switch {
		case separated && a.form == attached, !separated && strings.HasPrefix(a.flag, "--"), !separated && is(s[at], dash),
			!separated && len(a.flag) > 2:
			continue
		case listed:
			at += 2
		case separated:
			at++
		}
		if v, ok := c.valueAfter(at, 0); ok && !strings.HasPrefix(s[v.start:v.end], "-") {
			c.inArgument(a.form, v.start, v.end)
			return
		}
	}
}

// inArgument records the secret in the argument s[start:end].
func (c *scanner) inArgument(f form, start, end int) {
	user, from := "", start
	skip := func(stops string) bool {
		n := strings.IndexAny(c.s[start:end], stops)
		user, from = c.s[start:start+max(n, 0)], start+n+1
		return n >= 0
	}
	switch f {
	case userPass:
		if !skip(":") || user == "" || c.s[from:min(end, from+1)] == ":" { // a C++ or Perl name
			return
		}
	case after:
		if !skip(":%,") || user == "env" || user == "file" || user == "fd" {
			return
		}
	case setting:
		if !skip("=") {
			return
		}
	case cookieJar:
		c.cookies(start, end)
		return
	}
	pass := c.s[from:end]
	if len(pass) >= 4 && (f == whole || run(pass, 0, digit, len(pass)) < len(pass)) && !sample(user, pass, true) {
		rule := rulePassword
		if f == userPass {
			rule = ruleURLPassword
		}
		c.found(rule, from, end)
	}
}

func (c *scanner) command(p int, a *argument) bool {
	if a.programs == nil {
		return true
	}
	low := max(0, p-maxCommand)
	s := c.s[low:p]
	if a.also != "" && !strings.Contains(s, a.also) {
		return false
	}
	for _, program := range a.programs {
		if !strings.Contains(s, program) { // much faster than LastIndex
			continue
		}
		c.needLines(s)
		for i := strings.LastIndex(s, program); i >= 0; i = strings.LastIndex(s[:i], program) {
			at := low + i
			if at == 0 || !is(c.s[at-1], dotted) || c.s[at-1] == '-' && (at == 1 || c.s[at-2] == '\n') { // a diff
				if sameCommand(strings.TrimPrefix(s[i+len(program):], ".exe")) {
					return true
				}
				break
			}
		}
	}
	return false
}

// maxCommand is how far before a flag its program may stand.
const maxCommand = 400

// sameCommand reports whether s, after a program's name, is all arguments.
func sameCommand(s string) bool {
	if s == "" || is(s[0], dotted|plus) || strings.Contains(s, `\n`) {
		return false
	}
	var quote byte
	for i := range len(s) {
		switch b := s[i]; b {
		case quote:
			quote = 0
		case '\'', '"':
			if quote == 0 {
				quote = b
			}
		case '|', ';', '&':
			if quote == 0 {
				return false
			}
		case '\n':
			if i == 0 || s[i-1] != '\\' { // a backslash lets the command go on
				return false
			}
		}
	}
	return true
}
