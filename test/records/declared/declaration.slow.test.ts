import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineModel } from '../../../src/model/define.ts'
import { type Declared, declaredAt, onlyDeclared } from '../../../src/ports/store/declared.ts'
import { covers, declaredText } from '../../../src/ports/store/declared-text.ts'
import { runs } from '../../runs.ts'
import { cases } from './schemas.ts'

/** How many pairs of schemas are compared. */
const PAIRS = runs(500)

function declaredBy(schema: z.ZodType): Declared {
  const place = declaredAt(defineModel('Any', { fields: { field: schema } }).declared, 'field')
  if (!place) throw new Error('the field is declared')
  return place
}

const textOf = (schema: z.ZodType): string => declaredText(declaredBy(schema)) ?? 'endless'

describe('What a schema declares', () => {
  it('is exactly what stays of a stored value, whatever stands beside it', () => {
    fc.assert(
      fc.property(cases, ({ schema, value, sprinkled }) => {
        const declared = declaredBy(schema)
        expect(onlyDeclared(declared, sprinkled)).toEqual(value)
        expect(onlyDeclared(declared, value)).toBe(value)
      }),
      { numRuns: runs(300) },
    )
  })

  it('covers another declaration only if it shows all that the other shows', () => {
    let covered = 0
    fc.assert(
      fc.property(cases, cases, (one, other) => {
        const [own, foreign] = [textOf(one.schema), textOf(other.schema)]
        if (!covers(own, foreign)) return
        covered += 1
        expect(onlyDeclared(declaredBy(one.schema), other.value)).toBe(other.value)
      }),
      { seed: 1, numRuns: PAIRS },
    )
    expect(covered).toBeGreaterThan(PAIRS / 10)
  })

  it.each<[string, z.ZodType, unknown, unknown]>([
    ['a text where an object was', z.string(), { secret: 1 }, undefined],
    ['a text where a list of objects was', z.string(), ['a', { secret: 1 }], ['a']],
    ['an object where a text was', z.object({ a: z.string() }), 'text', 'text'],
    ['a list where one object was', z.array(z.object({ a: z.string() })), { a: '1' }, undefined],
    ['one object where a list was', z.object({ a: z.string() }), [{ a: '1', b: 2 }], [{ a: '1' }]],
    ['__proto__', z.record(z.string(), z.number()), JSON.parse('{"__proto__":1,"a":2}'), { a: 2 }],
    [
      'a loose object',
      z.looseObject({ in: z.object({ a: z.number() }) }),
      { in: { a: 1, b: 2 }, c: {} },
      { in: { a: 1 }, c: {} },
    ],
    [
      'a catchall',
      z.object({}).catchall(z.object({ a: z.number() })),
      { x: { a: 1, b: 2 } },
      { x: { a: 1 } },
    ],
    ['a strict object', z.strictObject({ a: z.number() }), { a: 1, b: 2 }, { a: 1 }],
    [
      'a tuple',
      z.tuple([z.object({ a: z.number() })], z.string()),
      [{ a: 1, b: 2 }, 's'],
      [{ a: 1 }, 's'],
    ],
    [
      'an intersection',
      z.intersection(z.object({ a: z.number() }), z.object({ b: z.number() })),
      { a: 1, b: 2, c: 3 },
      { a: 1, b: 2 },
    ],
    [
      'a discriminated union',
      z.discriminatedUnion('k', [
        z.object({ k: z.literal('x'), a: z.number() }),
        z.object({ k: z.literal('y') }),
      ]),
      { k: 'y', secret: 1 },
      { k: 'y' },
    ],
  ])('%s', (_kind, schema, stored, shown) => {
    expect(onlyDeclared(declaredBy(schema), stored)).toEqual(shown)
  })

  it('reaches every level of a recursive model', () => {
    interface Branch {
      name: string
      branches?: Branch[] | undefined
    }
    const branch: z.ZodType<Branch> = z.object({
      name: z.string(),
      branches: z.lazy(() => z.array(branch)).optional(),
    })
    const deep = (levels: number, extra: object): object => ({
      name: 'n',
      ...extra,
      ...(levels > 0 && { branches: [deep(levels - 1, extra)] }),
    })
    expect(onlyDeclared(declaredBy(branch), deep(50, { secret: 1 }))).toEqual(deep(50, {}))
    expect(textOf(branch)).toContain('^')
    expect(covers(textOf(branch), textOf(branch))).toBe(true)
    expect(covers(textOf(z.unknown()), textOf(branch))).toBe(false)
  })

  it('of a schema that refers to itself in many places is found at once', () => {
    const names = Array.from({ length: 8 }, (_, at) => `n${at}`)
    const many: z.ZodType[] = names.map((_, at) =>
      z.object(
        Object.fromEntries(
          names.map((name, to) => [
            name,
            z
              .lazy(() =>
                z.union([many[to] as z.ZodType, z.array(many[(to + at) % 8] as z.ZodType)]),
              )
              .optional(),
          ]),
        ),
      ),
    )
    const declared = declaredBy(many[0] as z.ZodType)
    expect(declaredText(declared)).toBeUndefined()
    const stored = { n1: { n2: [{ n3: {}, x: 1 }] }, x: 1 }
    expect(onlyDeclared(declared, stored)).toEqual({ n1: { n2: [{ n3: {} }] } })
  })

  it('has no end where a schema makes a new one at each level, and is followed as far as records go', () => {
    const endless = (level: number): z.ZodType =>
      z.object({
        [`n${level}`]: z.number().optional(),
        next: z.lazy(() => endless(level + 1)).optional(),
      })
    const declared = declaredBy(endless(0))
    expect(declaredText(declared)).toBeUndefined()
    expect(
      onlyDeclared(declared, { n0: 1, n1: 2, next: { n0: 1, n1: 2, next: { n2: 3, x: 1 } } }),
    ).toEqual({ n0: 1, next: { n1: 2, next: { n2: 3 } } })
  })
})
