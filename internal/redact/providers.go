package redact

// Names of the rules that code refers to. The others are in [prefixes] and beside their checks.
const (
	rulePrivateKey    = "private-key"
	ruleAWSAccessKey  = "aws-access-key"
	rulePassword      = "password"
	ruleSecret        = "secret"
	ruleAuthorization = "authorization"
	ruleURLPassword   = "url-password"
)

// prefixes has the forms of tokens that begin with fixed bytes, by the first of these bytes. Of
// forms that share a beginning the more specific comes first. They are documented by the providers,
// or by their own tools and their entries in the public lists of secret scanning; lengths have some
// leeway, because providers lengthen them.
var prefixes = [256][]prefix{
	'.': {
		{rule: "terraform-token", text: ".atlasv1.", check: terraform},
	},
	'1': {
		{rule: "gcp-refresh-token", text: "1//0", body: url64, min: 40, edge: true},
	},
	'A': {
		{rule: ruleAWSAccessKey, text: "AKIA", body: upper | digit, min: 16, max: 24, edge: true},
		{rule: ruleAWSAccessKey, text: "ASIA", body: upper | digit, min: 16, max: 24, edge: true},
		{rule: ruleAWSAccessKey, text: "ABIA", body: upper | digit, min: 16, max: 16, edge: true, rand: true},
		{rule: ruleAWSAccessKey, text: "ACCA", body: upper | digit, min: 16, max: 16, edge: true, rand: true},
		{rule: "aws-bedrock-key", text: "ABSKQmVkcm9ja0FQSUtleS", body: std64, min: 20},
		{rule: "gcp-api-key", text: "AIza", body: url64, min: 35, max: 40},
		{rule: "atlassian-token", text: "ATATT3", body: url64, min: 60},
		{rule: "bitbucket-token", text: "ATCTT3", body: url64, min: 60},
		{rule: "bitbucket-token", text: "ATBB", body: alnum, min: 24, max: 40, edge: true, rand: true},
		{rule: "age-key", text: "AGE-SECRET-KEY-", body: upper | digit | dash, min: 40},
		{rule: "jfrog-token", text: "AKCp", body: alnum, min: 60, max: 80, edge: true},
		{rule: "paypal-token", text: "A21AA", body: url64, min: 80, max: 120, edge: true, rand: true},
		{rule: "telegram-token", text: "AA", check: telegram},
	},
	'C': {
		{rule: "circleci-token", text: "CCIPAT_", body: token, min: 40},
		{rule: "circleci-token", text: "CCIPRJ_", body: token, min: 40},
		{rule: "contentful-token", text: "CFPAT-", body: url64, min: 40},
		{rule: "clojars-token", text: "CLOJARS_", body: alnum, min: 50},
	},
	'E': {
		{rule: "easypost-key", text: "EZAK", body: alnum, min: 50, max: 60, edge: true},
		{rule: "easypost-key", text: "EZTK", body: alnum, min: 50, max: 60, edge: true},
		{rule: "square-token", text: "EAAA", body: url64, min: 56, max: 64, edge: true, rand: true},
		{rule: "facebook-token", text: "EAA", body: alnum, min: 100, max: 400, edge: true, rand: true},
	},
	'F': {
		{rule: "flutterwave-key", text: "FLWSECK_TEST-", body: url64, min: 24},
		{rule: "flutterwave-key", text: "FLWSECK-", body: url64, min: 24},
	},
	'G': {
		{rule: "gcp-client-secret", text: "GOCSPX-", body: url64, min: 24},
		{rule: "gitlab-token", text: "GR1348941", body: url64, min: 20},
	},
	'H': {
		{rule: "heroku-key", text: "HRKU-AA", body: url64, min: 30},
	},
	'J': {
		{rule: "azure-key", text: "JQQJ99", check: azureResourceKey},
	},
	'L': {
		{rule: rulePrivateKey, text: "LS0tLS1CRUdJTi", check: pemInBase64},
		{rule: "alibaba-key", text: "LTAI5t", body: alnum, min: 14, max: 24, edge: true},
	},
	'M': {
		{rule: "discord-token", text: "M", edge: true, check: discord},
	},
	'N': {
		{rule: "newrelic-key", text: "NRAK-", body: upper | digit, min: 24},
		{rule: "discord-token", text: "N", edge: true, check: discord},
	},
	'O': {
		{rule: "discord-token", text: "O", edge: true, check: discord},
	},
	'P': {
		{rule: "postman-key", text: "PMAK-", body: hex | dash, min: 50},
	},
	'Q': {
		{rule: "azure-client-secret", text: "Q~", check: azureClientSecret},
	},
	'S': {
		{rule: "sendgrid-key", text: "SG.", edge: true, check: sendgrid},
		{rule: "twilio-key", text: "SK", body: hex, min: 32, max: 32, edge: true},
	},
	'a': {
		{rule: "adafruit-key", text: "aio_", body: alnum, min: 28, max: 28, edge: true},
		{rule: "apify-token", text: "apify_api_", body: alnum, min: 30},
		{rule: "huggingface-token", text: "api_org_", body: alnum, min: 30, edge: true, rand: true},
	},
	'b': {
		{rule: "buildkite-token", text: "bkua_", body: hex, min: 40},
	},
	'c': {
		{rule: "cerebras-key", text: "csk-", body: alnum, min: 40, edge: true},
		{rule: "cloudflare-token", text: "cfk_", body: alnum, min: 40},
		{rule: "cloudflare-token", text: "cfut_", body: alnum, min: 40},
		{rule: "cloudflare-token", text: "cfat_", body: alnum, min: 40},
		{rule: "crates-token", text: "cio", body: alnum, min: 32, max: 32, edge: true, rand: true},
	},
	'd': {
		{rule: "digitalocean-token", text: "dop_v1_", body: hex, min: 60},
		{rule: "digitalocean-token", text: "doo_v1_", body: hex, min: 60},
		{rule: "digitalocean-token", text: "dor_v1_", body: hex, min: 60},
		{rule: "docker-token", text: "dckr_pat_", body: url64, min: 20},
		{rule: "docker-token", text: "dckr_oat_", body: url64, min: 20},
		{rule: "databricks-token", text: "dapi", body: hex, min: 32, max: 32, edge: true},
		{rule: "doppler-token", text: "dp.pt.", body: alnum, min: 40, edge: true},
		{rule: "doppler-token", text: "dp.st.", body: dotted, min: 40, edge: true},
		{rule: "doppler-token", text: "dp.ct.", body: alnum, min: 40, edge: true},
		{rule: "doppler-token", text: "dp.sa.", body: alnum, min: 40, edge: true},
		{rule: "dynatrace-token", text: "dt0c01.", body: alnum | dot, min: 80},
	},
	'e': {
		{rule: "jwt", text: "eyJ", edge: true, check: jwt},
	},
	'f': {
		{rule: "fly-token", text: "fo1_", body: url64, min: 40},
		{rule: "fly-token", text: "fm1r_", body: std64, min: 60},
		{rule: "fly-token", text: "fm1a_", body: std64, min: 60},
		{rule: "fly-token", text: "fm2_", body: std64, min: 60},
		{rule: "figma-token", text: "figd_", body: url64, min: 36},
		{rule: "fireworks-key", text: "fw_", body: alnum, min: 20, max: 40, edge: true, rand: true},
	},
	'g': {
		{rule: "github-token", text: "ghp_", body: token, min: 36},
		{rule: "github-token", text: "gho_", body: token, min: 36},
		{rule: "github-token", text: "ghu_", body: dotted, min: 36}, // announced to follow ghs_
		{rule: "github-token", text: "ghs_", body: dotted, min: 36}, // a JWT follows the prefix since 2026
		{rule: "github-token", text: "ghr_", body: token, min: 36},
		{rule: "github-token", text: "github_pat_", body: token, min: 36},
		{rule: "gitlab-token", text: "glpat-", body: dotted, min: 20},
		{rule: "gitlab-token", text: "gldt-", body: dotted, min: 20, edge: true},
		{rule: "gitlab-token", text: "glrt-", body: dotted, min: 20, edge: true},
		{rule: "gitlab-token", text: "glrtr-", body: dotted, min: 20, edge: true},
		{rule: "gitlab-token", text: "glptt-", body: dotted, min: 20, edge: true},
		{rule: "gitlab-token", text: "glcbt-", body: dotted, min: 20, edge: true},
		{rule: "gitlab-token", text: "glsoat-", body: dotted, min: 20, edge: true},
		{rule: "gitlab-token", text: "gloas-", body: dotted, min: 20, edge: true},
		{rule: "gitlab-token", text: "glft-", body: dotted, min: 20, edge: true},
		{rule: "gitlab-token", text: "glimt-", body: dotted, min: 20, edge: true},
		{rule: "gitlab-token", text: "glagent-", body: dotted, min: 20, edge: true},
		{rule: "gitlab-token", text: "glffct-", body: dotted, min: 20, edge: true},
		{rule: "groq-key", text: "gsk_", body: alnum, min: 40},
		{rule: "grafana-token", text: "glsa_", body: token, min: 36},
		{rule: "grafana-token", text: "glc_", body: std64, min: 40},
	},
	'h': {
		{rule: "huggingface-token", text: "hf_", body: alnum, min: 34, max: 40, edge: true},
		{rule: "vault-token", text: "hvs.", body: url64, min: 24, edge: true},
		{rule: "vault-token", text: "hvb.", body: url64, min: 24, edge: true},
		{rule: "vault-token", text: "hvr.", body: url64, min: 24, edge: true},
	},
	'k': {
		{rule: "mailgun-key", text: "key-", body: hex, min: 32, max: 32, edge: true},
	},
	'l': {
		{rule: "linear-key", text: "lin_api_", body: alnum, min: 36},
		{rule: "linear-key", text: "lin_oauth_", body: alnum, min: 36},
		{rule: "langsmith-key", text: "lsv2_pt_", body: token, min: 36},
		{rule: "langsmith-key", text: "lsv2_sk_", body: token, min: 36},
	},
	'n': {
		{rule: "npm-token", text: "npm_", body: alnum, min: 36, max: 48},
		{rule: "notion-token", text: "ntn_", body: alnum, min: 40},
		{rule: "netlify-token", text: "nfp_", body: alnum, min: 36},
		{rule: "nvidia-key", text: "nvapi-", body: url64, min: 50},
	},
	'o': {
		{rule: "1password-token", text: "ops_eyJ", body: url64, min: 80},
		{rule: "nuget-key", text: "oy2", body: digit | hexLower | lower, min: 43, max: 43, edge: true, rand: true},
	},
	'p': {
		{rule: "pypi-token", text: "pypi-AgE", body: url64, min: 40},
		{rule: "planetscale-token", text: "pscale_tkn_", body: dotted, min: 30},
		{rule: "planetscale-token", text: "pscale_pw_", body: dotted, min: 30},
		{rule: "planetscale-token", text: "pscale_oauth_", body: dotted, min: 30},
		{rule: "pulumi-token", text: "pul-", body: hex, min: 40, max: 40, edge: true},
		{rule: "perplexity-key", text: "pplx-", body: alnum, min: 40, edge: true},
		{rule: "posthog-key", text: "phx_", body: alnum, min: 40, edge: true},
		{rule: "prefect-key", text: "pnu_", body: alnum, min: 36, edge: true},
		{rule: "airtable-token", text: "pat", edge: true, check: airtable},
	},
	'r': {
		{rule: "replicate-token", text: "r8_", body: alnum, min: 36, max: 40, edge: true},
		{rule: "stripe-key", text: "rk_live_", body: alnum, min: 16, edge: true},
		{rule: "stripe-key", text: "rk_test_", body: alnum, min: 16, edge: true},
		{rule: "rubygems-key", text: "rubygems_", body: hex, min: 48},
		{rule: "readme-key", text: "rdme_", body: alnum, min: 60},
		{rule: "render-key", text: "rnd_", body: alnum, min: 24, max: 40, edge: true, rand: true},
		{rule: "resend-key", text: "re_", edge: true, check: resend},
	},
	's': {
		{rule: "anthropic-key", text: "sk-ant-", body: url64, min: 24},
		{rule: "openrouter-key", text: "sk-or-v1-", body: hex, min: 48},
		{rule: "openai-key", text: "sk-", edge: true, check: sk},
		{rule: "stripe-key", text: "sk_live_", body: token, min: 16},
		{rule: "stripe-key", text: "sk_test_", body: token, min: 16},
		{rule: "elevenlabs-key", text: "sk_", body: hex, min: 48, max: 48, edge: true},
		{rule: "square-token", text: "sq0atp-", body: url64, min: 22},
		{rule: "square-token", text: "sq0csp-", body: url64, min: 40},
		{rule: "shopify-token", text: "shpat_", body: alnum, min: 32},
		{rule: "shopify-token", text: "shpca_", body: alnum, min: 32},
		{rule: "shopify-token", text: "shppa_", body: alnum, min: 32},
		{rule: "shopify-token", text: "shpss_", body: alnum, min: 32},
		{rule: "sentry-token", text: "sntrys_", body: token | plus, min: 60},
		{rule: "sentry-token", text: "sntryu_", body: hex, min: 60},
		{rule: "sourcegraph-token", text: "sgp_", body: token, min: 40, edge: true},
		{rule: "supabase-key", text: "sbp_", body: hex, min: 40, edge: true},
		{rule: "supabase-key", text: "sb_secret_", body: url64, min: 24},
		{rule: "notion-token", text: "secret_", body: alnum, min: 43, max: 43, edge: true, rand: true},
		{rule: "dropbox-token", text: "sl.", body: url64, min: 100, edge: true},
		{rule: "openshift-token", text: "sha256~", body: url64, min: 40},
	},
	't': {
		{rule: "together-key", text: "tgp_v1_", body: url64, min: 36},
		{rule: "tavily-key", text: "tvly-", body: url64, min: 24, edge: true, rand: true},
		{rule: "typeform-token", text: "tfp_", body: url64, min: 40, edge: true},
	},
	'v': {
		{rule: "cloudflare-token", text: "v1.0-", body: hex | dash, min: 150, edge: true},
		{rule: "vercel-token", text: "vcp_", body: alnum, min: 24, max: 80, edge: true, rand: true},
		{rule: "vercel-token", text: "vci_", body: alnum, min: 24, max: 80, edge: true, rand: true},
		{rule: "vercel-token", text: "vca_", body: alnum, min: 24, max: 80, edge: true, rand: true},
		{rule: "vercel-token", text: "vcr_", body: alnum, min: 24, max: 80, edge: true, rand: true},
		{rule: "vercel-token", text: "vck_", body: alnum, min: 24, max: 80, edge: true, rand: true},
	},
	'w': {
		{rule: "webhook-secret", text: "whsec_", body: std64, min: 24},
	},
	'x': {
		{rule: "slack-token", text: "xox", edge: true, check: slack},
		{rule: "slack-token", text: "xapp-", body: url64, min: 30, edge: true},
		{rule: "xai-key", text: "xai-", body: alnum, min: 60, edge: true},
	},
	'y': {
		{rule: "gcp-access-token", text: "ya29.", body: dotted, min: 30, edge: true},
	},
}

