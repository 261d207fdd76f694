/** Rules of a model that one record alone does not show: what a value may become, and which records exclude each other. */

import { withDefaults } from '../ports/store/declared.ts'
import type { Exclusion } from '../ports/store/exclusion.ts'
import type { Filter, Scalar } from '../ports/store/filter.ts'
import type { Fields } from '../ports/store/records.ts'
import { placeOf, type Shape } from '../ports/store/shape.ts'
import { type FieldTransitions, isOrdered, type Model } from './model.ts'
import type { Fail } from './option-rules.ts'
import { didYouMean, noSuchField } from './suggest.ts'
import { fits } from './values/fits.ts'

export interface RuleOptions {
  readonly transitions?: Readonly<Record<string, Readonly<Record<string, readonly Scalar[]>>>>
  readonly initial?: Readonly<Record<string, readonly Scalar[]>>
  readonly exclude?: readonly (Omit<Exclusion, 'where'> & Partial<Pick<Exclusion, 'where'>>)[]
}

type Described = Pick<Model, 'name' | 'shape' | 'fields' | 'declared'>

/** The rules of a model. Calls `fail` for a name or value that the model does not have. */
export function modelRules(
  { transitions = {}, initial = {}, exclude = [] }: RuleOptions,
  model: Described,
  fail: Fail,
): Pick<Model, 'transitions' | 'exclude'> {
  const known = { transitions, initial }
  const fields = new Set([...Object.keys(transitions), ...Object.keys(initial)])
  const changes = [...fields].map((field) => transitionsOf(field, known, model, fail))
  const exclusions = exclude.map((one) => exclusionOf(one, model, fail))
  return {
    ...(changes.length > 0 && { transitions: changes }),
    ...(exclusions.length > 0 && { exclude: exclusions }),
  }
}

function transitionsOf(
  field: string,
  { transitions, initial }: Required<Pick<RuleOptions, 'transitions' | 'initial'>>,
  model: Described,
  fail: Fail,
): FieldTransitions {
  const option = Object.hasOwn(transitions, field) ? 'transitions' : 'initial'
  const shape = shapeOf(option, field, model, fail)
  if (!Object.hasOwn(model.fields, field) || !['string', 'number'].includes(shape.kind)) {
    fail(`'${option}' names '${field}', which is not a field of strings or numbers`)
  }
  const next = Object.entries(transitions[field] ?? {}).map(([key, to]) => {
    const from = shape.kind === 'number' ? Number(key) : key
    return [from, valuesOf('transitions', field, [from, ...to], model, fail).slice(1)] as const
  })
  const starts = initial[field] && valuesOf('initial', field, initial[field], model, fail)
  const byDefault = defaultOf(model, field)
  if (starts && byDefault !== undefined && !starts.includes(byDefault)) {
    fail(`'initial' leaves out '${byDefault}', which is the default of '${field}'`)
  }
  return { field, next: transitions[field] && new Map(next), initial: starts }
}

function exclusionOf(
  { equal, range, where = {} }: NonNullable<RuleOptions['exclude']>[number],
  model: Described,
  fail: Fail,
): Exclusion {
  const ordered = (field: string): Shape => {
    const shape = shapeOf('exclude', field, model, fail)
    return isOrdered(model.shape, field)
      ? shape
      : fail(`'exclude' names '${field}', which has more than one value or type`)
  }
  for (const field of equal) ordered(field)
  const [from, to] = range
  const kind = ordered(from).kind
  if (!['date', 'number'].includes(kind) || ordered(to).kind !== kind || from === to) {
    fail(`'exclude' needs two fields of dates, or two of numbers, in 'range'`)
  }
  for (const [field, values] of Object.entries(where)) {
    ordered(field)
    valuesOf('exclude', field, values, model, fail)
  }
  return { equal, range, where }
}

/** The conditions under which a stored record counts in an exclusion; one that lacks a value has the default. */
export function countingIn(model: Pick<Model, 'declared'>, { where }: Exclusion): Filter[] {
  return Object.entries(where).map(([field, values]) => {
    const byDefault = defaultOf(model, field)
    const hasDefault = byDefault !== undefined && values.includes(byDefault)
    return { op: 'in', field, values: hasDefault ? [...values, null] : values }
  })
}

/** What stands for a value that a record lacks. */
function defaultOf({ declared }: Pick<Model, 'declared'>, field: string): Scalar | undefined {
  return (withDefaults(declared, {}) as Fields)[field] as Scalar | undefined
}

function shapeOf(option: string, field: string, model: Described, fail: Fail): Shape {
  return placeOf(model.shape, field)?.shape ?? fail(noSuchField(option, field, model))
}

/** `values`, all of which the field takes. */
function valuesOf(
  option: string,
  field: string,
  values: readonly Scalar[],
  model: Described,
  fail: Fail,
): readonly Scalar[] {
  const wrong = values.find((value) => value === null || !fits(model, field, value))
  if (wrong !== undefined) {
    const taken = [...(model.fields[field]?._zod.values ?? [])].map(String)
    const meant = didYouMean(String(wrong), taken)
    fail(`'${option}' lists '${String(wrong)}' for '${field}', which does not take it.${meant}`)
  }
  return values
}
