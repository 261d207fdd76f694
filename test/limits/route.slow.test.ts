import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/**
 * How long the way of each request may be: a step that makes one shorter lowers its row. On a busy machine a password waits
 * for its turn, which sign-in and sign-up may take.
 */
const MOST = {
  read: { calls: 76, files: 24, visits: 39 },
  list: { calls: 113, files: 31, visits: 54 },
  search: { calls: 188, files: 42, visits: 95 },
  cursor: { calls: 161, files: 37, visits: 76 },
  populate: { calls: 333, files: 54, visits: 140 },
  create: { calls: 154, files: 42, visits: 83 },
  patch: { calls: 205, files: 50, visits: 110 },
  login: { calls: 672, files: 83, visits: 356 },
  register: { calls: 420, files: 83, visits: 210 },
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
