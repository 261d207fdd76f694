import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** How long the way of each request may be: a step that makes one shorter lowers its row. */
const MOST = {
  read: { calls: 282, files: 50, visits: 133 },
  list: { calls: 354, files: 63, visits: 164 },
  search: { calls: 659, files: 68, visits: 211 },
  cursor: { calls: 575, files: 66, visits: 212 },
  populate: { calls: 1034, files: 82, visits: 373 },
  create: { calls: 376, files: 78, visits: 222 },
  patch: { calls: 439, files: 88, visits: 243 },
  login: { calls: 1900, files: 102, visits: 690 },
  register: { calls: 1500, files: 112, visits: 560 },
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
