"""Secrets in text, by the forms in which tools write them: what names one, and what stands behind it.

Every pattern takes time in proportion to the text: what may repeat is bounded, or anchored where it begins.
"""

import re

GONE = "…"

# What names a secret, whatever stands before it: AZURE_CLIENT_SECRET, --admin-password, PGPASSWORD,
# AWS_SECRET_ACCESS_KEY, http_s3_key (of fio).
_NAMES = (
    *("pass(?:word|wd|phrase)", "pwd", "http_pass", "secret", "token", "credential"),
    "(?:account|access|api|storage|shared|private|primary|secondary|master|encryption|s3)[_-]?key",
)
_NAME = rf"(?:{'|'.join(_NAMES)})\d?(?:[_-][\w-]{{0,40}})?"
_QUOTE = r"\\?[\"']"
_PLAIN = r"[^\s\"'&,;<>{}\[\]()\\]"
_VALUE = rf"(?P<value>\"[^\"\n]{{1,2000}}\"|'[^'\n]{{1,2000}}'|\\\"[^\"\n]{{1,2000}}\\\"|{_PLAIN}+)"
# name=x, name: x, "name": "x", 'name': 'x'; & of a URL and ; of a connection string end a value
_STATED = re.compile(
    rf"(?i)(?P<name>{_NAME})(?P<between>{_QUOTE})?(?P<sign>\s{{0,4}}(?:=|:|%3D)\s{{0,4}}){_VALUE}"
)
# --admin-password x, --account-key x; an option is no value
_OPTION = re.compile(
    rf"(?i)(?P<name>(?<![\w-])--?[a-z-]{{0,40}}{_NAME})(?P<between>)(?P<sign>[ \t]{{1,4}})(?!-){_VALUE}"
)
# Signatures of shared access: sig=x, "sig": "x", sig: x
_SIGNATURE = re.compile(
    rf"(?i)((?<![a-z])sig{_QUOTE}?\s?:\s?{_QUOTE}?|(?:(?<![a-z])sig|signature)(?:=|%3D|{_QUOTE}\s?:\s?{_QUOTE}))"
    rf"{_PLAIN}+"
)
_KEY = re.compile(r"(?i)(key(?:=|%3D|\"?:\s?\"))(?=[^\s\"]{0,40}\d)[A-Z0-9+/=_-]{16,}")  # of whatever kind
_AUTHORIZATION = re.compile(
    rf"(?i)(Authorization{_QUOTE}?\s{{0,4}}[:=]\s{{0,4}}{_QUOTE}?(?:[a-z]{{2,20}}\s{{1,4}})?){_PLAIN}+"
)
_SCHEME = re.compile(r"\b((?:Bearer|Basic)\s{1,4})(?=[\w.~+/-]{0,200}[\d.=])[\w.~+/-]{8,}={0,2}")
_TOKEN = re.compile(r"\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*")  # JSON Web Token. Source: RFC 7519
_IN_ADDRESS = re.compile(r"(?<=://)[^\s/@:\"'<>]{0,200}:[^\s/@\"'<>]{1,400}(?=@)")  # RFC 3986, userinfo
_PRIVATE = re.compile(  # RFC 7468; one that has no end goes to that of the text
    r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[^\n-]{0,9}-----"
    r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[^\n-]{0,9}-----|\Z)"
)
_NOTHING = re.compile(r"(?i)null|none|true|false|…")
_IS_NAME = re.compile(rf"(?i)[\w-]{{0,60}}?{_NAME}")


def without_secrets(text: str) -> str:
    """Return the text with an ellipsis in the place of every secret; names and quotes stay."""
    text = _TOKEN.sub(GONE, _PRIVATE.sub(GONE, text))
    text = _IN_ADDRESS.sub(GONE, text)
    for pattern in (_AUTHORIZATION, _SCHEME, _SIGNATURE, _KEY):
        text = pattern.sub(rf"\1{GONE}", text)
    return _OPTION.sub(_hidden, _STATED.sub(_hidden, text))


def names_secret(name: str) -> bool:
    """Return whether what goes by a name, such as a key of a document, is a secret."""
    return _IS_NAME.fullmatch(name) is not None


def _hidden(match: re.Match[str]) -> str:
    """A name and its sign as they were, and no value; JSON stays JSON."""
    value, between = match["value"], match["between"] or ""
    if _NOTHING.fullmatch(value):
        return match[0]
    quote = re.match(r"\\?[\"']", value)
    mark = quote[0] if quote else between  # a number is a text then
    return f"{match['name']}{between}{match['sign']}{mark}{GONE}{mark}"
