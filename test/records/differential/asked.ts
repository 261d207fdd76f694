/**
 * What URLs, filters and scopes say of fields.
 *
 * @module
 */

import type { Random } from '../../../extras/contract/store/random.ts'
import { isRare, rareText } from './rare.ts'
import type { FieldSpec } from './spec.ts'
import { anything, CHOICES, DATES, idToken, NUMBERS, raw, TEXTS } from './values.ts'

/** What a URL or a filter says of a field: mostly of its kind. */
export function textFor(random: Random, field: FieldSpec): string {
  if (random.chance(12)) return random.of([...TEXTS, ...NUMBERS, ...DATES])
  if (isRare(field.kind)) return rareText(random, field.kind)
  switch (field.kind) {
    case 'number':
    case 'int':
    case 'numbers':
      return random.chance(60) ? String(random.below(4) - 1) : random.of(NUMBERS)
    case 'boolean':
    case 'booleans':
      return random.of(['true', 'false', 'yes', '1', '0', 'No'])
    case 'date':
    case 'dates':
      return random.of(DATES)
    case 'ref':
    case 'refs':
      return random.chance(85) ? idToken(random, 'other') : 'f'.repeat(24)
    case 'id':
      return idToken(random)
    case 'enum':
      return random.of(CHOICES)
    default:
      return random.of(TEXTS)
  }
}

/** What a scope says of a field: another value would be a mistake of the deployer's code. */
export function scopeFor(random: Random, { kind }: FieldSpec): string {
  if (kind === 'literals') return random.of(['1', '2', '3.5'])
  if (kind === 'stringbool') return String(random.chance(50))
  switch (kind) {
    case 'number':
    case 'int':
      return String(random.below(4) - 1)
    case 'boolean':
      return String(random.chance(50))
    case 'date':
      return random.of(['2024-01-01', '1970-01-01', '0000-01-01'])
    case 'ref':
      return idToken(random, 'other')
    case 'enum':
      return random.of(CHOICES)
    default:
      return random.of(TEXTS)
  }
}

/** The same as a JSON scalar. */
export function scalarFor(random: Random, field: FieldSpec): unknown {
  if (random.chance(8)) return null
  if (random.chance(8)) return anything(random, 0)
  const text = textFor(random, field)
  switch (field.kind) {
    case 'number':
    case 'int':
    case 'numbers':
    case 'unknown':
    case 'union':
    case 'unions':
    case 'dateOrNumber':
    case 'literals':
      return random.chance(85) && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e-?\d+)?$/.test(text)
        ? raw(text)
        : text
    case 'boolean':
    case 'booleans':
    case 'stringbool':
      return random.chance(85) ? text === 'true' || text === '1' : text
    default:
      return text
  }
}
