// Package redact removes secrets from text before it becomes a git object.
//
// Prompts, replies, tool output and diffs contain keys and passwords sooner or
// later, and a pushed object can't be taken back. So all of them pass through
// [Rules.String], [Rules.Bytes] or, for transcripts, [Rules.JSONLines]. A secret
// becomes a short mark:
//
//	export GITHUB_TOKEN=[redacted:github-token]
//	postgres://app:[redacted:url-password]@db.example.invalid/app
//
// The mark depends only on the rule that found the secret. The same text always
// gives the same result, redacting twice is the same as once, and valid JSON
// stays valid. [Count] tells what was found.
//
// # What is found
//
//   - Tokens that have a documented form: [prefixes] lists most, token.go has
//     those with more than a prefix. For AWS also the secret near the key's id.
//   - Private keys: PEM (RFC 7468), OpenSSH, PGP, SSH2, PuTTY, age; in escaped
//     strings, diffs, listings, arrays or base64, or without beginning or end.
//     First and last line and the number of lines stay, so a patch stays one.
//     The private parts of JSON Web Keys (RFC 7517).
//   - JSON web tokens (RFC 7519, RFC 7516).
//   - Passwords in URLs (RFC 3986 section 3.2.1), the DSN of Go's MySQL driver,
//     key=value DSNs (libpq, ODBC, ADO.NET), .netrc, .pgpass, and [arguments]
//     (curl -u, mysql -p), in any form. Manuals' examples (user:password@) stay
//     for websites.
//   - Password hashes like crypt(5)'s (bcrypt, yescrypt, Argon2 and others).
//   - Cookies of sessions, and others that look machine-made.
//   - The data of Kubernetes Secrets, under any name.
//   - Values of secret-looking names (name.go): API_KEY=..., X-Auth-Token: ...,
//     setenv("TOKEN", ...), <password>...</password>, Authorization headers,
//     the auth of Docker and .npmrc, Vault's unseal keys, and lists of them.
//     The value must look machine-made ([random]), or be a strong password
//     (letters, digits and signs) or a UUID. Variables, templates, paths and
//     expressions of code don't count.
//
// Rules about lines also work in numbered listings, diffs, quotations, the
// output of grep and arrays of lines ([margin], [lineAt]).
//
// # A user's own rules
//
// [Own] has patterns, names and people's data. They are searched in the same
// surroundings and escapes, in what the built-in rules search ([Rules]), but in
// a record of a transcript not in what holds the conversation together, and not
// in marks. Rules that are not valid let no text through: who made one wants
// something cut out.
//
// # How
//
// One pass splits the text into words and looks closer at three places only:
// words of at least 20 bytes, the signs around names, values and arguments, and
// key blocks. Nothing has to be compiled: existing scanners (gitleaks,
// betterleaks) take 30 to 650 ms to start, and a hook has 3 ms. A text with
// escapes is searched again without them, layer by layer, because JSON in a
// string of JSON in a transcript hides secrets.
//
// # What is not done
//
// These stay in the text:
//
//   - Passwords that look like words, outside URLs, DSNs and arguments: nothing
//     distinguishes password = "sunshine" from password = "required".
//   - Arguments without a flag (htpasswd -b, rabbitmqctl add_user), in tuples
//     (auth=("me", "...")), and those of a program in an array of JSON.
//   - The default of a Terraform variable, and numbers as JSON values.
//   - Tokens without a form (Mistral, Twilio's auth token) and a telling name.
//   - Random letters without digits, below 20 bytes or in one case.
//   - One-time codes, identifiers (AWS account numbers, Slack and Discord ids,
//     publishable keys, UUIDs without a secret's name), personal data but by
//     rules of the user's own.
//   - Tokens that a terminal's width broke, or without a boundary in more than
//     256 bytes of base64 (images), where any short form occurs by chance.
//   - Encodings other than JSON's escapes and, for private keys and Kubernetes
//     Secrets, base64.
//
// Whether a token is still valid is not checked: nothing leaves the machine.
package redact
