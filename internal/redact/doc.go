// Package redact takes secrets out of text before the text becomes a git object.
//
// Sooner or later, what a person says to an agent, the agent's answers, the output of its tools and
// its diffs contain keys and passwords, and a pushed git object can't be taken back. So everything
// from a prompt, reply, transcript, document, terminal or diff passes through [String], [Bytes] or,
// for a segment of a transcript, [JSONLines]. A secret becomes a short mark:
//
//	export GITHUB_TOKEN=[redacted:github-token]
//	postgres://app:[redacted:url-password]@db.example.invalid/app
//
// The mark depends only on the rule that found the secret, so the same text always gives the same
// result; redacting twice is the same as once; valid JSON stays valid JSON. [Count] tells the user
// what was found.
//
// # What is found
//
// Tokens, by the form that their provider documents: [prefixes] has the list, token.go those whose
// form is more than a beginning. They are of clouds (for AWS also the secret beside the access key
// id), git hosts, CI, model providers, payment, chat, mail, package registries, and some more.
//
// Private keys: PEM of every kind (RFC 7468), OpenSSH, PGP, SSH2, PuTTY, age; escaped in strings,
// in diffs and numbered listings, spread over the elements of an array, encoded in base64 again (in
// one line or many), without their beginning or their end. The first and last lines stay, and so
// does the number of lines, so a patch remains a patch. The private parts of JSON Web Keys (RFC 7517).
//
// JSON web tokens (RFC 7519, RFC 7516).
//
// Passwords in URLs (RFC 3986 section 3.2.1) and in the DSN of Go's MySQL driver; those of key=value
// DSNs (libpq, ODBC, ADO.NET), of .netrc and .pgpass, and in the arguments of programs ([arguments]:
// curl -u, docker login -p, mysql -p, sshpass -p, ...), whatever they look like. If the host is a
// website, examples as in manuals (user:password@, foo:bar@) are left alone.
//
// Hashes of passwords in the form of crypt(5) and its relatives (bcrypt, yescrypt, Argon2, ...).
//
// Cookies of sessions, and other cookies that look machine-made, in Cookie and Set-Cookie headers.
//
// The data of Kubernetes Secrets, whatever its names.
//
// Values of secret-looking names (name.go): API_KEY=..., "client_secret": "...", apiKey := ...,
// X-Auth-Token: ..., --token ..., setenv("TOKEN", ...), <password>...</password>,
// {"name":"API_KEY","value":"..."}, Authorization headers, the auth of Docker's configuration and of
// .npmrc, Vault's unseal keys, lists of them. Such a value counts if it looks machine-made ([random]),
// is a strong password (letters, digits and signs) or a UUID, but not if it is a variable, a template,
// a path or an expression of code.
//
// What depends on where a line begins, or on the line before it, is found in numbered listings, in
// diffs and quotations, in the output of grep, and in an array of lines ([margin], [lineAt]).
//
// # How
//
// One pass splits the text into words and looks closer at three places only: words of 20 bytes and
// more, the signs around names, values and arguments, and key blocks. There are no regular expressions
// and nothing to compile, so the first use costs no more than the second, and the start of the
// process nothing. A text with escapes is searched again without them, layer by layer, because a
// secret may be written with them: in JSON, in a string of JSON, in a string of a transcript.
// Existing scanners (gitleaks, betterleaks) take 30 to 650 ms to start and try a hundred compiled
// expressions; a hook has 3 ms.
//
// # What is not done
//
// Passwords that look like words, outside URLs, DSNs and arguments: nothing tells password =
// "sunshine" from password = "required". Arguments without a flag (htpasswd -b, rabbitmqctl
// add_user), in tuples (auth=("me", "...")), and those of a program in an array of JSON. The default
// of a Terraform variable. Tokens without a form (Mistral, Twilio's auth token) if no name says what
// they are. Random letters without digits, below 20 bytes or in one case, such as the app passwords
// of some mail providers. One-time codes, identifiers (AWS account numbers, Slack and Discord ids,
// publishable keys, UUIDs whose name is no secret's), personal data. Tokens broken in two by a
// terminal's width. Tokens without a boundary inside more than 256 bytes of base64, such as images
// and signatures, where any short form occurs by chance. Secrets in encodings other than JSON's
// escapes and, for private keys and Kubernetes Secrets, base64. Numbers as JSON values. Whether a
// token is still valid is not checked: nothing leaves the machine.
package redact
