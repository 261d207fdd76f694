/**
 * The black-box suite, registered for a runtime on a store.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Checks, World } from './check.ts'
import { type Client, client } from './client.ts'
import type { Running } from './runtimes.ts'
import { suite } from './suite.ts'

const asked: { readonly client: Client; readonly sentences: readonly string[] }[] = []

/** Registers a suite for one runtime and store: all of it by default. The servers of a file start side by side. */
export function conforms(name: string, open: () => Promise<Running>, checks: Checks = suite): void {
  let opening: Promise<Running>
  beforeAll(() => {
    opening = open()
    // It is told where the suite awaits it.
    opening.catch(() => {})
  })

  describe(`the contract over HTTP: ${name}`, () => {
    let server: Running
    let asking: Client
    let world: World

    beforeAll(async () => {
      server = await opening
      asking = client(server.base)
      const { base } = server
      const [countries, cities, tokens] = [new Map(), new Map(), new Map()]
      world = { base, countries, cities, tokens, trickled: [] }
    })
    afterAll(async () => {
      asked.push({ client: asking, sentences: Object.keys(checks) })
      await server.stop()
    })

    for (const [sentence, check] of Object.entries(checks)) {
      it(sentence, () => {
        asking.begin(sentence)
        return check(asking, world)
      })
    }
  })
}

/** Registers the comparison of all that the file has registered before; the first has all checks of the others. */
export function alike(): void {
  it('every runtime on every store gave the same transcript, byte by byte', () => {
    const [first, ...others] = asked.splice(0)
    expect(others).not.toEqual([])
    for (const { client, sentences } of others) {
      expect(client.transcript(sentences)).toBe(first?.client.transcript(sentences))
    }
  })
}
