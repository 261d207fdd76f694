import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/**
 * How long the way of each request may be: a step that makes one shorter lowers its row. On a busy machine a password waits
 * for its turn, which sign-in and sign-up may take.
 */
const MOST = {
  read: { calls: 74, files: 20, visits: 36 },
  list: { calls: 109, files: 24, visits: 45 },
  search: { calls: 152, files: 28, visits: 66 },
  cursor: { calls: 156, files: 29, visits: 67 },
  populate: { calls: 267, files: 37, visits: 100 },
  create: { calls: 149, files: 31, visits: 74 },
  patch: { calls: 161, files: 32, visits: 79 },
  login: { calls: 449, files: 47, visits: 161 },
  register: { calls: 336, files: 48, visits: 148 },
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