// begins reports whether one of the prefixes begins with a and b. It is called for every byte of
// every long word.
func begins(a, b byte) bool {
	switch a {
	case '.':
		return b == 'a'
	case '1':
		return b == '/'
	case 'A':
		return b == '2' || b == 'A' || b == 'B' || b == 'C' || b == 'G' || b == 'I' || b == 'K' || b == 'S' || b == 'T'
	case 'C':
		return b == 'C' || b == 'F' || b == 'L'
	case 'E':
		return b == 'A' || b == 'Z'
	case 'F':
		return b == 'L'
	case 'G':
		return b == 'O' || b == 'R'
	case 'H':
		return b == 'R'
	case 'J':
		return b == 'Q'
	case 'L':
		return b == 'S' || b == 'T'
	case 'M':
		return true
	case 'N':
		return true
	case 'O':
		return true
	case 'P':
		return b == 'M'
	case 'Q':
		return b == '~'
	case 'S':
		return b == 'G' || b == 'K'
	case 'a':
		return b == 'i' || b == 'p'
	case 'b':
		return b == 'k'
	case 'c':
		return b == 'f' || b == 'i' || b == 's'
	case 'd':
		return b == 'a' || b == 'c' || b == 'o' || b == 'p' || b == 't'
	case 'e':
		return b == 'y'
	case 'f':
		return b == 'i' || b == 'm' || b == 'o' || b == 'w'
	case 'g':
		return b == 'h' || b == 'i' || b == 'l' || b == 's'
	case 'h':
		return b == 'f' || b == 'v'
	case 'k':
		return b == 'e'
	case 'l':
		return b == 'i' || b == 's'
	case 'n':
		return b == 'f' || b == 'p' || b == 't' || b == 'v'
	case 'o':
		return b == 'p' || b == 'y'
	case 'p':
		return b == 'a' || b == 'h' || b == 'n' || b == 'p' || b == 's' || b == 'u' || b == 'y'
	case 'r':
		return b == '8' || b == 'd' || b == 'e' || b == 'k' || b == 'n' || b == 'u'
	case 's':
		return b == 'b' || b == 'e' || b == 'g' || b == 'h' || b == 'k' || b == 'l' || b == 'n' || b == 'q'
	case 't':
		return b == 'f' || b == 'g' || b == 'v'
	case 'v':
		return b == '1' || b == 'c'
	case 'w':
		return b == 'h'
	case 'x':
		return b == 'a' || b == 'o'
	case 'y':
		return b == 'a'
	}
	return false
}
