"""Serves Canaille, an identity provider, with one user and one client, in memory.

Usage: canaille.py <folder of its packages> <port> <redirect URI>.
"""

import datetime
import sys
from wsgiref.simple_server import make_server

packages, port, redirect = sys.argv[1:]
sys.path.insert(0, packages)

from canaille import create_app  # noqa: E402
from canaille.app import models  # noqa: E402
from canaille.backends import Backend  # noqa: E402
from joserfc.jwk import RSAKey  # noqa: E402

app = create_app({
    'SECRET_KEY': 'only for tests',
    'SERVER_NAME': f'127.0.0.1:{port}',
    'PREFERRED_URL_SCHEME': 'http',
    'DEBUG': True,
    'CANAILLE': {'DATABASE': 'memory', 'JAVASCRIPT': False, 'SMTP': None, 'ENABLE_REGISTRATION': False},
    'CANAILLE_OIDC': {
        'TRUSTED_DOMAINS': ['example.com'],
        'ACTIVE_JWKS': [RSAKey.generate_key(2048, auto_kid=True).as_dict(private=True)],
    },
})
with app.app_context():
    user = models.User(
        user_name='ann', family_name='Lee', given_name='Ann', formatted_name='Ann Lee',
        emails=['ann@example.com'], password='correct horse battery',
    )
    Backend.instance.save(user)
    client = models.Client(
        client_id='atlas', client_secret='a-secret_of.the~provider', client_name='Atlas',
        client_uri='https://example.com', redirect_uris=[redirect], grant_types=['authorization_code'],
        response_types=['code'], scope=['openid', 'email', 'profile'],
        token_endpoint_auth_method='client_secret_basic',
        client_id_issued_at=datetime.datetime.now(datetime.timezone.utc),
    )
    Backend.instance.save(client)
    client.audience = [client]
    Backend.instance.save(client)

make_server('127.0.0.1', int(port), app).serve_forever()
