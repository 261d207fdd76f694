import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** How long the way of each request may be: a step that makes one shorter lowers its row. */
const MOST = {
  read: { calls: 120, files: 42, visits: 84 },
  list: { calls: 180, files: 56, visits: 120 },
  search: { calls: 265, files: 63, visits: 162 },
  cursor: { calls: 236, files: 59, visits: 150 },
  populate: { calls: 520, files: 76, visits: 306 },
  create: { calls: 292, files: 74, visits: 166 },
  patch: { calls: 340, files: 83, visits: 193 },
  login: { calls: 1300, files: 95, visits: 490 },
  register: { calls: 1050, files: 109, visits: 420 },
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
