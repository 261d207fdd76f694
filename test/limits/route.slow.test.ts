import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/**
 * How long the way of each request may be: a step that makes one shorter lowers its row. On a busy machine a password waits
 * for its turn, which sign-in and sign-up may take.
 */
const MOST = {
  read: { calls: 76, files: 24, visits: 38 },
  list: { calls: 113, files: 30, visits: 52 },
  search: { calls: 188, files: 40, visits: 93 },
  cursor: { calls: 161, files: 36, visits: 75 },
  populate: { calls: 333, files: 51, visits: 138 },
  create: { calls: 154, files: 41, visits: 82 },
  patch: { calls: 205, files: 49, visits: 109 },
  login: { calls: 680, files: 82, visits: 354 },
  register: { calls: 422, files: 80, visits: 208 },
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
