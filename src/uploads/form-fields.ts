/**
 * The text parts of a form as a tree: repeated names, `a[b]`, `a[0][b]`, `a[]` and `a[][b]`; and the body of a write that they
 * stand for. The model decides whether a branch is a list or an object.
 */

import { TooManyLevels } from '../http/body/json-parser.ts'
import { invalidFields, nestedTooDeeply } from '../http/errors/refusals.ts'
import { isNames } from '../model/option-rules.ts'
import { isFields } from '../model/writable.ts'
import type { Fields } from '../ports/store/records.ts'
import type { ObjectShape, Shape } from '../ports/store/shape.ts'

/** The content of one part, whose headers may say that it is JSON. */
export type Leaf = string | { readonly json: string }

/** One place of a form: the parts with that name in order, or the branch below it. */
export type FormNode = [Leaf, ...Leaf[]] | Branch

/** What names with brackets lead to. Clients choose the names, so they are not used as property names. */
export class Branch {
  readonly named: Map<string, FormNode> = new Map()
  /** What `[]` has added, in order. */
  readonly added: FormNode[] = []
}

/** Adds the text part `name` of a body to those in `root`. */
export function addTo(root: Branch, name: string, leaf: Leaf): void {
  const path = pathOf(name)
  let at = root
  for (const [index, key] of path.slice(0, -1).entries()) at = inside(at, key, path[index + 1])
  append(at, path.at(-1) ?? name, leaf)
}

/** The branch under `key`, created if there is none. `[]` continues its last branch until `next` would repeat. */
function inside(at: Branch, key: string, next: string | undefined): Branch {
  const found = key === '' ? at.added.at(-1) : at.named.get(key)
  const repeats = key === '' && found instanceof Branch && found.named.has(next ?? '')
  if (found instanceof Branch && !repeats) return found
  const made = new Branch()
  // `a` may be mixed with `a[]`, as with itself.
  if (Array.isArray(found) && next === '') made.added.push(...found.map((leaf): FormNode => [leaf]))
  if (key === '') at.added.push(made)
  else at.named.set(key, made)
  return made
}

function append(at: Branch, key: string, leaf: Leaf): void {
  const found = at.named.get(key)
  if (key === '') at.added.push([leaf])
  else if (Array.isArray(found)) found.push(leaf)
  // `a[]` may be mixed with `a`: each names an element.
  else if (found && found.named.size === 0) found.added.push([leaf])
  else at.named.set(key, [leaf])
}

/** Deeper than any write may be: the policy refuses what is cut off here, long before the stack ends. */
const MAX_KEYS = 100

/** `a[b][]` as its keys, with `[]` as an empty one; a name with other brackets is one key as it is. */
function pathOf(name: string): string[] {
  const start = name.indexOf('[')
  if (start < 1 || !/^(?:\[[^[\]]*\])+$/.test(name.slice(start))) return [name]
  return [name.slice(0, start), ...name.slice(start + 1, -1).split('][', MAX_KEYS)]
}

const INDEX = /^\d+$/
/** Types that may be sent as JSON, instead of as several parts. */
const CONTAINERS: ReadonlySet<Shape['kind']> = new Set(['object', 'map', 'list'])

/** The value of JSON. Throws a `SyntaxError` if it is not JSON, and whatever ends the reading of the form. */
type Parse = (text: string) => unknown

/** The fields of a form for a model of `shape`. Throws a 400 naming the field of a part that should be JSON but is not. */
export function formValues(root: Branch, shape: ObjectShape, parse: Parse): Fields {
  const fields: Fields = Object.create(null)
  for (const [name, node] of root.named) {
    try {
      fields[name] = nodeValue(node, shape.fields.get(name), parse)
    } catch (error) {
      if (error instanceof TooManyLevels) throw nestedTooDeeply(name)
      if (!(error instanceof SyntaxError)) throw error
      throw invalidFields({ [name]: 'Invalid JSON.' })
    }
  }
  return fields
}

function nodeValue(node: FormNode, shape: Shape | undefined, parse: Parse): unknown {
  if (shape?.kind === 'list') return listOf(node, shape.element, parse)
  if (node instanceof Branch) return branchValue(node, shape, parse)
  const values = node.map((leaf) => leafValue(leaf, shape, parse))
  return values.length > 1 ? values : values[0]
}

/** An object, or a list if nothing below it has a name. */
function branchValue({ named, added }: Branch, shape: Shape | undefined, parse: Parse): unknown {
  if (named.size === 0) return added.map((node) => nodeValue(node, undefined, parse))
  const object: Fields = Object.create(null)
  for (const [key, node] of named) object[key] = nodeValue(node, inShape(shape, key), parse)
  return object
}

function inShape(shape: Shape | undefined, key: string): Shape | undefined {
  if (shape?.kind === 'object') return shape.fields.get(key)
  return shape?.kind === 'map' ? shape.value : undefined
}

function listOf(node: FormNode, element: Shape, parse: Parse): unknown {
  if (node instanceof Branch) return elementsOf(node, element, parse)
  const [only, ...more] = node
  if (more.length > 0) return node.map((leaf) => leafValue(leaf, element, parse))
  const whole = wholeList(only, element, parse)
  if (whole) return whole
  const value = leafValue(only, element, parse)
  // A string that is not an element is refused as it is; null clears.
  const isElement = value !== null && !(typeof value === 'string' && isContainer(element))
  return isElement ? [value] : value
}

/** Elements by index, with gaps closed, then those of `[]`. Any other name belongs to the list's single element. */
function elementsOf(branch: Branch, element: Shape, parse: Parse): unknown {
  const named = [...branch.named]
  if (!named.every(([key]) => INDEX.test(key))) return [branchValue(branch, element, parse)]
  const indexed = named.sort(([one], [other]) => byNumber(one, other)).map(([, node]) => node)
  return [...indexed, ...branch.added].map((node) => nodeValue(node, element, parse))
}

/** Indexes may have any number of digits: no array is ever made as long as they say. */
function byNumber(one: string, other: string): number {
  const [a, b] = [one, other].map((digits) => digits.replace(/^0+/, '')) as [string, string]
  if (a.length !== b.length) return a.length - b.length
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The list that one part contains as JSON; undefined if the part is a single element. A string may look like a list. */
function wholeList(leaf: Leaf, element: Shape, parse: Parse): unknown[] | undefined {
  const text = typeof leaf === 'string' ? leaf : leaf.json
  const list = /^\s*\[/.test(text) ? parsed(text, parse) : undefined
  if (!Array.isArray(list)) return undefined
  const fits = typeof leaf !== 'string' || element.kind !== 'string' || isNames(list)
  return fits ? list : undefined
}

function leafValue(leaf: Leaf, shape: Shape | undefined, parse: Parse): unknown {
  if (typeof leaf !== 'string') return parse(leaf.json)
  const looksLikeJson = shape?.kind === 'mixed' && /^\s*[[{]/.test(leaf)
  if (!looksLikeJson && !isContainer(shape)) return leaf
  const value = parsed(leaf, parse)
  if (shape?.kind === 'mixed') return value ?? leaf
  const fits = shape?.kind === 'list' ? Array.isArray(value) : isFields(value)
  // If not, the schema's message says what it expects instead of this string.
  return fits ? value : leaf
}

function parsed(text: string, parse: Parse): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isContainer(shape: Shape | undefined): boolean {
  return shape !== undefined && CONTAINERS.has(shape.kind)
}
