"""Credentials recognised by their form: our own patterns, those of vendors' tokens, and those of detect-secrets.

Of detect-secrets only the patterns are used: no entropy, no keywords, no settings of its own, no request to a vendor.
Vendors' tokens have a form of their own, mostly a prefix, by their documentation. Left out are those that only their
context tells from an ordinary value.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Protocol

from shared.light_imports import standing_in
from shared.text.redaction import CREDENTIALS

PLUGINS = {
    "aws": "AWSKeyDetector",
    "azure_storage_key": "AzureStorageKeyDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "mailchimp": "MailchimpDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
"""Detectors of detect-secrets whose patterns do not match ordinary code.

Left out for their noise: entropy, keywords, addresses, Basic Auth, Artifactory (`APCalculator`), Discord (dotted
names), and private keys (a header alone is none). Left out because a hostile text can make them slow: npm,
OpenAI and JSON Web Tokens, whose forms are among our own.
"""

_KEY_BODY = re.compile(r"-----\s[^-]{40,}")
"""At least this much text follows the header of a real private key; code that only looks for the header has none."""

_KEY_LINE = re.compile(r"[A-Za-z0-9+/]{48,}")
"""A line of a private key; a string of JSON or of a shell spells its end, and other headers may stand before it."""

_KEY_HEAD_CHARS = 1000
"""Characters behind the header of a private key in which its first whole line has to be."""

_PLACEHOLDER = re.compile(r"example|dummy|placeholder|(?:x{6}|\*{3}|0{8}|1234567890|\.\.\.)", re.IGNORECASE)
"""Placeholders that documentation has in place of a credential."""


class _Detector(Protocol):
    secret_type: str

    def analyze_string(self, string: str) -> Iterator[str]: ...


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential found in a text: its kind in words, and the credential itself, which no message may repeat."""

    kind: str
    value: str


def credentials(text: str) -> Iterator[Credential]:
    """Yield every credential in a text, except placeholders; one may be found twice."""
    for kind, pattern in CREDENTIALS.items():
        yield from (Credential(kind, found[0]) for found in pattern.finditer(text) if _is_real(kind, found[0]))
    yield from (Credential(kind, value) for kind, value in vendor_tokens(text) if _is_real(kind, value))
    for detector in _detectors():
        kind = detector.secret_type
        for value in detector.analyze_string(text):
            if value and _is_real(kind, value):
                yield Credential(kind, value)


def _is_real(kind: str, value: str) -> bool:
    if kind == "private key":
        return _KEY_BODY.search(value) is not None or any(map(_is_mixed, _lines_of_key(value)))
    return _PLACEHOLDER.search(value) is None and len(set(value[-16:])) > 3


def _lines_of_key(value: str) -> list[str]:
    return _KEY_LINE.findall(re.sub(r"\\[nr]", "\n", value[:_KEY_HEAD_CHARS]))


def _is_mixed(line: str) -> bool:
    """Return whether text looks like base64 of something random: it is no path, no digest in hex, no word."""
    return all(re.search(kind, line) for kind in ("[A-Z]", "[a-z]", "[0-9]"))


@cache
def _detectors() -> tuple[_Detector, ...]:
    """Import the detectors on first use, without `requests`: 9 MiB that detect-secrets needs only to ask vendors."""
    with standing_in({"requests": ModuleType("requests")}):
        modules = {name: import_module(f"detect_secrets.plugins.{name}") for name in PLUGINS}
    return tuple(getattr(module, PLUGINS[name])() for name, module in modules.items())


_WORD = r"[A-Za-z0-9_-]"
_HEX = r"[A-Fa-f0-9]"
_BASE64 = r"[A-Za-z0-9+/_=-]"
_UUID = rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"
_KEYS_IN_BASE64 = "|".join(
    re.escape(b64encode(f"-----BEGIN {kind}PRIVATE".encode()).decode().rstrip("=")[:-1])
    for kind in ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP ")
)
"""The beginnings of private keys that are encoded once more, as in a cluster's configuration."""

