/**
 * Random values to write into fields.
 *
 * @module
 */

import type { Random } from '../../../extras/contract/store/random.ts'
import { textFor } from './asked.ts'
import { isRare, rareValue } from './rare.ts'
import type { FieldSpec } from './spec.ts'
import {
  anything,
  CHOICES,
  DATES,
  deep,
  INTEGERS,
  idToken,
  KEYS,
  NUMBERS,
  raw,
  TEXTS,
} from './values.ts'

/** A value to write into a field: one that its schema takes where `right`, else mostly one. */
export function valueFor(random: Random, field: FieldSpec, right = random.chance(60)): unknown {
  if (!right && random.chance(10)) return anything(random)
  const mayBeNull = !right || /^null/.test(field.wrap)
  if (mayBeNull && random.chance(12)) return null
  const container = containerIn(random, field, right)
  return container === undefined ? scalarIn(random, field, right) : container
}

/** Undefined for a field that holds one scalar. */
function containerIn(random: Random, field: FieldSpec, right: boolean): unknown {
  const scalar = () => scalarIn(random, field, right)
  if (isRare(field.kind)) return rareValue(random, field.kind, right)
  switch (field.kind) {
    case 'strings':
    case 'numbers':
    case 'booleans':
    case 'dates':
    case 'refs':
      return random.list(3, scalar)
    case 'object':
      return objectOf(random, field.inside, right)
    case 'objects':
      return random.list(3, () => (random.chance(8) ? null : objectOf(random, field.inside, right)))
    case 'loose':
      return { ...objectOf(random, field.inside, right), free: anything(random, 1) }
    case 'map':
      return Object.fromEntries(random.list(3, () => [random.of(KEYS), scalar()]))
    case 'unknown':
      return random.chance(right ? 0 : 15) ? deep(random) : anything(random)
    case 'union':
      return random.of<unknown>([wellFormed(random), raw(numberText(random, right)), true, false])
    case 'texts':
      return random.chance(50) ? wellFormed(random) : random.list(2, () => wellFormed(random))
    default:
      return undefined
  }
}

/** Values for some of `fields`, all that are needed where `right`. */
export function objectOf(
  random: Random,
  fields: readonly FieldSpec[],
  right = random.chance(75),
): Record<string, unknown> {
  const isNeeded = ({ wrap }: FieldSpec) => wrap === 'plain' || wrap === 'nullable'
  const given = fields.filter((field) => random.chance(right && isNeeded(field) ? 100 : 70))
  return Object.fromEntries(given.map((field) => [field.name, valueFor(random, field, right)]))
}

function scalarIn(random: Random, field: FieldSpec, right: boolean): unknown {
  switch (field.kind) {
    case 'int':
      return raw(right ? random.of(INTEGERS) : random.of(NUMBERS))
    case 'number':
    case 'numbers':
    case 'map':
      return raw(numberText(random, right))
    case 'boolean':
    case 'booleans':
      return random.chance(50)
    case 'date':
    case 'dates':
      return right ? DATES[random.below(6)] : random.of(DATES)
    case 'ref':
    case 'refs':
      return right ? idToken(random, 'other') : textFor(random, field)
    case 'enum':
      return random.of(CHOICES)
    default:
      return right ? wellFormed(random) : random.of(TEXTS)
  }
}

function numberText(random: Random, right: boolean): string {
  const text = random.chance(50) ? String(random.below(4)) : random.of(NUMBERS)
  return right && !Number.isFinite(Number(text)) ? '0' : text
}

function wellFormed(random: Random): string {
  return random.of(TEXTS).toWellFormed()
}
