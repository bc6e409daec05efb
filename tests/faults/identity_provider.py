"""An identity provider on the loopback interface: OpenID Connect with signed tokens, and people to be.

    with IdentityProvider("ada@example.org") as provider:
        ...  # provider.metadata_url goes into the app's secrets, with provider.CLIENT and provider.SECRET

Its sign-in page has one link for each person. It checks client, redirect address and code as a provider does.
"""

from __future__ import annotations

import base64
import html
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "workbench"
SECRET = "secret-of-the-workbench"


class IdentityProvider:
    """Serves people by e-mail address; those in `unverified` have an address nobody checked.

    Attributes:
        forged: Whether tokens are signed with a key that is not the published one.
        issued: Addresses for which a token was handed out.
        signed_out: How often somebody signed out here.
    """

    def __init__(self, *people: str, unverified: tuple[str, ...] = ()) -> None:
        self.people = [*people, *unverified]
        self.unverified = unverified
        self.forged = False
        self.issued: list[str] = []
        self.signed_out = 0
        self._codes: dict[str, dict[str, str]] = {}
        self._key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, auto_kid=False)
        self._other = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}, auto_kid=False)

    def __enter__(self) -> IdentityProvider:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider._get(self)

            def do_POST(self) -> None:
                provider._token(self)

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://localhost:{self._server.server_port}"
        self.metadata_url = f"{self.url}/.well-known/openid-configuration"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def _get(self, request: BaseHTTPRequestHandler) -> None:
        address = urlsplit(request.path)
        asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        match address.path:
            case "/.well-known/openid-configuration":
                _send(request, 200, self._metadata())
            case "/keys":
                _send(request, 200, {"keys": [self._key.as_dict(private=False)]})
            case "/authorize" if asked.get("client_id") == CLIENT and asked.get("response_type") == "code":
                links = [f'<a href="/choose?{html.escape(urlencode({**asked, "as": name}))}">{name}</a>'
                         for name in self.people]  # fmt: skip
                _send(request, 200, "<h1>Who are you?</h1>" + "<br>".join(links))
            case "/choose":
                code = secrets.token_urlsafe()
                self._codes[code] = asked
                answer = urlencode({"code": code, "state": asked["state"]})
                _send(request, 302, "", Location=f"{asked['redirect_uri']}?{answer}")
            case "/leave":
                self.signed_out += 1
                _send(request, 302, "", Location=asked["post_logout_redirect_uri"])
            case _:
                _send(request, 400, "No.")

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "end_session_endpoint": f"{self.url}/leave",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def _token(self, request: BaseHTTPRequestHandler) -> None:
        sent = parse_qs(request.rfile.read(int(request.headers["Content-Length"])).decode())
        granted = self._codes.pop(sent.get("code", [""])[0], None)
        kind, _, proof = request.headers.get("Authorization", "").partition(" ")
        known = kind == "Basic" and base64.b64decode(proof).decode() == f"{CLIENT}:{SECRET}"
        if granted is None or not known or sent["redirect_uri"] != [granted["redirect_uri"]]:
            _send(request, 400, {"error": "invalid_grant"})
            return
        name = granted["as"]
        self.issued.append(name)
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": name,
            "email": name,
            "email_verified": name not in self.unverified,
            "iat": now,
            "exp": now + 300,
            "nonce": granted.get("nonce", ""),
        }
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self._other if self.forged else self._key)
        _send(request, 200, {"access_token": "a", "token_type": "Bearer", "expires_in": 300, "id_token": token})


def _send(request: BaseHTTPRequestHandler, status: int, body: Any, **headers: str) -> None:
    is_text = isinstance(body, str)
    data = (body if is_text else json.dumps(body)).encode()
    request.send_response(status)
    request.send_header("Content-Type", "text/html" if is_text else "application/json")
    request.send_header("Content-Length", str(len(data)))
    for name, value in headers.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(data)
