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
// in diffs and numbered listings, spread over the elements of an array, encoded in base64 again,
// without their beginning or their end. The first and last lines stay, and so does the number of
// lines, so a patch remains a patch.
//
// JSON web tokens (RFC 7519, RFC 7516).
//
// Passwords in URLs (RFC 3986 section 3.2.1), in the DSN of Go's MySQL driver, of curl -u; those of
// key=value DSNs (libpq, ODBC, ADO.NET) and of .netrc, whatever they look like. If the host is a
// website, examples as in manuals (user:password@, foo:bar@) are left alone.
//
// Values of secret-looking names (name.go): API_KEY=..., "client_secret": "...", apiKey := ...,
// X-Auth-Token: ..., --token ..., setenv("TOKEN", ...), <password>...</password>,
// {"name":"API_KEY","value":"..."}, Authorization headers, the auth of Docker's configuration and of
// .npmrc. Such a value counts if it looks machine-made ([random]) or is a strong password (letters,
// digits and signs), but not if it is a variable, a template, a path, a UUID or an expression of code.
//
// # How
//
// One pass splits the text into words and looks closer at three places only: words of 20 bytes and
// more, the signs between a name and its value, and key blocks. There are no regular expressions
// and nothing to compile, so the first use costs no more than the second, and the start of the
// process nothing. A text with escapes is searched again without them, layer by layer, because a
// secret may be written with them: in JSON, in a string of JSON, in a string of a transcript.
// Existing scanners (gitleaks, betterleaks) take 30 to 650 ms to start and try a hundred compiled
// expressions; a hook has 3 ms.
//
// # What is not done
//
// Passwords that look like words, outside URLs and DSNs: nothing tells password = "sunshine" from
// password = "required". Tokens without a form (Mistral, Twilio's auth token) if no name says what
// they are. Random letters without digits, below 20 bytes or in one case, such as the app passwords
// of some mail providers. Session cookies, one-time codes, identifiers (AWS account numbers, Slack
// and Discord ids, UUIDs, publishable keys), personal data. Tokens broken in two by a terminal's
// width. Tokens without a boundary inside more than 256 bytes of base64, such as images and
// signatures, where any short form occurs by chance. Secrets in encodings other than JSON's escapes
// and, for private keys, base64. Numbers as JSON values. Whether a token is still valid is not
// checked: nothing leaves the machine.
package redact
