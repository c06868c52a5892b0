"""A webhook's deliveries and their secret."""

from __future__ import annotations

import json

SECRET = b"a-secret-of-the-webhook"

PUSH = json.dumps({"repository": {"full_name": "ada/thing"}, "action": "labeled"}).encode()
