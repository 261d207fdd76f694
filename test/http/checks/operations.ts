/**
 * Checks of what probes and Prometheus ask.
 *
 * @module
 */

import assert from 'node:assert/strict'
import type { Checks } from '../check.ts'

const COUNT = /^http_server_request_duration_seconds_count\{(.+)\} (\d+)$/gm

/** Whether the store can be reached. */
export const readiness: Checks = {
  async 'GET /readyz checks the store'(client) {
    const answer = await client.ask('GET', '/readyz')
    assert.deepEqual([answer.status, answer.text], [200, '{"status":"ok","checks":{"store":"ok"}}'])
  },
}

export const operations: Checks = {
  async 'GET /healthz says that the process is alive'(client) {
    const answer = await client.ask('GET', '/healthz')
    assert.deepEqual([answer.status, answer.text], [200, '{"status":"ok"}'])
    assert.equal(answer.headers.get('cache-control'), 'no-store')
  },

  async 'HEAD /healthz has no body, POST is a 405'(client) {
    const head = await client.ask('HEAD', '/healthz')
    assert.deepEqual([head.status, head.text], [200, ''])
    const post = await client.ask('POST', '/healthz')
    assert.deepEqual([post.status, post.headers.get('allow')], [405, 'GET, HEAD'])
  },

  ...readiness,

  async 'GET /metrics counts requests by method, route and status'(_client, { base }) {
    const texts: string[] = []
    // Where two Durable Objects serve in turn, each has counts of its own.
    for (let asked = 0; asked < 2; asked += 1) {
      // Not by the client, whose transcript is the same on every runtime: durations are not.
      const response = await fetch(`${base}/metrics`)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
      texts.push(await response.text())
    }
    const counted = new Map(
      [...texts.join('').matchAll(COUNT)].map(([, labels, count]) => [labels, Number(count)]),
    )
    for (const labels of [
      'method="HEAD",route="/healthz",status="200"',
      'method="POST",route="/healthz",status="405"',
      'method="QUERY",route="/cities",status="200"',
    ]) {
      assert.ok((counted.get(labels) ?? 0) > 0, labels)
    }
  },

  async 'GET /docs is the reference, whose script clients may keep'(_client, { base }) {
    // Not by the client, whose transcript is the same on every runtime: Workers cannot read the script.
    const page = await fetch(`${base}/docs`)
    const html = await page.text()
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'; /)
    assert.match(html, /href="\/docs\/openapi\.json"/)
    const [, path] = /<script src="([^"]+)"/.exec(html) ?? []
    if (path === undefined) return assert.match(html, /install <code>@scalar\/api-reference/)
    const script = await fetch(`${base}${path}`)
    assert.equal(script.status, 200)
    assert.equal(script.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.match(await script.text(), /createApiReference/)
  },
}
