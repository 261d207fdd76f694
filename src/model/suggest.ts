/** "Did you mean": the known name nearest to a misspelt one. */

import { type ObjectShape, placeOf, type Shape } from '../ports/store/shape.ts'
import { topOf } from '../ports/values/paths.ts'

/** Longer names are not compared. */
const MAX_LENGTH = 64

/** A sentence with the candidate nearest to `name`, with a leading space; empty if none is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const found = nearest(name, candidates)
  return found === undefined ? '' : ` Did you mean '${found}'?`
}

/** The candidate nearest to `name`, or all of them, as a sentence with a leading space. */
export function whatThereIs(name: string, candidates: readonly string[]): string {
  return didYouMean(name, candidates) || ` There are: ${candidates.join(', ') || 'none'}.`
}

/** What is wrong with `path`, which leads nowhere in `model`, `listed` by `option`; and what was probably meant. */
export function noSuchField(
  option: string,
  path: string,
  model: { readonly name: string; readonly shape: ObjectShape },
  listed: string = path,
): string {
  const meant = nearestPath(model.shape, path)
  if (meant === path) {
    return placeOf(model.shape, path)
      ? `'${option}' takes whole fields: name '${topOf(path)}' instead of '${listed}'.`
      : `'${option}' names '${listed}', which is a list of lists or in one.`
  }
  const whole = meant === undefined && wholeAround(model.shape, path)
  if (whole) {
    return `'${option}' names '${listed}', which is in '${whole}', whose values are of several types or have any keys: it can be named only as a whole.`
  }
  const before = listed.slice(0, listed.length - path.length)
  const question = meant === undefined ? '' : ` Did you mean '${before}${meant}'?`
  return `'${option}' lists '${listed}', but ${model.name} has no such field.${question}`
}

/** Whether `path` leads to something that the shape declares, through lists of lists too, which `placeOf` does not know. */
export function leadsSomewhere(shape: ObjectShape, path: string): boolean {
  return nearestPath(shape, path) === path
}

/** `path` with the first part that leads nowhere replaced by the nearest name, `path` if it leads somewhere; undefined if no name is near. */
function nearestPath(shape: ObjectShape, path: string): string | undefined {
  const { keys, count, at } = leading(shape, path)
  if (count === keys.length) return path
  const meant = at.kind === 'object' ? nearest(keys[count] ?? '', at.fields.keys()) : undefined
  return meant && [...keys.slice(0, count), meant, ...keys.slice(count + 1)].join('.')
}

/** The first part of `path` whose members no option can name. */
function wholeAround(shape: ObjectShape, path: string): string | undefined {
  const { keys, count, at } = leading(shape, path)
  return at.kind === 'mixed' || at.kind === 'map' ? keys.slice(0, count).join('.') : undefined
}

/** The keys of `path`, how many of them lead somewhere, through lists, and where to. */
function leading(shape: ObjectShape, path: string) {
  const keys = path.split('.')
  let at: Shape = shape
  for (let count = 0; ; count += 1) {
    while (at.kind === 'list') at = at.element
    const next: Shape | undefined =
      at.kind === 'object' ? at.fields.get(keys[count] ?? '') : undefined
    if (count === keys.length || !next) return { keys, count, at }
    at = next
  }
}

function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined
  // A third of the letters may be wrong; in very short names one, but not all.
  let least = Math.max(1, Math.floor(name.length / 3)) + 1
  let found: string | undefined
  for (const candidate of candidates) {
    if (candidate === name || Math.abs(candidate.length - name.length) >= least) continue
    const distance = distanceOf(name.toLowerCase(), candidate.toLowerCase())
    if (distance >= least || distance >= candidate.length) continue
    least = distance
    found = candidate
  }
  return found
}

/** How many letters must be added, removed, replaced or swapped with their neighbour (optimal string alignment). */
function distanceOf(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + cost)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) least = Math.min(least, at(before, j - 2) + 1)
      row.push(least)
    }
    before = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0
}
