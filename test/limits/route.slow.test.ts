import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** How long the way of each request may be: a step that makes one shorter lowers its row. */
const MOST = {
  read: { calls: 118, files: 42, visits: 83 },
  list: { calls: 176, files: 55, visits: 119 },
  search: { calls: 260, files: 63, visits: 159 },
  cursor: { calls: 234, files: 59, visits: 149 },
  populate: { calls: 485, files: 75, visits: 305 },
  create: { calls: 279, files: 74, visits: 166 },
  patch: { calls: 328, files: 83, visits: 193 },
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
