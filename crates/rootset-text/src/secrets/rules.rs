//! Tokens that their prefix gives away: one line per shape, from what the providers document.
//!
//! The shapes are in the language of `pattern.rs`. Publishable keys (`pk_live_…`, `NEXT_PUBLIC_…`) are not secrets and are not
//! listed. To add a token, add a line; the longest prefix wins.

use std::sync::LazyLock;

use super::judge;
use super::pattern::Pattern;
use super::{checksums, pattern};

/// What a body has to be beyond its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// Not a placeholder: the prefix says the rest.
    Plausible,
    /// Random as well: words begin like this, too.
    Random,
    /// Not a placeholder, or with the right sum at its end.
    Summed,
}

type Row = (&'static str, &'static str, Body);

const fn token(kind: &'static str, pattern: &'static str) -> Row {
    (kind, pattern, Body::Plausible)
}

const fn random(kind: &'static str, pattern: &'static str) -> Row {
    (kind, pattern, Body::Random)
}

const fn summed(kind: &'static str, pattern: &'static str) -> Row {
    (kind, pattern, Body::Summed)
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Rootset itself
    token("rootset_token", "rst_{h:64}"),
    // Clouds
    token("aws_access_key_id", "AKIA{u:16}"),
    token("aws_access_key_id", "ASIA{u:16}"),
    token("aws_access_key_id", "ABIA{u:16}"),
    token("aws_access_key_id", "ACCA{u:16}"),
    random("aws_bedrock_key", "ABSK{b:100+}"),
    random("aws_bedrock_key", "bedrock-api-key-{b:40+}"),
    token("google_api_key", "AIza{w:35}"),
    token("google_oauth_secret", "GOCSPX-{w:24-40}"),
    token("google_oauth_token", "ya29.{w:30+}"),
    token("google_oauth_token", "ya29.{a:1}.{w:30+}"),
    random("google_refresh_token", "1//0{w:35+}"),
    token("alibaba_access_key_id", "LTAI{a:12-26}"),
    random("tencent_secret_id", "AKID{a:32-36}"),
    token("digitalocean_token", "dop_v1_{h:64}"),
    token("digitalocean_token", "doo_v1_{h:64}"),
    token("digitalocean_token", "dor_v1_{h:64}"),
    random("digitalocean_spaces_key", "DO00{u:16}"),
    token("yandex_cloud_key", "AQVN{w:35-38}"),
    random("yandex_cloud_token", "t1.{w:10+}.{w:86}"),
    token("fly_token", "fo1_{w:43}"),
    token("fly_token", "fm1a_{b:90+}"),
    token("fly_token", "fm1r_{b:90+}"),
    token("fly_token", "fm2_{b:90+}"),
    token("heroku_key", "HRKU-{w:36-60}"),
    random("render_key", "rnd_{a:28-40}"),
    token("scalingo_token", "tk-us-{w:48}"),
    token("vercel_token", "vcp_{a:24-70}"),
    token("vercel_token", "vca_{a:24-70}"),
    token("vercel_token", "vck_{a:24-70}"),
    random("vercel_blob_token", "vercel_blob_rw_{a:10+}_{a:24+}"),
    token("netlify_token", "nfp_{a:36-44}"),
    token("netlify_token", "nfc_{a:36-44}"),
    token("cloudflare_token", "cfut_{a:40+}"),
    token("cloudflare_token", "cfat_{a:40+}"),
    token("cloudflare_origin_ca_key", "v1.0-{h:24}-{h:146}"),
    random("openshift_token", "sha256~{w:43}"),
    token("supabase_key", "sbp_{h:40}"),
    token("supabase_key", "sb_secret_{w:22-60}"),
    // Code hosting and CI
    summed("github_token", "ghp_{a:36-251}"),
    summed("github_token", "gho_{a:36-251}"),
    summed("github_token", "ghu_{a:36-251}"),
    summed("github_token", "ghs_{a:36-251}"),
    summed("github_token", "ghr_{a:36-251}"),
    token("github_fine_grained_token", "github_pat_{a:22}_{a:59}"),
    token("gitlab_token", "glpat-{w:20+}"),
    token("gitlab_token", "glpat-{w:20+}.{l:2}.{l:7+}"),
    token("gitlab_token", "glpat-{w:20+}.{l:9}"),
    token("gitlab_job_token", "glcbt-{a:1-5}_{w:20+}"),
    token("gitlab_deploy_token", "gldt-{w:20+}"),
    token("gitlab_feed_token", "glft-{w:20+}"),
    token("gitlab_feature_flag_token", "glffct-{w:20+}"),
    token("gitlab_incoming_mail_token", "glimt-{w:20+}"),
    token("gitlab_agent_token", "glagent-{w:20+}"),
    token("gitlab_oauth_secret", "gloas-{w:40+}"),
    token("gitlab_trigger_token", "glptt-{w:20+}"),
    token("gitlab_runner_token", "glrt-{w:20+}"),
    token("gitlab_runner_token", "glrt-{w:20+}.{l:2}.{l:7+}"),
    token("gitlab_runner_token", "glrt-{w:20+}.{l:9}"),
    token("gitlab_runner_registration_token", "GR1348941{w:20}"),
    token("gitlab_scim_token", "glsoat-{w:20+}"),
    token("bitbucket_token", "ATBB{a:24}{h:8}"),
    token("bitbucket_token", "ATCTT3xFf{g:40+}"),
    token("atlassian_token", "ATATT3xFf{g:40+}"),
    random("atlassian_token", "ATATT3{g:60+}"),
    token("circleci_token", "CCIPAT_{a:10+}_{h:40}"),
    token("circleci_token", "CCIPRJ_{a:10+}_{h:40}"),
    token("buildkite_token", "bkua_{h:40}"),
    token("buildkite_agent_token", "bkct_{g:40+}"),
    random("harness_key", "pat.{w:22}.{a:24}.{a:20}"),
    random("harness_key", "sat.{w:22}.{a:24}.{a:20}"),
    token("octopus_key", "API-{u:25-34}"),
    token("sonar_token", "squ_{h:40}"),
    token("sonar_token", "sqp_{h:40}"),
    token("sonar_token", "sqa_{h:40}"),
    token("sourcegraph_token", "sgp_{h:40}"),
    token("sourcegraph_token", "sgp_{h:16}_{h:40}"),
    token("sourcegraph_token", "sgp_local_{h:40}"),
    token("sourcegraph_token", "slk_{h:64}"),
    token("snyk_token", "snyk_uat.{h:8}.{w:60+}"),
    token("pulumi_token", "pul-{h:40}"),
    token("infracost_key", "ico-{a:32}"),
    token("prefect_key", "pnu_{a:36}"),
    token("prefect_key", "pnb_{a:36}"),
    token("doppler_token", "dp.pt.{a:40-44}"),
    token("doppler_token", "dp.st.{a:40-44}"),
    token("doppler_token", "dp.st.{w:1-40}.{a:40-44}"),
    token("doppler_token", "dp.ct.{a:40-44}"),
    token("doppler_token", "dp.sa.{a:40-44}"),
    token("doppler_token", "dp.scim.{a:40-44}"),
    token("doppler_token", "dp.audit.{a:40-44}"),
    token("vault_token", "hvs.{w:24+}"),
    token("vault_token", "hvb.{w:24+}"),
    token("vault_token", "hvr.{w:24+}"),
    random("vault_legacy_token", "s.{a:24}"),
    token("onepassword_secret_key", "A3-{u:6}-{u:6}-{u:5}-{u:5}-{u:5}-{u:5}"),
    token("onepassword_secret_key", "A3-{u:6}-{u:11}-{u:5}-{u:5}-{u:5}"),
    token("onepassword_token", "ops_eyJ{b:100+}"),
    token("tailscale_key", "tskey-{w:20+}"),
    token("docker_swarm_token", "SWMTKN-1-{l:50}-{l:25}"),
    token("deno_token", "ddp_{a:36}"),
    token("deno_token", "ddo_{a:36}"),
    random("phabricator_token", "api-{l:28}"),
    random("phabricator_token", "cli-{l:28}"),
    token("inngest_key", "signkey-prod-{h:64}"),
    random("trigger_dev_key", "tr_prod_{a:20+}"),
    // Package registries
    summed("npm_token", "npm_{a:36}"),
    token("pypi_token", "pypi-AgE{w:50+}"),
    token("pypi_token", "pypi-{w:85+}"),
    token("rubygems_key", "rubygems_{h:48}"),
    random("crates_io_token", "cio{a:32}"),
    random("nuget_key", "oy2{l:43}"),
    token("clojars_token", "CLOJARS_{h:60}"),
    token("clojars_token", "CLOJARS_{l:60}"),
    token("docker_token", "dckr_pat_{w:24+}"),
    token("docker_token", "dckr_oat_{w:24+}"),
    token("artifactory_key", "AKCp{a:69}"),
    random("artifactory_token", "cmVmd{a:59}"),
    token("packagist_token", "packagist_ack_{h:40+}"),
    token("packagist_token", "packagist_uut_{h:40+}"),
    token("packagist_token", "packagist_ort_{h:40+}"),
    token("jsr_token", "jsrp_{a:40+}"),
    // Models
    token("anthropic_key", "sk-ant-{w:32+}"),
    token("openrouter_key", "sk-or-v1-{h:64}"),
    random("openrouter_key", "sk-or-{w:32+}"),
    token("openai_key", "sk-proj-{w:32+}"),
    token("openai_key", "sk-svcacct-{w:32+}"),
    token("openai_key", "sk-admin-{w:32+}"),
    token("openai_key", "sk-None-{w:32+}"),
    token("openai_key", "sk-{a:20}T3BlbkFJ{a:20}"),
    token("langsmith_key", "lsv2_pt_{h:32}_{h:10}"),
    token("langsmith_key", "lsv2_sk_{h:32}_{h:10}"),
    token("langsmith_key", "ls__{h:32}"),
    token("langfuse_key", "sk-lf-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    random("api_key", "sk-{w:20+}"),
    token("xai_key", "xai-{a:60-100}"),
    token("groq_key", "gsk_{a:48-56}"),
    token("perplexity_key", "pplx-{a:40-64}"),
    token("huggingface_token", "hf_{a:30-40}"),
    token("huggingface_token", "api_org_{a:34}"),
    token("replicate_token", "r8_{a:37-40}"),
    random("fireworks_key", "fw_{a:22-32}"),
    token("together_key", "tgp_v1_{w:40+}"),
    token("nvidia_key", "nvapi-{w:60-70}"),
    random("cerebras_key", "csk-{l:40-60}"),
    token("pinecone_key", "pcsk_{w:50+}"),
    token("tavily_key", "tvly-{w:28+}"),
    token("jina_key", "jina_{w:40+}"),
    random("voyage_key", "pa-{w:43}"),
    token("firecrawl_key", "fc-{h:32}"),
    token("elevenlabs_key", "sk_{h:48}"),
    token("cursor_key", "key_{h:64}"),
    token("e2b_key", "e2b_{h:40}"),
    random("modal_token", "ak-{a:22}"),
    random("modal_token", "as-{a:22}"),
    token("wandb_key", "wandb_v1_{w:40+}"),
    random("openai_session", "sess-{a:40}"),
    random("api_key", "sk_{a:32+}"),
    random("api_key", "sk_prod_{w:16+}"),
    // Chat and telephony
    random("slack_token", "xoxb-{w:20+}"),
    random("slack_token", "xoxp-{w:20+}"),
    random("slack_token", "xoxa-{w:20+}"),
    random("slack_token", "xoxr-{w:20+}"),
    random("slack_token", "xoxs-{w:20+}"),
    random("slack_token", "xoxo-{w:20+}"),
    random("slack_token", "xoxc-{w:20+}"),
    random("slack_token", "xoxd-{g:20+}"),
    random("slack_token", "xoxe-{w:20+}"),
    random("slack_token", "xoxe.xoxb-{w:20+}"),
    random("slack_token", "xoxe.xoxp-{w:20+}"),
    random("slack_app_token", "xapp-{d:1}-{w:20+}"),
    random("slack_app_token", "xwfp-{w:20+}"),
    token("slack_webhook", "hooks.slack.com/services/T{u:8+}/B{u:8+}/{a:20+}"),
    token("slack_webhook", "hooks.slack.com/workflows/{b:40+}"),
    token("slack_webhook", "hooks.slack.com/triggers/{b:40+}"),
    token("discord_webhook", "discord.com/api/webhooks/{d:17-20}/{w:60+}"),
    token("discord_webhook", "discordapp.com/api/webhooks/{d:17-20}/{w:60+}"),
    token("teams_webhook", "webhook.office.com/webhookb2/{h:8}-{h:4}-{h:4}-{h:4}-{h:12}@{w:36}/IncomingWebhook/{h:32}/{w:36}"),
    token("zapier_webhook", "hooks.zapier.com/hooks/catch/{d:4+}/{a:6+}"),
    random("discord_bot_token", "M{w:23-27}.{w:6}.{w:27-40}"),
    random("discord_bot_token", "N{w:23-27}.{w:6}.{w:27-40}"),
    random("discord_bot_token", "O{w:23-27}.{w:6}.{w:27-40}"),
    random("twilio_key", "SK{h:32}"),
    random("telnyx_key", "KEY{u:20}{a:20+}_{a:20+}"),
    token("linear_key", "lin_api_{a:40}"),
    token("linear_key", "lin_oauth_{h:40+}"),
    token("notion_token", "ntn_{d:11}{a:35}"),
    random("notion_token", "secret_{a:43}"),
    token("asana_token", "1/{d:13-17}:{h:32}"),
    token("asana_token", "2/{d:10-17}/{d:10-17}:{h:32}"),
    token("figma_token", "figd_{w:40+}"),
    token("figma_token", "figo_{w:40+}"),
    token("airtable_token", "pat{a:14}.{h:64}"),
    token("clickup_token", "pk_{d:6-10}_{u:32}"),
    token("typeform_token", "tfp_{g:40+}"),
    token("intercom_token", "dG9rOj{b:40+}"),
    token("miro_token", "eyJtaXJvLm9yaWdpbi{g:20+}"),
    token("beamer_token", "b_{b:43}="),
    token("readme_key", "rdme_{l:60-75}"),
    token("postman_key", "PMAK-{h:24}-{h:34}"),
    token("dropbox_token", "sl.{w:100+}"),
    token("dropbox_token", "sl.u.{w:100+}"),
    token("frameio_token", "fio-u-{w:60+}"),
    token("discord_mfa_token", "mfa.{w:84}"),
    token("clerk_key", "sk_live_{a:40+}"),
    token("contentful_token", "CFPAT-{w:43}"),
    random("sanity_token", "sk{a:80}{a:60-110}"),
    token("mapbox_secret_token", "sk.eyJ{w:40+}.{w:20+}"),
    // Payment and shops
    random("stripe_key", "sk_live_{a:16+}"),
    random("stripe_key", "sk_test_{a:16+}"),
    random("stripe_key", "rk_live_{a:16+}"),
    random("stripe_key", "rk_test_{a:16+}"),
    random("stripe_key", "sk_org_{a:16+}"),
    random("stripe_webhook_secret", "whsec_{b:24+}"),
    token("square_token", "sq0atp-{w:22}"),
    token("square_secret", "sq0csp-{w:43}"),
    random("square_token", "EAAA{w:56-64}"),
    token("braintree_token", "access_token$production${l:16}${h:32}"),
    token("braintree_token", "access_token$sandbox${l:16}${h:32}"),
    token("paystack_key", "sk_live_{h:40}"),
    token("flutterwave_key", "FLWSECK-{h:32}-X"),
    token("flutterwave_key", "FLWSECK_TEST-{h:32}-X"),
    token("flutterwave_key", "FLWSECK_TEST{h:12}"),
    token("razorpay_key", "rzp_live_{a:14}"),
    token("razorpay_key", "rzp_test_{a:14}"),
    random("adyen_key", "AQE{a:3}{b:80+}"),
    random("mollie_key", "live_{a:30-40}"),
    random("gocardless_token", "live_{w:40}"),
    random("gocardless_token", "sandbox_{w:40}"),
    token("plaid_token", "access-production-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    token("plaid_token", "access-development-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    token("plaid_token", "access-sandbox-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    token("shopify_token", "shpat_{h:32}"),
    token("shopify_token", "shpca_{h:32}"),
    token("shopify_token", "shppa_{h:32}"),
    token("shopify_token", "shpua_{h:32}"),
    token("shopify_shared_secret", "shpss_{h:32}"),
    token("shippo_token", "shippo_live_{h:40}"),
    token("shippo_token", "shippo_test_{h:40}"),
    token("easypost_key", "EZAK{a:54}"),
    token("easypost_key", "EZTK{a:54}"),
    token("duffel_token", "duffel_live_{w:43}"),
    token("duffel_token", "duffel_test_{w:43}"),
    token("lob_key", "live_{h:35}"),
    token("lob_key", "test_{h:35}"),
    token("woocommerce_key", "ck_{h:40}"),
    token("woocommerce_key", "cs_{h:40}"),
    token("coinbase_key", "organizations/{h:8}-{h:4}-{h:4}-{h:4}-{h:12}/apiKeys/{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    random("bitcoin_extended_private_key", "xprv{k:100-112}"),
    token("checkout_key", "sk_{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    token("checkout_key", "sk_test_{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    random("paddle_key", "pdl_live_apikey_{w:40+}"),
    random("paddle_key", "pdl_sdbx_apikey_{w:40+}"),
    random("xendit_key", "xnd_production_{a:30+}"),
    random("xendit_key", "xnd_development_{a:30+}"),
    random("mercadopago_token", "APP_USR-{d:10+}-{d:6}-{h:32}-{d:6+}"),
    token("riot_key", "RGAPI-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    random("bitcoin_private_key", "5{k:50}"),
    random("bitcoin_private_key", "K{k:51}"),
    random("bitcoin_private_key", "L{k:51}"),
    token("infura_key", "infura.io/v3/{h:32}"),
    token("alchemy_key", "alchemy.com/v2/{w:32}"),
    // Mail and marketing
    token("sendgrid_key", "SG.{w:22}.{w:43}"),
    token("mailgun_key", "key-{h:32}"),
    token("brevo_key", "xkeysib-{h:64}-{a:16}"),
    token("brevo_key", "xsmtpsib-{h:64}-{a:16}"),
    random("resend_key", "re_{a:8}_{a:20-32}"),
    random("resend_key", "re_{a:24-40}"),
    random("mandrill_key", "md-{w:22}"),
    token("mailersend_token", "mlsn.{h:64}"),
    random("klaviyo_key", "pk_{h:34}"),
    token("hubspot_token", "pat-na1-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    token("hubspot_token", "pat-na2-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    token("hubspot_token", "pat-eu1-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    random("firebase_server_key", "AAAA{w:7}:{w:140}"),
    token("trello_token", "ATTA{a:60-80}"),
    token("onesignal_key", "os_v2_app_{l:60+}"),
    token("onesignal_key", "os_v2_org_{l:60+}"),
    random("pinterest_token", "pina_{a:40+}"),
    random("pubnub_secret", "sec-c-{b:40+}"),
    random("twitter_bearer_token", "AAAAAAAAAAAAAAAAAAAAA{a:20+}%3D{a:30+}"),
    random("facebook_token", "EAA{a:60+}"),
    random("instagram_token", "IGQ{w:60+}"),
    random("twitter_bearer_token", "AAAAAAAAAAAAAAAAAAAAA{g:60+}"),
    token("twitch_token", "oauth:{l:30}"),
    // Databases
    token("planetscale_password", "pscale_pw_{g:32+}"),
    token("planetscale_token", "pscale_tkn_{g:32+}"),
    token("planetscale_token", "pscale_oauth_{g:32+}"),
    token("databricks_token", "dapi{h:32}"),
    token("databricks_token", "dapi{h:32}-{d:1}"),
    token("neon_key", "napi_{a:60+}"),
    random("neon_password", "npg_{a:12+}"),
    token("xata_key", "xau_{a:32+}"),
    random("clickhouse_key", "4b1d{a:38}"),
    token("aiven_password", "AVNS_{w:16-24}"),
    token("aiven_token", "aivenv1{b:80+}"),
    random("fauna_secret", "fnA{w:30+}"),
    token("astra_token", "AstraCS:{a:24}:{h:64}"),
    random("influx_token", "apiv3_{w:60+}"),
    // Monitoring and feature flags
    token("sentry_token", "sntrys_{b:40+}_{b:43}"),
    token("sentry_token", "sntrys_eyJ{b:40+}"),
    token("sentry_token", "sntryu_{h:64}"),
    token("sentry_token", "sntrya_{h:64}"),
    token("grafana_token", "glsa_{a:32}_{h:8}"),
    token("grafana_cloud_token", "glc_{b:32+}"),
    token("grafana_key", "eyJrIjoi{b:60+}"),
    token("new_relic_key", "NRAK-{a:27}"),
    token("new_relic_key", "NRII-{w:32}"),
    token("new_relic_key", "NRRA-{h:42}"),
    token("new_relic_key", "NRIQ-{w:32}"),
    random("new_relic_license_key", "eu01xx{h:30}NRAL"),
    token("dynatrace_token", "dt0c01.{u:24}.{u:64}"),
    token("dynatrace_token", "dt0s01.{u:8+}.{u:64}"),
    token("dynatrace_token", "dt0s16.{u:8+}.{u:64}"),
    token("honeycomb_key", "hcaik_{l:58}"),
    token("honeycomb_key", "hcaic_{l:58}"),
    token("honeycomb_key", "hcxik_{l:58}"),
    token("honeycomb_key", "hcxmk_{l:58}"),
    token("honeycomb_key", "hcalk_{l:26}"),
    token("axiom_token", "xaat-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    token("axiom_token", "xapt-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    token("posthog_key", "phx_{a:40-50}"),
    token("posthog_key", "phs_{a:40-50}"),
    random("statsig_key", "secret-{a:40-50}"),
    token("launchdarkly_key", "sdk-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    token("launchdarkly_key", "api-{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    random("pagerduty_key", "u+{w:18}"),
    token("logfire_token", "pylf_v1_{l:2}_{a:40+}"),
    // Others
    random("adobe_client_secret", "p8e-{w:32}"),
    random("adobe_client_secret", "p8{w:1}-{w:32}"),
    random("okta_token", "00{w:40}"),
    token("authress_key", "sc_{l:5-30}.{l:4-6}.acc_{w:10-32}.{g:30+}"),
    token("salesforce_token", "00D{a:12}!{g:80+}"),
    token("salesforce_refresh_token", "5Aep{g:60+}"),
    token("age_secret_key", "AGE-SECRET-KEY-1{u:58}"),
    token("age_secret_key", "AGE-SECRET-KEY-PQ-1{u:58+}"),
    token("nostr_secret_key", "nsec1{l:58}"),
    token("private_key", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0{b:60+}"),
    token("private_key", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVk{b:60+}"),
    token("private_key", "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0{b:60+}"),
    token("private_key", "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ{b:60+}"),
    token("private_key", "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRVkt{b:60+}"),
    token("defined_networking_key", "dnkey-{w:26}-{w:52}"),
    token("settlemint_token", "sm_pat_{a:16}"),
    token("settlemint_token", "sm_aat_{a:16}"),
    token("settlemint_token", "sm_sat_{a:16}"),
    token("intra42_secret", "s-s4t2ud-{h:64}"),
    token("intra42_secret", "s-s4t2af-{h:64}"),
    token("wakatime_key", "waka_{h:8}-{h:4}-{h:4}-{h:4}-{h:12}"),
    token("ubidots_token", "BBFF-{a:30}"),
    token("ubidots_token", "BBUS-{a:30}"),
];

struct Rule {
    kind: &'static str,
    pattern: Pattern,
    body: Body,
}

/// The rules by the first byte of their prefixes, longest prefix first.
static BY_FIRST_BYTE: LazyLock<Vec<Vec<Rule>>> = LazyLock::new(|| {
    let mut table: Vec<Vec<Rule>> = (0..256).map(|_| Vec::new()).collect();
    for &(kind, text, body) in ROWS {
        let pattern = Pattern::parse(text);
        table[usize::from(pattern.prefix()[0])].push(Rule { kind, pattern, body });
    }
    for rules in &mut table {
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.pattern.prefix().len()));
    }
    table
});

pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|(kind, ..)| *kind)
}

/// The token at the start of `bytes`: its kind and length. Of several rules with one prefix, the longest token wins.
pub(super) fn token_at(bytes: &[u8]) -> Option<(&'static str, usize)> {
    let first = *bytes.first()?;
    let mut best: Option<(&'static str, usize)> = None;
    let mut prefix_of_best = 0;
    for rule in &BY_FIRST_BYTE[usize::from(first)] {
        let prefix = rule.pattern.prefix().len();
        if best.is_some() && prefix < prefix_of_best {
            break;
        }
        let Some(length) = rule.pattern.length_at(bytes) else { continue };
        let body = &bytes[prefix..length];
        let is_secret = match rule.body {
            Body::Plausible => judge::is_plausible(body),
            Body::Random => judge::is_plausible_without_prefix(body),
            Body::Summed => judge::is_plausible(body) || checksums::has_crc32_in_base62(body),
        };
        if is_secret && best.is_none_or(|(_, longest)| longest < length) {
            best = Some((rule.kind, length));
            prefix_of_best = prefix;
        }
    }
    best
}

/// Whether any rule begins with this byte: most bytes of a text are dismissed by this.
pub(super) fn begins_with(byte: u8) -> bool {
    pattern::is_token_byte(byte) && !BY_FIRST_BYTE[usize::from(byte)].is_empty()
}
