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

// A bucket has the forms of tokens that begin with the same byte.
type bucket struct {
	second string // the bytes that can follow it; "" for any
	forms  []prefix
}

// prefixes has the forms of tokens that begin with fixed bytes, by the first of these bytes. Of
// forms that share a beginning the more specific comes first. They are documented by the providers,
// or by their own tools and their entries in the public lists of secret scanning; lengths have some
// leeway, because providers lengthen them.
var prefixes = [256]bucket{
	'.': {"a", []prefix{{rule: "terraform-token", texts: ".atlasv1.", check: terraform}}},
	'1': {"/", []prefix{{rule: "gcp-refresh-token", texts: "1//0", body: url64, min: 40, edge: true}}},
	'A': {"2ABCGIKST", []prefix{
		{rule: ruleAWSAccessKey, texts: "AKIA ASIA", body: upper | digit, min: 16, max: 24, edge: true},
		{rule: ruleAWSAccessKey, texts: "ABIA ACCA", body: upper | digit, min: 16, max: 16, edge: true, rand: true},
		{rule: "aws-bedrock-key", texts: "ABSKQmVkcm9ja0FQSUtleS", body: std64, min: 20},
		{rule: "gcp-api-key", texts: "AIza", body: url64, min: 35, max: 40},
		{rule: "atlassian-token", texts: "ATATT3", body: url64, min: 60},
		{rule: "bitbucket-token", texts: "ATCTT3", body: url64, min: 60},
		{rule: "bitbucket-token", texts: "ATBB", body: alnum, min: 24, max: 40, edge: true, rand: true},
		{rule: "age-key", texts: "AGE-SECRET-KEY-", body: upper | digit | dash, min: 40},
		{rule: "jfrog-token", texts: "AKCp", body: alnum, min: 60, max: 80, edge: true},
		{rule: "paypal-token", texts: "A21AA", body: url64, min: 80, max: 120, edge: true, rand: true},
		{rule: "telegram-token", texts: "AA", check: telegram},
	}},
	'C': {"CFL", []prefix{
		{rule: "circleci-token", texts: "CCIPAT_ CCIPRJ_", body: token, min: 40},
		{rule: "contentful-token", texts: "CFPAT-", body: url64, min: 40},
		{rule: "clojars-token", texts: "CLOJARS_", body: alnum, min: 50},
	}},
	'E': {"AZ", []prefix{
		{rule: "easypost-key", texts: "EZAK EZTK", body: alnum, min: 50, max: 60, edge: true},
		{rule: "square-token", texts: "EAAA", body: url64, min: 56, max: 64, edge: true, rand: true},
		{rule: "facebook-token", texts: "EAA", body: alnum, min: 100, max: 400, edge: true, rand: true},
	}},
	'F': {"L", []prefix{{rule: "flutterwave-key", texts: "FLWSECK_TEST- FLWSECK-", body: url64, min: 24}}},
	'G': {"OR", []prefix{
		{rule: "gcp-client-secret", texts: "GOCSPX-", body: url64, min: 24},
		{rule: "gitlab-token", texts: "GR1348941", body: url64, min: 20},
	}},
	'H': {"R", []prefix{{rule: "heroku-key", texts: "HRKU-AA", body: url64, min: 30}}},
	'J': {"Q", []prefix{{rule: "azure-key", texts: "JQQJ99", check: azureResourceKey}}},
	'L': {"ST", []prefix{
		{rule: rulePrivateKey, texts: "LS0tLS1CRUdJTi", check: pemInBase64},
		{rule: "alibaba-key", texts: "LTAI5t", body: alnum, min: 14, max: 24, edge: true},
	}},
	'M': {"", []prefix{{rule: "discord-token", texts: "M", edge: true, check: discord}}},
	'N': {"", []prefix{
		{rule: "newrelic-key", texts: "NRAK-", body: upper | digit, min: 24},
		{rule: "discord-token", texts: "N", edge: true, check: discord},
	}},
	'O': {"", []prefix{{rule: "discord-token", texts: "O", edge: true, check: discord}}},
	'P': {"M", []prefix{{rule: "postman-key", texts: "PMAK-", body: hex | dash, min: 50}}},
	'Q': {"~", []prefix{{rule: "azure-client-secret", texts: "Q~", check: azureClientSecret}}},
	'S': {"GK", []prefix{
		{rule: "sendgrid-key", texts: "SG.", edge: true, check: sendgrid},
		{rule: "twilio-key", texts: "SK", body: hex, min: 32, max: 32, edge: true},
	}},
	'a': {"ip", []prefix{
		{rule: "adafruit-key", texts: "aio_", body: alnum, min: 28, max: 28, edge: true},
		{rule: "apify-token", texts: "apify_api_", body: alnum, min: 30},
		{rule: "huggingface-token", texts: "api_org_", body: alnum, min: 30, edge: true, rand: true},
	}},
	'b': {"k", []prefix{{rule: "buildkite-token", texts: "bkua_", body: hex, min: 40}}},
	'c': {"fis", []prefix{
		{rule: "cerebras-key", texts: "csk-", body: alnum, min: 40, edge: true},
		{rule: "cloudflare-token", texts: "cfk_ cfut_ cfat_", body: alnum, min: 40},
		{rule: "crates-token", texts: "cio", body: alnum, min: 32, max: 32, edge: true, rand: true},
	}},
	'd': {"acopt", []prefix{
		{rule: "digitalocean-token", texts: "dop_v1_ doo_v1_ dor_v1_", body: hex, min: 60},
		{rule: "docker-token", texts: "dckr_pat_ dckr_oat_", body: url64, min: 20},
		{rule: "databricks-token", texts: "dapi", body: hex, min: 32, max: 32, edge: true},
		{rule: "doppler-token", texts: "dp.pt. dp.ct. dp.sa.", body: alnum, min: 40, edge: true},
		{rule: "doppler-token", texts: "dp.st.", body: dotted, min: 40, edge: true},
		{rule: "dynatrace-token", texts: "dt0c01.", body: alnum | dot, min: 80},
	}},
	'e': {"y", []prefix{{rule: "jwt", texts: "eyJ", edge: true, check: jwt}}},
	'f': {"imow", []prefix{
		{rule: "fly-token", texts: "fo1_", body: url64, min: 40},
		{rule: "fly-token", texts: "fm1r_ fm1a_ fm2_", body: std64, min: 60},
		{rule: "figma-token", texts: "figd_", body: url64, min: 36},
		{rule: "fireworks-key", texts: "fw_", body: alnum, min: 20, max: 40, edge: true, rand: true},
	}},
	'g': {"hils", []prefix{
		{rule: "github-token", texts: "ghp_ gho_ ghr_ github_pat_", body: token, min: 36},
		{rule: "github-token", texts: "ghu_ ghs_", body: dotted, min: 36}, // a JWT follows ghs_ since 2026; ghu_ is to follow
		{rule: "gitlab-token", texts: "glpat-", body: dotted, min: 20},
		{rule: "gitlab-token", texts: "gldt- glrt- glrtr- glptt- glcbt- glsoat- gloas- glft- glimt- glagent- glffct-", body: dotted, min: 20, edge: true},
		{rule: "groq-key", texts: "gsk_", body: alnum, min: 40},
		{rule: "grafana-token", texts: "glsa_", body: token, min: 36},
		{rule: "grafana-token", texts: "glc_", body: std64, min: 40},
	}},
	'h': {"fv", []prefix{
		{rule: "huggingface-token", texts: "hf_", body: alnum, min: 34, max: 40, edge: true},
		{rule: "vault-token", texts: "hvs. hvb. hvr.", body: url64, min: 24, edge: true},
	}},
	'k': {"e", []prefix{{rule: "mailgun-key", texts: "key-", body: hex, min: 32, max: 32, edge: true}}},
	'l': {"is", []prefix{
		{rule: "linear-key", texts: "lin_api_ lin_oauth_", body: alnum, min: 36},
		{rule: "langsmith-key", texts: "lsv2_pt_ lsv2_sk_", body: token, min: 36},
	}},
	'n': {"fptv", []prefix{
		{rule: "npm-token", texts: "npm_", body: alnum, min: 36, max: 48},
		{rule: "notion-token", texts: "ntn_", body: alnum, min: 40},
		{rule: "netlify-token", texts: "nfp_", body: alnum, min: 36},
		{rule: "nvidia-key", texts: "nvapi-", body: url64, min: 50},
	}},
	'o': {"py", []prefix{
		{rule: "1password-token", texts: "ops_eyJ", body: url64, min: 80},
		{rule: "nuget-key", texts: "oy2", body: digit | hexLower | lower, min: 43, max: 43, edge: true, rand: true},
	}},
	'p': {"ahnpsuy", []prefix{
		{rule: "pypi-token", texts: "pypi-AgE", body: url64, min: 40},
		{rule: "planetscale-token", texts: "pscale_tkn_ pscale_pw_ pscale_oauth_", body: dotted, min: 30},
		{rule: "pulumi-token", texts: "pul-", body: hex, min: 40, max: 40, edge: true},
		{rule: "perplexity-key", texts: "pplx-", body: alnum, min: 40, edge: true},
		{rule: "posthog-key", texts: "phx_", body: alnum, min: 40, edge: true},
		{rule: "prefect-key", texts: "pnu_", body: alnum, min: 36, edge: true},
		{rule: "airtable-token", texts: "pat", edge: true, check: airtable},
	}},
	'r': {"8deknu", []prefix{
		{rule: "replicate-token", texts: "r8_", body: alnum, min: 36, max: 40, edge: true},
		{rule: "stripe-key", texts: "rk_live_ rk_test_", body: alnum, min: 16, edge: true},
		{rule: "rubygems-key", texts: "rubygems_", body: hex, min: 48},
		{rule: "readme-key", texts: "rdme_", body: alnum, min: 60},
		{rule: "render-key", texts: "rnd_", body: alnum, min: 24, max: 40, edge: true, rand: true},
		{rule: "resend-key", texts: "re_", edge: true, check: resend},
	}},
	's': {"beghklnq", []prefix{
		{rule: "anthropic-key", texts: "sk-ant-", body: url64, min: 24},
		{rule: "openrouter-key", texts: "sk-or-v1-", body: hex, min: 48},
		{rule: "openai-key", texts: "sk-", edge: true, check: sk},
		{rule: "stripe-key", texts: "sk_live_ sk_test_", body: token, min: 16},
		{rule: "elevenlabs-key", texts: "sk_", body: hex, min: 48, max: 48, edge: true},
		{rule: "square-token", texts: "sq0atp-", body: url64, min: 22},
		{rule: "square-token", texts: "sq0csp-", body: url64, min: 40},
		{rule: "shopify-token", texts: "shpat_ shpca_ shppa_ shpss_", body: alnum, min: 32},
		{rule: "sentry-token", texts: "sntrys_", body: token | plus, min: 60},
		{rule: "sentry-token", texts: "sntryu_", body: hex, min: 60},
		{rule: "sourcegraph-token", texts: "sgp_", body: token, min: 40, edge: true},
		{rule: "supabase-key", texts: "sbp_", body: hex, min: 40, edge: true},
		{rule: "supabase-key", texts: "sb_secret_", body: url64, min: 24},
		{rule: "notion-token", texts: "secret_", body: alnum, min: 43, max: 43, edge: true, rand: true},
		{rule: "dropbox-token", texts: "sl.", body: url64, min: 100, edge: true},
		{rule: "openshift-token", texts: "sha256~", body: url64, min: 40},
	}},
	't': {"fgv", []prefix{
		{rule: "together-key", texts: "tgp_v1_", body: url64, min: 36},
		{rule: "tavily-key", texts: "tvly-", body: url64, min: 24, edge: true, rand: true},
		{rule: "typeform-token", texts: "tfp_", body: url64, min: 40, edge: true},
	}},
	'v': {"1c", []prefix{
		{rule: "cloudflare-token", texts: "v1.0-", body: hex | dash, min: 150, edge: true},
		{rule: "vercel-token", texts: "vcp_ vci_ vca_ vcr_ vck_", body: alnum, min: 24, max: 80, edge: true, rand: true},
	}},
	'w': {"h", []prefix{{rule: "webhook-secret", texts: "whsec_", body: std64, min: 24}}},
	'x': {"ao", []prefix{
		{rule: "slack-token", texts: "xox", edge: true, check: slack},
		{rule: "slack-token", texts: "xapp-", body: url64, min: 30, edge: true},
		{rule: "xai-key", texts: "xai-", body: alnum, min: 60, edge: true},
	}},
	'y': {"a", []prefix{{rule: "gcp-access-token", texts: "ya29.", body: dotted, min: 30, edge: true}}},
}
