import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** How long the way of each request may be: a step that makes one shorter lowers its row. */
const MOST = {
  read: { calls: 86, files: 27, visits: 43 },
  list: { calls: 160, files: 36, visits: 71 },
  search: { calls: 226, files: 43, visits: 110 },
  cursor: { calls: 226, files: 41, visits: 105 },
  populate: { calls: 412, files: 56, visits: 167 },
  create: { calls: 165, files: 42, visits: 86 },
  patch: { calls: 239, files: 50, visits: 111 },
  login: { calls: 1600, files: 99, visits: 500 },
  register: { calls: 1250, files: 110, visits: 430 },
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
