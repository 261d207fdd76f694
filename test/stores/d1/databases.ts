/**
 * D1 databases for tests, each with tables of its own.
 *
 * @module
 */

import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { afterAll } from 'vitest'
import type { D1Answer, D1Binding, D1Statement } from '../../../adapters/stores/sqlite/calls/d1.ts'

/**
 * Gives statements to the bindings of a Worker. Miniflare's own proxies of bindings ask workerd three times for each
 * statement, for two of which this process stands still, and lose connections under load.
 */
const SCRIPT = `export default {
  async fetch(request, env) {
    const { name, isBatch, statements } = await request.json()
    const database = env[name]
    const bound = statements.map(({ sql, values }) => database.prepare(sql).bind(...values))
    try {
      return Response.json(isBatch ? await database.batch(bound) : await bound[0].all())
    } catch (error) {
      return Response.json(error.message, { status: 500 })
    }
  },
}`

interface Bound extends D1Statement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Returns a function that hands out `most` empty databases, one after the other; they end with the test file. */
export async function freshD1(most: number): Promise<() => D1Binding> {
  const names = Array.from({ length: most }, (_, index) => `DB${index}`)
  const workerd = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: SCRIPT,
      compatibilityDate: '2026-01-01',
      d1Databases: names,
    }),
  )
  afterAll(() => workerd.dispose())
  await workerd.ready
  return () => {
    const name = names.pop()
    if (name === undefined) throw new Error(`these tests need more than ${most} databases`)
    return bindingOf(workerd, name)
  }
}

function bindingOf(workerd: Miniflare, name: string): D1Binding {
  const ask = async (isBatch: boolean, statements: readonly D1Statement[]): Promise<unknown> => {
    const body = JSON.stringify({ name, isBatch, statements })
    const response = await workerd.dispatchFetch('http://d1/', { method: 'POST', body })
    const answer = await response.json()
    if (!response.ok) throw new Error(String(answer))
    return answer
  }
  const statement = (sql: string, values: readonly unknown[]): Bound => ({
    ...{ sql, values },
    bind(...given) {
      const isKnown = given.every((value) => value === null || KINDS.has(typeof value))
      if (!isKnown) throw new TypeError('D1 binds strings, numbers, booleans and null')
      return statement(sql, given)
    },
    async all() {
      return (await ask(false, [this])) as D1Answer
    },
  })
  return {
    prepare: (sql) => statement(sql, []),
    batch: async (statements) => (await ask(true, statements)) as D1Answer[],
  }
}

/** The kinds of values that get to D1 as they are. */
const KINDS: ReadonlySet<string> = new Set(['string', 'number', 'boolean'])
