import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/**
 * How long the way of each request may be: a step that makes one shorter lowers its row. On a busy machine a password waits
 * for its turn, which sign-in and sign-up may take. Each computation of a password has a turn that ends by itself, should its
 * request be gone, and defaults own their promises: 8 calls of a sign-up. It says which change it is: 2 more.
 * Dates are made texts before the JSON: 2 of a create, 13 of a sign-up, which take less time than `JSON.stringify` would for them.
 */
const MOST = {
  read: { calls: 85, files: 21, visits: 36 },
  list: { calls: 123, files: 25, visits: 48 },
  search: { calls: 165, files: 29, visits: 69 },
  cursor: { calls: 169, files: 30, visits: 68 },
  populate: { calls: 279, files: 39, visits: 108 },
  create: { calls: 167, files: 33, visits: 77 },
  patch: { calls: 179, files: 34, visits: 81 },
  login: { calls: 463, files: 48, visits: 169 },
  register: { calls: 384, files: 50, visits: 159 },
}

it('a request enters no more functions and files than its budget', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const output = execFileSync('npm', ['run', '--silent', 'route', '--', '--json'], { cwd: root })
  const ways = JSON.parse(String(output)) as Record<keyof typeof MOST, Record<string, number>>
  const beyond = Object.entries(MOST).flatMap(([name, most]) =>
    Object.entries(most)
      .filter(([what, limit]) => (ways[name as keyof typeof MOST][what] ?? Infinity) > limit)
      .map(
        ([what, limit]) => `${name}: ${ways[name as keyof typeof MOST][what]} ${what} of ${limit}`,
      ),
  )
  expect(beyond).toEqual([])
})
