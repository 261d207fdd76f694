import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sizes, TABLE, tableOf } from '../../scripts/sizes.ts'
import { publishedPackage } from '../services/shared.ts'

const root = join(import.meta.dirname, '../..')

/** KiB by import, of a table. */
function rowsOf(table: string): Map<string, readonly number[]> {
  const rows = [...table.matchAll(/^\| `([\w/-]+)` \| ([\d.]+) \| ([\d.]+) \|$/gm)]
  return new Map(rows.map(([, name = '', ...numbers]) => [name, numbers.map(Number)]))
}

it('has the sizes in a bundle that the README tells; npm run build && npm run sizes', async () => {
  // Its dependencies are found above the folder.
  const shown = rowsOf(TABLE.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[0] ?? '')
  const real = rowsOf(tableOf(await sizes((await publishedPackage()).folder)))
  expect([...shown.keys()]).toEqual([...real.keys()])
  for (const [name, numbers] of real) {
    for (const [at, size] of numbers.entries()) {
      const said = shown.get(name)?.[at] ?? 0
      expect(Math.abs(said - size), `${name}: ${size} KiB`).toBeLessThan(1 + size * 0.05)
    }
  }
})
