import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** How long the way of each request may be: a step that makes one shorter lowers its row. */
const MOST = {
  read: { calls: 78, files: 25, visits: 40 },
  list: { calls: 115, files: 32, visits: 55 },
  search: { calls: 190, files: 42, visits: 94 },
  cursor: { calls: 165, files: 38, visits: 78 },
  populate: { calls: 342, files: 53, visits: 138 },
  create: { calls: 160, files: 42, visits: 85 },
  patch: { calls: 212, files: 49, visits: 112 },
  // A hash takes longer on a busy machine, and the clock of even time ticks once for each five milliseconds of it.
  login: { calls: 1060, files: 94, visits: 408 },
  register: { calls: 650, files: 98, visits: 268 },
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
