/**
 * Bodies that extra routes read, in every way: the limits and errors are those of model routes.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { type Checks, ok, refused } from '../check.ts'

const TOO_LARGE = 'Request body exceeds the limit of 1048576 bytes.'
const NOT_JSON = 'Request body is not valid JSON.'
const WAYS = [
  'text',
  'json',
  'arrayBuffer',
  'bytes',
  'blob',
  'stream',
  'clone',
  'response',
] as const
const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const LIMIT = 1024 * 1024

/** What `bodies` does of a text of `size` bytes, in pieces, so that no Content-Length tells of it. */
function pieces(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, at + 60_000))
      at += 60_000
    },
  })
}

/** A JSON text of exactly `size` bytes. */
const jsonOf = (size: number) => `"${'x'.repeat(size - 2)}"`

/** The checks, in their order. */
export const bodies: Checks = {
  'N7 an extra route reads a body up to the limit, in every way': async ({ ask }) => {
    for (const way of WAYS) {
      const answer = await ask('POST', `/extras/read/${way}`, {
        headers: JSON_TYPE,
        body: jsonOf(LIMIT),
      })
      assert.equal(ok(answer).body.data, LIMIT, way)
    }
    const form = { headers: FORM, body: 'name=abc' }
    assert.equal(ok(await ask('POST', '/extras/read/formData', form)).body.data, 3)
    const parts = new FormData()
    parts.set('name', 'abcd')
    const multipart = await ask('POST', '/extras/read/formData', { body: parts })
    assert.equal(ok(multipart).body.data, 4)
    assert.equal(ok(await ask('POST', '/extras/read/text')).body.data, 0)
  },
  'N7 beyond the limit it is a 413, in every way and with or without a length': async ({ ask }) => {
    for (const way of WAYS) {
      const sized = { headers: JSON_TYPE, body: jsonOf(LIMIT + 1) }
      refused(await ask('POST', `/extras/read/${way}`, sized), 413, TOO_LARGE)
      const streamed = { headers: JSON_TYPE, body: () => pieces(jsonOf(LIMIT + 1)) }
      refused(await ask('POST', `/extras/read/${way}`, streamed), 413, TOO_LARGE)
    }
    const form = { headers: FORM, body: `name=${'x'.repeat(LIMIT)}` }
    refused(await ask('POST', '/extras/read/formData', form), 413, TOO_LARGE)
    refused(
      await ask('QUERY', '/extras/read/text', { body: 'x'.repeat(LIMIT + 1) }),
      413,
      TOO_LARGE,
    )
    refused(await ask('POST', '/extras/guarded', { body: 'x'.repeat(LIMIT + 1) }), 413, TOO_LARGE)
  },
  'N7 what json() and formData() cannot read is the client’s mistake': async ({ ask }) => {
    for (const body of ['{', '', '[1,', '\u0000', '{"a":undefined}']) {
      const answer = await ask('POST', '/extras/read/json', { headers: JSON_TYPE, body })
      refused(answer, 400, NOT_JSON)
    }
    const deep = '['.repeat(100_000)
    refused(
      await ask('POST', '/extras/read/json', { headers: JSON_TYPE, body: deep }),
      400,
      NOT_JSON,
    )
    refused(
      await ask('POST', '/extras/read/formData', { headers: JSON_TYPE, body: '{}' }),
      415,
      'Request body must be sent as multipart/form-data or application/x-www-form-urlencoded.',
    )
    const broken = { 'Content-Type': 'multipart/form-data; boundary=b' }
    refused(
      await ask('POST', '/extras/read/formData', { headers: broken, body: 'no parts' }),
      400,
      'Request body is not a valid form.',
    )
  },
}
