/**
 * Bodies that extra routes read, in every way: the limits and errors are those of model routes.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { type Checks, ok, refused } from '../check.ts'
import type { Ask } from '../client.ts'

const TOO_LARGE = 'Request body exceeds the limit of 1048576 bytes.'
const NOT_JSON = 'Request body is not valid JSON.'
const WAYS = [
  'text',
  'json',
  'arrayBuffer',
  'bytes',
  'blob',
  'stream',
  'textStream',
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
  'an extra route reads a body up to the limit, in every way': async ({ ask }) => {
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
  'beyond the limit it is a 413, in every way and with or without a length': async ({ ask }) => {
    const tooLarge = async (method: string, path: string, sent: Ask) =>
      refused(await ask(method, path, { ...sent, refusedEarly: true }), 413, TOO_LARGE)
    const text = 'x'.repeat(LIMIT + 1)
    for (const way of WAYS) {
      const json = jsonOf(LIMIT + 1)
      await tooLarge('POST', `/extras/read/${way}`, { headers: JSON_TYPE, body: json })
      await tooLarge('POST', `/extras/read/${way}`, {
        headers: JSON_TYPE,
        body: () => pieces(json),
      })
    }
    await tooLarge('POST', '/extras/read/formData', {
      headers: FORM,
      body: `name=${'x'.repeat(LIMIT)}`,
    })
    await tooLarge('QUERY', '/extras/read/text', { body: text })
    await tooLarge('POST', '/extras/guarded', { body: text })
  },
  'what json() and formData() cannot read is the client’s mistake': async ({ ask }) => {
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
  'a described route gets its values parsed, and refuses others': async ({ ask }) => {
    const day = '2030-01-01T00:00:00.000Z'
    const sent = (path: string, body: string, headers: Record<string, string> = JSON_TYPE) =>
      ask('POST', `/extras/described/${path}`, { headers, body })
    const data = { id: 7, dry: true, day }
    assert.deepEqual(ok(await sent('7?dry=true', JSON.stringify({ day }))).body.data, data)
    for (const [path, body, field] of [
      ['x', JSON.stringify({ day }), 'id'],
      ['7?dry=x', JSON.stringify({ day }), 'dry'],
      ['7', '{}', 'day'],
    ] as const) {
      const answer = await sent(path, body)
      refused(answer, 400, 'Check the submitted values.')
      assert.deepEqual(Object.keys(answer.body.fields), [field])
    }
    const type = 'Request body must be sent as application/json.'
    refused(await sent('7', 'day=1', FORM), 415, type)
    refused(await sent('7', '{'), 400, NOT_JSON)
  },
}
