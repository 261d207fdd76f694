/**
 * `fieldgate/batch`, on the runtime and the store that serve it.
 *
 * @module
 */

import assert from 'node:assert/strict'
import { type Checks, namesIn, ok, refused } from '../check.ts'

const post = (name: string) => ({ method: 'POST', path: '/batched', body: { name } })

/** The checks of batches, on records of their own. */
export const batches: Checks = {
  async 'batches: all operations are written, and each sees those before it'(client) {
    const answer = ok(
      await client.ask('POST', '/batch', {
        json: {
          operations: [
            post('one'),
            post('two'),
            { method: 'PATCH', path: '/batched/$0', body: { name: 'uno' } },
            { method: 'DELETE', path: '/batched/$1' },
          ],
        },
      }),
    )
    const statuses = answer.body.data.map(({ status }: { status: number }) => status)
    assert.deepEqual(statuses, [201, 201, 200, 200])
    assert.deepEqual(namesIn(await client.ask('GET', '/batched')), ['uno'])
  },

  async 'batches: one that is refused writes nothing'(client) {
    const operations = [post('three'), { ...post('four'), body: { name: 4 } }]
    const answer = await client.ask('POST', '/batch', { json: { operations } })
    refused(answer, 400, 'Check the submitted values.')
    assert.equal(answer.body.operation, 1)
    const taken = await client.ask('POST', '/batch', {
      json: { operations: [post('five'), post('uno')] },
    })
    refused(taken, 409, 'Duplicate value for: name.')
    assert.equal(taken.body.operation, 1)
    assert.deepEqual(namesIn(await client.ask('GET', '/batched')), ['uno'])
  },
}
