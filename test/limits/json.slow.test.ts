/**
 * JSON that is parsed in slices is taken, and refused, exactly as `JSON.parse` does it.
 */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/http/json.ts'
import { stringifyInSlices } from '../../src/ports/json.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

async function outcome(text: string, piece?: number): Promise<unknown> {
  try {
    return { value: JSON.stringify(await parseJson(bytes(text), piece)) }
  } catch (error) {
    return (error as Error).message
  }
}

function wanted(text: string): unknown {
  try {
    return { value: JSON.stringify(JSON.parse(text)) }
  } catch {
    return 'Request body is not valid JSON.'
  }
}

/** Texts that are nearly JSON: one that is, and a few of its characters taken out, doubled or put in. */
const texts = fc
  .tuple(
    fc.json({ maxDepth: 5 }),
    fc.constantFrom('', ' ', '\n'),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.constantFrom('', '[', ']', '{', '}', ',', ':', '"', '\\', '1', ' ', 'null', '"a":'),
      ),
      {
        maxLength: 3,
      },
    ),
  )
  .map(([json, blank, changes]) => {
    let text = blank === '' ? json : json.replaceAll(',', `${blank},${blank}`)
    for (const [where, what] of changes) {
      const at = where % (text.length + 1)
      text = text.slice(0, at) + what + text.slice(at + (where % 2))
    }
    return text
  })

describe('JSON in slices', () => {
  it.each([1, 3, 8])(
    'is what JSON.parse makes of it, in pieces of %i characters',
    async (piece) => {
      await fc.assert(
        fc.asyncProperty(texts, async (text) => {
          expect(await outcome(text, piece)).toEqual(wanted(text))
        }),
        { numRuns: 3000 },
      )
    },
    120_000,
  )

  it.each([
    '[[1,2,3],[4,5,6],]',
    '[,[1,2,3]]',
    '[[1,2,3] [4,5,6]]',
    '[[1,2,3][4,5,6]]',
    '[[1,2,3]],',
    '{"a":[1,2,3],"a":[4,5,6]}',
    '{"__proto__":[1,2,3],"b":1}',
    '{[1,2,3]}',
    '{"a":[1,2,3} ]',
    '{"a" [1,2,3]}',
    '{"a":1 "b":[1,2,3]}',
    '[1,2,3]]',
    '[[1,2,3]',
    '"[1,2,3,4]"',
    '["]],[",[1,2,3],"\\"]"]',
    '{"a":[1,2,3]:1}',
    '[1,2,3:4]',
    ' [ [ ] ] ',
    '[      ]',
    '[1,      ]',
    '{}{}',
    '1,2',
    '',
    '{"b":1,"a":{"c":[1,2,3]},"b":[1,2,3]}',
  ])('%s', async (text) => {
    for (const piece of [1, 2, 4, 8]) expect(await outcome(text, piece)).toEqual(wanted(text))
  })

  it('takes 10,000 keys in one object, and no more', async () => {
    const object = (count: number) =>
      `{"a":{${Array.from({ length: count }, (_, at) => `"${at}k":[]`).join(',')}}}`
    expect(await outcome(object(10_000))).toEqual(wanted(object(10_000)))
    expect(await outcome(object(10_001))).toBe(
      'Request body has an object with more than 10000 keys.',
    )
    const list = JSON.stringify(Array(100_000).fill('a'))
    expect(await outcome(list)).toEqual(wanted(list))
  })

  it('takes 1,000 levels, and no more', async () => {
    const deep = (levels: number) =>
      `${'['.repeat(levels)}${'1,'.repeat(9000)}1${']'.repeat(levels)}`
    expect(await outcome(deep(1000))).toEqual(wanted(deep(1000)))
    expect(await outcome(deep(1001))).toBe('Request body is not valid JSON.')
  })
})

describe('a large value', () => {
  it('is written as JSON.stringify writes it', async () => {
    const large = fc.array(fc.jsonValue(), { minLength: 1000, maxLength: 1200, size: 'max' })
    const member = fc.oneof(large, fc.jsonValue(), fc.date(), fc.constant(undefined))
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), member),
        fc.array(member),
        async (object, list) => {
          for (const value of [object, list, { ...object, list }]) {
            expect(await stringifyInSlices(value)).toBe(JSON.stringify(value))
          }
        },
      ),
      { numRuns: 30 },
    )
    expect(await stringifyInSlices(undefined)).toBeUndefined()
  }, 300_000)
})
