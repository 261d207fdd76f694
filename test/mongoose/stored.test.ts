import { BSON, type Decimal128, type Document } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { encode, fromDocument } from '../../adapters/stores/mongodb/documents/documents.ts'
import { storedText } from '../../extras/mongoose/stored-text.ts'
import type { ObjectShape, Shape } from '../../src/ports/store/shape.ts'

/** Decimals of every length and power, most of them near a limit. */
function decimals(): string[] {
  const digits = [
    '',
    '0',
    '000',
    '7',
    '9'.repeat(33),
    '9'.repeat(34),
    '9'.repeat(35),
    `1${'0'.repeat(34)}`,
  ]
  const parts = [undefined, '', '0', '5', '00', '1'.repeat(34)]
  const powers = [undefined, '0', '-6143', '6111', '6112', '-6176', '-6177', '+7', '99999', '']
  return ['', '-', '+'].flatMap((sign) =>
    digits.flatMap((whole) =>
      parts.flatMap((part) =>
        powers.map((power) => {
          const fraction = part === undefined ? '' : `.${part}`
          return `${sign}${whole}${fraction}${power === undefined ? '' : `e${power}`}`
        }),
      ),
    ),
  )
}

const holding = (value: Shape): ObjectShape => ({
  kind: 'object',
  fields: new Map([
    ['_id', { kind: 'id', idType: 'objectId' }],
    ['value', value],
    ['list', { kind: 'list', element: value }],
  ]),
})

/** What a record holds of a value after it has been through a database. */
function throughBson(value: unknown, shape: ObjectShape): unknown {
  const _id = 'a'.repeat(24)
  const bytes = BSON.serialize(encode({ _id, value, list: [value] }, shape) as Document)
  const record = fromDocument(BSON.deserialize(bytes), shape)
  expect(record.list).toEqual([record.value])
  return record.value
}

describe('a decimal of 128 bits', () => {
  const shape = holding({ kind: 'string', stored: 'decimal128' })
  const all = decimals()

  it('is taken if it can be stored exactly as it is written', () => {
    const taken = all.filter((text) => storedText('decimal128', text) !== undefined)
    expect(taken.length).toBeGreaterThan(200)
    for (const text of taken) {
      const read = throughBson(text, shape) as string
      expect(storedText('decimal128', text)).toBe(read)
      expect(throughBson(read, shape)).toBe(read)
      expect(digitsOf(read)).toBe(digitsOf(text))
    }
  })

  it('is refused where the driver would refuse or round it', () => {
    const refused = all.filter((text) => storedText('decimal128', text) === undefined)
    expect(refused.length).toBeGreaterThan(200)
    for (const text of refused) {
      // The driver reads these as something.
      if (text.startsWith('+') || !/^-?\.?\d/.test(text)) continue
      const stored = attempt(text)
      expect(stored === undefined || digitsOf(text) !== digitsOf(String(stored)), text).toBe(true)
    }
  })

  it('may be one of the three that are no numbers', () => {
    for (const text of ['NaN', 'Infinity', '-Infinity']) {
      expect(storedText('decimal128', text)).toBe(text)
      expect(throughBson(text, shape)).toBe(text)
    }
  })
})

describe('an integer of 64 bits', () => {
  it('is taken within its bounds, and comes back as it was', () => {
    const shape = holding({ kind: 'string', stored: 'long' })
    const some = [0n, 1n, -1n, 2n ** 31n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)]
    for (const one of some) {
      expect(storedText('long', String(one))).toBe(String(one))
      expect(throughBson(String(one), shape)).toBe(String(one))
    }
    for (const text of [
      String(2n ** 63n),
      String(-(2n ** 63n) - 1n),
      '01',
      '-0',
      '1.0',
      '1e3',
      '',
    ]) {
      expect(storedText('long', text)).toBeUndefined()
    }
  })
})

describe('bytes', () => {
  it('of every length and value come back as they were', () => {
    const shape = holding({ kind: 'string', stored: 'binary' })
    for (let length = 0; length < 70; length += 1) {
      const bytes = Buffer.from(Array.from({ length }, (_, at) => (at * 37 + length) % 256))
      const text = bytes.toString('base64')
      expect(storedText('binary', text)).toBe(text)
      expect(throughBson(text, shape)).toBe(text)
    }
    for (const text of ['a', 'ab', 'abc', 'ab=', '====', 'ab-_', 'ab ==']) {
      expect(storedText('binary', text)).toBeUndefined()
    }
  })
})

function attempt(text: string): Decimal128 | undefined {
  try {
    return BSON.Decimal128.fromString(text)
  } catch {
    return undefined
  }
}

/** The significant digits of a decimal with its power: `1.50` is not `1.5`. */
function digitsOf(text: string): string {
  const [, sign, whole = '', part = '', power = '0'] =
    /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? []
  return `${sign}${`${whole}${part}`.replace(/^0+/, '')}e${Number(power) - part.length}`
}
