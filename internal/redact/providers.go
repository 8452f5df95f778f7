package redact

// Rules that code refers to. The others are in [prefixes] and token.go.
const (
	rulePrivateKey    = "private-key"
	ruleAWSAccessKey  = "aws-access-key"
	rulePassword      = "password"
	ruleSecret        = "secret"
	ruleAuthorization = "authorization"
	ruleURLPassword   = "url-password"
	ruleCookie        = "cookie"
)

// A bucket holds the forms of tokens that begin with the same byte.
type bucket struct {
	second string // the bytes that can follow it; "" for any
	forms  []prefix
}

// prefixes lists tokens by first byte, the more specific first. Sources are the
// providers' documentation, tools or entries in public lists of secret
// scanning. Lengths have leeway, because providers lengthen their tokens.
var prefixes = [256]bucket{
	'.': {"a", []prefix{{rule: "terraform-token", texts: oneOf{".atlasv1."}, check: terraform}}},
	'1': {"/", []prefix{{rule: "gcp-refresh-token", texts: oneOf{"1//0"}, body: url64, min: 40, edge: true}}},
	'A': {"2ABCGIKPST", []prefix{
		{rule: ruleAWSAccessKey, texts: oneOf{"AKIA", "ASIA"}, body: upper | digit, min: 16, max: 24, edge: true},
		{rule: ruleAWSAccessKey, texts: oneOf{"ABIA", "ACCA"}, body: upper | digit, min: 16, max: 16, edge: true, rand: true},
		{rule: "aws-bedrock-key", texts: oneOf{"ABSKQmVkcm9ja0FQSUtleS"}, body: std64, min: 20},
		{rule: "gcp-api-key", texts: oneOf{"AIza"}, body: url64, min: 35, max: 40},
		{rule: "atlassian-token", texts: oneOf{"ATATT3"}, body: url64, min: 60},
		{rule: "bitbucket-token", texts: oneOf{"ATCTT3"}, body: url64, min: 60},
		{rule: "bitbucket-token", texts: oneOf{"ATBB"}, body: alnum, min: 24, max: 40, edge: true, rand: true},
		{rule: "age-key", texts: oneOf{"AGE-SECRET-KEY-"}, body: upper | digit | dash, min: 40},
		{rule: "jfrog-token", texts: oneOf{"AKCp"}, body: alnum, min: 60, max: 80, edge: true},
		{rule: "paypal-token", texts: oneOf{"A21AA"}, body: url64, min: 80, max: 120, edge: true, rand: true},
		{rule: "telegram-token", texts: oneOf{"AA"}, check: telegram},
		{rule: "fcm-key", texts: oneOf{"APA91b"}, check: firebase},
		{rule: "mercadopago-token", texts: oneOf{"APP_USR-"}, body: alnum | dash, min: 60, edge: true},
		{rule: "trello-token", texts: oneOf{"ATTA"}, body: alnum, min: 64, max: 80, edge: true, rand: true},
	}},
	'C': {"CFL", []prefix{
		{rule: "circleci-token", texts: oneOf{"CCIPAT_", "CCIPRJ_"}, body: token, min: 40},
		{rule: "contentful-token", texts: oneOf{"CFPAT-"}, body: url64, min: 40},
		{rule: "clojars-token", texts: oneOf{"CLOJARS_"}, body: alnum, min: 50},
	}},
	'E': {"AZ", []prefix{
		{rule: "easypost-key", texts: oneOf{"EZAK", "EZTK"}, body: alnum, min: 50, max: 60, edge: true},
		{rule: "square-token", texts: oneOf{"EAAA"}, body: url64, min: 56, max: 64, edge: true, rand: true},
		{rule: "facebook-token", texts: oneOf{"EAA"}, body: alnum, min: 100, max: 400, edge: true, rand: true},
	}},
	'F': {"LQw", []prefix{
		{rule: "flutterwave-key", texts: oneOf{"FLWSECK_TEST-", "FLWSECK-"}, body: url64, min: 24},
		{rule: "aws-session-token", texts: oneOf{"FwoGZXIvYXdz", "FQoGZXIvYXdz"}, body: std64, min: 100},
	}},
	'G': {"OR", []prefix{
		{rule: "gcp-client-secret", texts: oneOf{"GOCSPX-"}, body: url64, min: 24},
		{rule: "gitlab-token", texts: oneOf{"GR1348941"}, body: url64, min: 20},
	}},
	'H': {"R", []prefix{{rule: "heroku-key", texts: oneOf{"HRKU-AA"}, body: url64, min: 30}}},
	'I': {"Q", []prefix{{rule: "aws-session-token", texts: oneOf{"IQoJb3JpZ2lu"}, body: std64, min: 100}}},
	'J': {"Q", []prefix{{rule: "azure-key", texts: oneOf{"JQQJ99"}, check: azureResourceKey}}},
	'L': {"ST", []prefix{
		{rule: rulePrivateKey, texts: oneOf{"LS0tLS1CRUdJTi"}, check: pemInBase64},
		{rule: "alibaba-key", texts: oneOf{"LTAI5t"}, body: alnum, min: 14, max: 24, edge: true},
	}},
	'M': {"", []prefix{{rule: "discord-token", texts: oneOf{"M"}, edge: true, check: discord}}},
	'N': {"", []prefix{
		{rule: "newrelic-key", texts: oneOf{"NRAK-"}, body: upper | digit, min: 24},
		{rule: "discord-token", texts: oneOf{"N"}, edge: true, check: discord},
	}},
	'O': {"", []prefix{{rule: "discord-token", texts: oneOf{"O"}, edge: true, check: discord}}},
	'P': {"M", []prefix{{rule: "postman-key", texts: oneOf{"PMAK-"}, body: hex | dash, min: 50}}},
	'Q': {"~", []prefix{{rule: "azure-client-secret", texts: oneOf{"Q~"}, check: azureClientSecret}}},
	'S': {"GK", []prefix{
		{rule: "sendgrid-key", texts: oneOf{"SG."}, edge: true, check: sendgrid},
		{rule: "twilio-key", texts: oneOf{"SK"}, body: hex, min: 32, max: 32, edge: true},
	}},
	'a': {"cip", []prefix{
		{rule: "plaid-token", texts: oneOf{"access-production-", "access-development-", "access-sandbox-"}, body: hex | dash, min: 36, max: 36, edge: true},
		{rule: "adafruit-key", texts: oneOf{"aio_"}, body: alnum, min: 28, max: 28, edge: true},
		{rule: "apify-token", texts: oneOf{"apify_api_"}, body: alnum, min: 30},
		{rule: "huggingface-token", texts: oneOf{"api_org_"}, body: alnum, min: 30, edge: true, rand: true},
	}},
	'b': {"k", []prefix{{rule: "buildkite-token", texts: oneOf{"bkua_"}, body: hex, min: 40}}},
	'c': {"fims", []prefix{
		{rule: "jfrog-token", texts: oneOf{"cmVmdGtuO"}, body: alnum, min: 50, max: 80, edge: true},
		{rule: "cerebras-key", texts: oneOf{"csk-"}, body: alnum, min: 40, edge: true},
		{rule: "cloudflare-token", texts: oneOf{"cfk_", "cfut_", "cfat_"}, body: alnum, min: 40},
		{rule: "crates-token", texts: oneOf{"cio"}, body: alnum, min: 32, max: 32, edge: true, rand: true},
	}},
	'd': {"acoptu", []prefix{
		{rule: "duffel-token", texts: oneOf{"duffel_live_", "duffel_test_"}, body: url64, min: 40},
		{rule: "digitalocean-token", texts: oneOf{"dop_v1_", "doo_v1_", "dor_v1_"}, body: hex, min: 60},
		{rule: "docker-token", texts: oneOf{"dckr_pat_", "dckr_oat_"}, body: url64, min: 20},
		{rule: "databricks-token", texts: oneOf{"dapi"}, body: hex, min: 32, max: 32, edge: true},
		{rule: "doppler-token", texts: oneOf{"dp.pt.", "dp.ct.", "dp.sa."}, body: alnum, min: 40, edge: true},
		{rule: "doppler-token", texts: oneOf{"dp.st."}, body: dotted, min: 40, edge: true},
		{rule: "dynatrace-token", texts: oneOf{"dt0c01."}, body: alnum | dot, min: 80},
	}},
	'e': {"2y", []prefix{
		{rule: "jwt", texts: oneOf{"eyJ"}, edge: true, check: jwt},
		{rule: "e2b-key", texts: oneOf{"e2b_"}, body: hex, min: 40, max: 40, edge: true},
	}},
	'f': {"cimow", []prefix{
		{rule: "firecrawl-key", texts: oneOf{"fc-"}, body: hex, min: 32, max: 32, edge: true},
		{rule: "fly-token", texts: oneOf{"fo1_"}, body: url64, min: 40},
		{rule: "fly-token", texts: oneOf{"fm1r_", "fm1a_", "fm2_"}, body: std64, min: 60},
		{rule: "figma-token", texts: oneOf{"figd_"}, body: url64, min: 36},
		{rule: "fireworks-key", texts: oneOf{"fw_"}, body: alnum, min: 20, max: 40, edge: true, rand: true},
	}},
	'g': {"hils", []prefix{
		{rule: "github-token", texts: oneOf{"ghp_", "gho_", "ghr_", "github_pat_"}, body: token, min: 36},
		{rule: "github-token", texts: oneOf{"ghu_", "ghs_"}, body: dotted, min: 36}, // ghs_ JWT since 2026; ghu_: soon
		{rule: "gitlab-token", texts: oneOf{"glpat-"}, body: dotted, min: 20},
		{rule: "gitlab-token", texts: oneOf{
			"gldt-", "glrt-", "glrtr-", "glptt-", "glcbt-", "glsoat-",
			"gloas-", "glft-", "glimt-", "glagent-", "glffct-",
		}, body: dotted, min: 20, edge: true},
		{rule: "groq-key", texts: oneOf{"gsk_"}, body: alnum, min: 40},
		{rule: "grafana-token", texts: oneOf{"glsa_"}, body: token, min: 36},
		{rule: "grafana-token", texts: oneOf{"glc_"}, body: std64, min: 40},
	}},
	'h': {"cfv", []prefix{
		{rule: "honeycomb-key", texts: oneOf{"hcaik_", "hcxik_", "hcaic_", "hcamk_", "hcxlk_"}, body: alnum, min: 30, edge: true},
		{rule: "huggingface-token", texts: oneOf{"hf_"}, body: alnum, min: 34, max: 40, edge: true},
		{rule: "vault-token", texts: oneOf{"hvs.", "hvb.", "hvr."}, body: url64, min: 24, edge: true},
	}},
	'j': {"i", []prefix{{rule: "jina-key", texts: oneOf{"jina_"}, body: token, min: 50, edge: true}}},
	'k': {"e", []prefix{{rule: "mailgun-key", texts: oneOf{"key-"}, body: hex, min: 32, max: 32, edge: true}}},
	'l': {"is", []prefix{
		{rule: "linear-key", texts: oneOf{"lin_api_", "lin_oauth_"}, body: alnum, min: 36},
		{rule: "langsmith-key", texts: oneOf{"lsv2_pt_", "lsv2_sk_"}, body: token, min: 36},
	}},
	'm': {"l", []prefix{{rule: "mailersend-token", texts: oneOf{"mlsn."}, body: hex, min: 60, edge: true}}},
	'n': {"afptv", []prefix{
		{rule: "neon-key", texts: oneOf{"napi_"}, body: alnum, min: 48, edge: true},
		{rule: "npm-token", texts: oneOf{"npm_"}, body: alnum, min: 36, max: 48},
		{rule: "notion-token", texts: oneOf{"ntn_"}, body: alnum, min: 40},
		{rule: "netlify-token", texts: oneOf{"nfp_"}, body: alnum, min: 36},
		{rule: "nvidia-key", texts: oneOf{"nvapi-"}, body: url64, min: 50},
	}},
	'o': {"py", []prefix{
		{rule: "1password-token", texts: oneOf{"ops_eyJ"}, body: url64, min: 80},
		{rule: "nuget-key", texts: oneOf{"oy2"}, body: digit | hexLower | lower, min: 43, max: 43, edge: true, rand: true},
	}},
	'p': {"achknpsuy", []prefix{
		{rule: "pinecone-key", texts: oneOf{"pcsk_"}, body: token, min: 40},
		{rule: "clickup-token", texts: oneOf{"pk_"}, edge: true, check: clickup},
		{rule: "hubspot-token", texts: oneOf{"pat-na1-", "pat-eu1-", "pat-na2-"}, body: hex | dash, min: 36, max: 36, edge: true},
		{rule: "pypi-token", texts: oneOf{"pypi-AgE"}, body: url64, min: 40},
		{rule: "planetscale-token", texts: oneOf{"pscale_tkn_", "pscale_pw_", "pscale_oauth_"}, body: dotted, min: 30},
		{rule: "pulumi-token", texts: oneOf{"pul-"}, body: hex, min: 40, max: 40, edge: true},
		{rule: "perplexity-key", texts: oneOf{"pplx-"}, body: alnum, min: 40, edge: true},
		{rule: "posthog-key", texts: oneOf{"phx_"}, body: alnum, min: 40, edge: true},
		{rule: "prefect-key", texts: oneOf{"pnu_"}, body: alnum, min: 36, edge: true},
		{rule: "airtable-token", texts: oneOf{"pat"}, edge: true, check: airtable},
	}},
	'r': {"8deknpu", []prefix{
		{rule: "runpod-key", texts: oneOf{"rpa_"}, body: alnum, min: 40, edge: true},
		{rule: "replicate-token", texts: oneOf{"r8_"}, body: alnum, min: 36, max: 40, edge: true},
		{rule: "stripe-key", texts: oneOf{"rk_live_", "rk_test_"}, body: alnum, min: 16, edge: true},
		{rule: "rubygems-key", texts: oneOf{"rubygems_"}, body: hex, min: 48},
		{rule: "readme-key", texts: oneOf{"rdme_"}, body: alnum, min: 60},
		{rule: "render-key", texts: oneOf{"rnd_"}, body: alnum, min: 24, max: 40, edge: true, rand: true},
		{rule: "resend-key", texts: oneOf{"re_"}, edge: true, check: resend},
	}},
	's': {"beghklnqy", []prefix{
		{rule: "anthropic-key", texts: oneOf{"sk-ant-"}, body: url64, min: 24},
		{rule: "openrouter-key", texts: oneOf{"sk-or-v1-"}, body: hex, min: 48},
		{rule: "openai-key", texts: oneOf{"sk-"}, edge: true, check: sk},
		{rule: "stripe-key", texts: oneOf{"sk_live_", "sk_test_"}, body: token, min: 16},
		{rule: "elevenlabs-key", texts: oneOf{"sk_"}, body: hex, min: 48, max: 48, edge: true},
		{rule: "square-token", texts: oneOf{"sq0atp-"}, body: url64, min: 22},
		{rule: "square-token", texts: oneOf{"sq0csp-"}, body: url64, min: 40},
		{rule: "shopify-token", texts: oneOf{"shpat_", "shpca_", "shppa_", "shpss_"}, body: alnum, min: 32},
		{rule: "sentry-token", texts: oneOf{"sntrys_"}, body: token | plus, min: 60},
		{rule: "sentry-token", texts: oneOf{"sntryu_"}, body: hex, min: 60},
		{rule: "sourcegraph-token", texts: oneOf{"sgp_"}, body: token, min: 40, edge: true},
		{rule: "supabase-key", texts: oneOf{"sbp_"}, body: hex, min: 40, edge: true},
		{rule: "supabase-key", texts: oneOf{"sb_secret_"}, body: url64, min: 24},
		{rule: "notion-token", texts: oneOf{"secret_"}, body: alnum, min: 43, max: 43, edge: true, rand: true},
		{rule: "dropbox-token", texts: oneOf{"sl."}, body: url64, min: 100, edge: true},
		{rule: "openshift-token", texts: oneOf{"sha256~"}, body: url64, min: 40},
		{rule: "sonarqube-token", texts: oneOf{"sqp_", "squ_", "sqa_"}, body: hex, min: 40, max: 40, edge: true},
		{rule: "mapbox-token", texts: oneOf{"sk.eyJ"}, body: dotted, min: 60, edge: true},
		{rule: "shippo-token", texts: oneOf{"shippo_live_", "shippo_test_"}, body: hex, min: 40},
		{rule: "matrix-token", texts: oneOf{"syt_"}, body: token, min: 30, edge: true, rand: true},
	}},
	't': {"fgksv", []prefix{
		{rule: "tailscale-key", texts: oneOf{"tskey-auth-", "tskey-api-", "tskey-client-", "tskey-scim-", "tskey-webhook-"}, body: alnum | dash, min: 20},
		{rule: "mapbox-token", texts: oneOf{"tk.eyJ"}, body: dotted, min: 60, edge: true},
		{rule: "together-key", texts: oneOf{"tgp_v1_"}, body: url64, min: 36},
		{rule: "tavily-key", texts: oneOf{"tvly-"}, body: url64, min: 24, edge: true, rand: true},
		{rule: "typeform-token", texts: oneOf{"tfp_"}, body: url64, min: 40, edge: true},
	}},
	'v': {"1c", []prefix{
		{rule: "cloudflare-token", texts: oneOf{"v1.0-"}, body: hex | dash, min: 150, edge: true},
		{rule: "vercel-token", texts: oneOf{"vcp_", "vci_", "vca_", "vcr_", "vck_"}, body: alnum, min: 24, max: 80, edge: true, rand: true},
	}},
	'w': {"h", []prefix{{rule: "webhook-secret", texts: oneOf{"whsec_"}, body: std64, min: 24}}},
	'x': {"ako", []prefix{
		{rule: "brevo-key", texts: oneOf{"xkeysib-"}, body: alnum | dash, min: 60},
		{rule: "slack-token", texts: oneOf{"xox"}, edge: true, check: slack},
		{rule: "slack-token", texts: oneOf{"xapp-"}, body: url64, min: 30, edge: true},
		{rule: "xai-key", texts: oneOf{"xai-"}, body: alnum, min: 60, edge: true},
	}},
	'y': {"a", []prefix{{rule: "gcp-access-token", texts: oneOf{"ya29."}, body: dotted, min: 30, edge: true}}},
}
