import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FOLDER, referencePages } from '../../scripts/reference.ts'

const pages = referencePages()

describe('docs/reference', () => {
  it('says what the doc comments say; `npm run reference` writes it', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual([...pages.keys()].toSorted())
    const stale = [...pages].filter(
      ([file, text]) => readFileSync(join(FOLDER, file), 'utf8') !== text,
    )
    expect(stale.map(([file]) => file)).toEqual([])
  })

  it('gives an option its default in a column of its own', () => {
    expect(pages.get('node.md')).toContain('| `graceMs` | `number` | 25,000')
  })
})
