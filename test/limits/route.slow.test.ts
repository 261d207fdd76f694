import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** How long the way of each request may be: a step that makes one shorter lowers its row. */
const MOST = {
  read: { calls: 128, files: 44, visits: 87 },
  list: { calls: 220, files: 58, visits: 133 },
  search: { calls: 290, files: 63, visits: 171 },
  cursor: { calls: 300, files: 61, visits: 178 },
  populate: { calls: 550, files: 78, visits: 326 },
  create: { calls: 288, files: 74, visits: 166 },
  patch: { calls: 357, files: 84, visits: 193 },
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
