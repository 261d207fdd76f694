"""Signs Schemathesis in as the admin, anew every second: some of its requests end the sessions of whoever sends them."""

import os

import requests
import schemathesis


@schemathesis.auth(refresh_interval=1)
class Admin:
    def get(self, case, context):
        credentials = {'identifier': os.environ['ADMIN'], 'password': os.environ['ADMIN_PASSWORD']}
        response = requests.post(f"{os.environ['API']}/auth/login", json=credentials, timeout=20)
        response.raise_for_status()
        return response.json()['data']['token']

    def set(self, case, data, context):
        case.headers = case.headers or {}
        case.headers['Authorization'] = f'Bearer {data}'