KINDS: Mapping[str, tuple[str, ...]] = {
    "1Password token": (rf"ops_eyJ{_BASE64}{{200,}}", "ops_eyJ"),
    "1Password secret key": (r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}", "A3-"),
    "Adobe client secret": (rf"p8e-{_WORD}{{32}}", "p8e-"),
    "age key": (r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}", "AGE-SECRET-KEY-1"),
    "Airtable token": (rf"pat[A-Za-z0-9]{{14}}\.{_HEX}{{64}}", "pat"),
    "Alibaba access key": (r"LTAI[A-Za-z0-9]{20}", "LTAI"),
    "Artifactory key": (r"AKCp[A-Za-z0-9]{69}", "AKCp"),
    "Artifactory token": (r"cmVmd[A-Za-z0-9]{59}", "cmVmd"),
    "Atlassian token": (rf"ATATT3{_BASE64}{{180,}}", "ATATT3"),
    "AWS Bedrock key": (r"ABSK[A-Za-z0-9+/]{109,}={0,2}", "ABSK"),
    "Brevo key": (rf"xkeysib-{_HEX}{{64}}-[A-Za-z0-9]{{16}}", "xkeysib-"),
    "ClickHouse key": (r"4b1d[A-Za-z0-9]{38}", "4b1d"),
    "Clojars token": (r"CLOJARS_[A-Za-z0-9]{60}", "CLOJARS_"),
    "Cloudflare key": (rf"v1\.0-{_HEX}{{24}}-{_HEX}{{146}}", "v1.0-"),
    "Databricks token": (rf"dapi{_HEX}{{32}}(?:-\d)?", "dapi"),
    "DigitalOcean token": (rf"do[opr]_v1_{_HEX}{{64}}", "_v1_"),
    "Docker Hub token": (rf"dckr_(?:pat|oat)_{_WORD}{{27,}}", "dckr_"),
    "Doppler token": (r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}", "dp."),
    "Duffel token": (r"duffel_(?:test|live)_[A-Za-z0-9_=-]{43}", "duffel_"),
    "Dynatrace token": (r"dt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}", "dt0"),
    "EasyPost key": (r"EZ[AT]K[A-Za-z0-9]{54}", "EZ"),
    "Figma token": (rf"fig[duo]_{_WORD}{{40,}}", "fig"),
    "Flutterwave key": (rf"FLWSECK(?:_TEST)?-(?:{_WORD}{{32}}-X|[A-Za-z0-9]{{12}})", "FLWSECK"),
    "Fly.io token": (r"(?:fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{100,}={0,3})", "fo1_", "fm1", "fm2"),
    "Frame.io token": (r"fio-u-[A-Za-z0-9_=-]{64}", "fio-u-"),
    "GitLab token": (
        rf"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct)-{_WORD}{{20,}}(?:\.[A-Za-z0-9.]+)?",
        "gl",
    ),
    "GitLab runner token": (rf"GR1348941{_WORD}{{20}}", "GR1348941"),
    "Google OAuth secret": (rf"GOCSPX-{_WORD}{{28}}", "GOCSPX-"),
    "Google access token": (rf"ya29\.{_WORD}{{40,}}", "ya29."),
    "Grafana token": (rf"(?:glsa_[A-Za-z0-9]{{32}}_{_HEX}{{8}}|glc_[A-Za-z0-9+/]{{32,}}={{0,2}})", "glsa_", "glc_"),
    "Groq key": (r"gsk_[A-Za-z0-9]{52}", "gsk_"),
    "Harness key": (r"(?:pat|sat)\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", "pat.", "sat."),
    "Heroku key": (rf"HRKU-AA{_WORD}{{58}}", "HRKU-AA"),
    "Hugging Face token": (r"(?:hf|api_org)_[A-Za-z]{34}", "hf_", "api_org_"),
    "Infracost key": (r"ico-[A-Za-z0-9]{32}", "ico-"),
    "Linear key": (r"lin_(?:api|oauth)_[A-Za-z0-9]{40,}", "lin_"),
    "MaxMind key": (r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", "_mmk"),
    "Microsoft Entra secret": (r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", "Q~"),
    "Microsoft Teams webhook": (
        r"https://[a-z0-9-]+\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{80,}",
        ".webhook.office.com",
    ),
    "Netlify token": (r"nfp_[A-Za-z0-9]{36}", "nfp_"),
    "New Relic key": (r"NRAK-[A-Z0-9]{27}", "NRAK-"),
    "Notion token": (r"ntn_[A-Za-z0-9]{46}", "ntn_"),
    "npm token": (r"npm_[A-Za-z0-9]{36}", "npm_"),
    "npm token of a registry": (r":_authToken=\s{0,9}(?:npm_\S+|[A-Fa-f0-9-]{36})", ":_authToken="),
    "Octopus Deploy key": (r"API-[A-Z0-9]{26}", "API-"),
    "OpenShift token": (rf"sha256~{_WORD}{{43}}", "sha256~"),
    "Perplexity key": (r"pplx-[A-Za-z0-9]{48}", "pplx-"),
    "PlanetScale secret": (r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{32,64}", "pscale_"),
    "Postman key": (rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}", "PMAK-"),
    "Prefect key": (r"pn[ub]_[A-Za-z0-9]{36}", "pn"),
    "Pulumi token": (rf"pul-{_HEX}{{40}}", "pul-"),
    "PyPI token": (rf"pypi-AgE[A-Za-z0-9]{_WORD}{{50,}}", "pypi-AgE"),
    "ReadMe key": (r"rdme_[a-z0-9]{70}", "rdme_"),
    "RubyGems key": (rf"rubygems_{_HEX}{{48}}", "rubygems_"),
    "Scalingo token": (rf"tk-us-{_WORD}{{48}}", "tk-us-"),
    "Sentry token": (rf"(?:sntrys_eyJ{_BASE64}{{80,}}|sntryu_{_HEX}{{64}})", "sntry"),
    "Shippo token": (rf"shippo_(?:live|test)_{_HEX}{{40}}", "shippo_"),
    "Shopify secret": (rf"shp(?:at|ca|pa|ss)_{_HEX}{{32}}", "shp"),
    "Slack app token": (r"xapp-\d-[A-Z0-9]+-\d+-[A-Za-z0-9]+", "xapp-"),
    "Sourcegraph token": (rf"sgp_(?:{_HEX}{{16}}_|local_)?{_HEX}{{40}}", "sgp_"),
    "Square token": (rf"(?:EAAA|sq0atp-|sq0csp-){_WORD}{{22,60}}", "EAAA", "sq0"),
    "Stripe key": (r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,99}", "k_live_", "k_test_", "k_prod_"),
    "Stripe webhook secret": (r"whsec_[A-Za-z0-9+/]{32,}={0,2}", "whsec_"),
    "Supabase token": (rf"sbp_(?:v0_)?{_HEX}{{40}}", "sbp_"),
    "Terraform token": (rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_BASE64}{{60,70}}", ".atlasv1."),
    "Twilio key": (rf"SK{_HEX}{{32}}", "SK"),
    "Vault token": (rf"hv[sbr]\.{_WORD}{{90,}}", "hv"),
    "Vercel token": (r"vc[pikra]_[A-Za-z0-9]{24,}", "vc"),
    "private key in base64": (rf"(?:{_KEYS_IN_BASE64})[A-Za-z0-9+/]{{100,}}={{0,2}}", "LS0tLS1CRUdJTi"),
    "PuTTY private key": (r"Private-Lines: \d{1,3}\s{1,2}[A-Za-z0-9+/]{32,}={0,2}", "Private-Lines: "),
    "AWS secret key": (
        r"(?:aws_secret_access_key|AWS_SECRET_ACCESS_KEY)['\"]?\s{0,3}[=:]\s{0,3}['\"]?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])",
        "aws_secret_access_key",
        "AWS_SECRET_ACCESS_KEY",
    ),
    "Adafruit key": (r"aio_[A-Za-z0-9]{28}", "aio_"),
    "Alchemy key": (r"alcht_[A-Za-z0-9]{30}", "alcht_"),
    "Apify token": (r"apify_api_[A-Za-z0-9]{36}", "apify_api_"),
    "Atlassian access token": (rf"ATCTT3{_BASE64}{{60,}}", "ATCTT3"),
    "Authress key": (
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}",
        ".acc_",
        ".acc-",
    ),
    "AWS AppSync key": (r"da2-[a-z0-9]{26}", "da2-"),
    "AWS Bedrock session key": (r"bedrock-api-key-YmVkcm9jay[A-Za-z0-9+/=]{40,}", "bedrock-api-key-"),
    "Azure DevOps token": (r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", "AZDO"),
    "Azure key": (r"[A-Za-z0-9+/]{76}\+(?:ASt|ACDb|ABa|AMC|AIo|ARm)[A-Za-z0-9+/]{5,6}={1,2}", "+A"),
    "Azure signature": (r"sig=[A-Za-z0-9+/%]{43,100}(?:%3D|=)", "sig="),
    "Bannerbear key": (rf"bb_(?:pr|ma)_{_HEX}{{30}}", "bb_"),
    "Bitbucket password": (r"ATBB[A-Za-z0-9]{32}", "ATBB"),
    "Bitbucket token": (r"BBDC-[A-Za-z0-9+/]{40,}", "BBDC-"),
    "Buildkite token": (r"bk[a-z]{2}_[A-Za-z0-9]{40}", "bk"),
    "Cerebras key": (r"csk-[a-z0-9]{48}", "csk-"),
    "CircleCI token": (rf"CCIP(?:AT|RJ)_[A-Za-z0-9]{{22}}_{_HEX}{{40}}", "CCIP"),
    "Cloudflare token": (rf"cf(?:ut|at|k)_[A-Za-z0-9]{{40}}{_HEX}{{8}}", "cf"),
    "Daytona key": (rf"dtn_{_HEX}{{64}}", "dtn_"),
    "Discord webhook": (
        r"https://(?:[a-z]{3,7}\.)?discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,}",
        "/webhooks/",
    ),
    "E2B key": (rf"e2b_{_HEX}{{40}}", "e2b_"),
    "ElevenLabs key": (rf"sk_{_HEX}{{48}}", "sk_"),
    "Firecrawl key": (rf"fc-{_HEX}{{32}}", "fc-"),
    "Fireworks key": (r"fw_(?=[A-Za-z]{0,20}[0-9])[A-Za-z0-9]{22,24}", "fw_"),
    "Google AI key": (rf"AQ\.Ab8{_WORD}{{40,}}", "AQ.Ab8"),
    "Google refresh token": (rf"1//0{_WORD}{{60,}}", "1//0"),
    "Grafana key": (r"eyJrIjoi[A-Za-z0-9+/]{60,}={0,3}", "eyJrIjoi"),
    "HubSpot token": (rf"pat-(?:na|eu)\d-{_UUID}", "pat-"),
    "Intra 42 secret": (rf"s-s4t2(?:ud|af)-{_HEX}{{64}}", "s-s4t2"),
    "LangSmith key": (rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}", "lsv2_"),
    "Neon key": (r"napi_[a-z0-9]{60,}", "napi_"),
    "npm password of a registry": (
        r":_(?:auth|password)=\s{0,9}['\"]?[A-Za-z0-9+/]{16,}={0,2}",
        ":_auth=",
        ":_password=",
    ),
    "NVIDIA key": (rf"nvapi-{_WORD}{{60,}}", "nvapi-"),
    "PayPal token": (rf"access_token\$(?:production|sandbox)\$[a-z0-9]{{16}}\${_HEX}{{32}}", "access_token$"),
    "pganalyze key": (r"pgar_[A-Za-z0-9]{24,}", "pgar_"),
    "Pinecone key": (r"pcsk_[A-Za-z0-9]{4,6}_[A-Za-z0-9]{60,}", "pcsk_"),
    "PostHog key": (r"ph[xs]_[A-Za-z0-9]{40,}", "phx_", "phs_"),
    "Render key": (r"rnd_[A-Za-z0-9]{28,}", "rnd_"),
    "Replicate token": (r"r8_[A-Za-z0-9]{37}", "r8_"),
    "Resend key": (r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", "re_"),
    "Rootly key": (rf"rootly_{_HEX}{{64}}", "rootly_"),
    "SettleMint token": (r"sm_(?:aat|pat|sat)_[A-Za-z0-9]{16}", "sm_"),
    "Slack webhook": (
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/+]{40,}",
        "hooks.slack.com",
    ),
    "Snyk token": (r"snyk_(?:uat|sat)\.[A-Za-z0-9]{8}\.[A-Za-z0-9._-]{60,}", "snyk_"),
    "SonarQube token": (rf"sq[apu]_{_HEX}{{40}}", "sq"),
    "Tailscale key": (r"tskey-[a-z]+-[A-Za-z0-9]{9,}-[A-Za-z0-9]{20,}", "tskey-"),
    "Tavily key": (r"tvly-(?:[a-z]{3,4}-)?[A-Za-z0-9]{32}", "tvly-"),
    "Together key": (rf"tgp_v1_{_WORD}{{43}}", "tgp_v1_"),
    "Typeform token": (rf"tfp_{_WORD}{{44,}}", "tfp_"),
    "Weights & Biases key": (rf"wandb_v1_{_WORD}{{60,}}", "wandb_v1_"),
    "xAI key": (r"xai-[A-Za-z0-9]{70,}", "xai-"),
}
"""Kind in words -> pattern, and substrings one of which each such token has: texts without them are not searched."""

_EXPRESSIONS = {kind: re.compile(rf"(?<![A-Za-z0-9_-])(?:{form})") for kind, (form, *_) in KINDS.items()}


def vendor_tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each token in a text."""
    for kind, (_, *always) in KINDS.items():
        if any(part in text for part in always):
            yield from ((kind, found[0]) for found in _EXPRESSIONS[kind].finditer(text))
