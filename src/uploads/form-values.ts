/**
 * A form as the body of a write: lists if the model has lists, JSON for what has more than one value.
 *
 * @module
 */

import { TooManyLevels } from '../http/json.ts'
import { invalidFields, nestedTooDeeply } from '../http/refusals.ts'
import { isFields } from '../model/writable.ts'
import type { ObjectShape, Shape } from '../ports/shape.ts'
import type { Fields } from '../ports/store.ts'
import { Branch, type FormNode, JsonText, type Leaf } from './form-fields.ts'

const INDEX = /^\d+$/
/** Types that may be sent as JSON, instead of as several parts. */
const CONTAINERS: ReadonlySet<Shape['kind']> = new Set(['object', 'map', 'list'])

/** The value of JSON. Throws a `SyntaxError` if it is not JSON, and whatever ends the reading of the form. */
type Parse = (text: string) => unknown

/**
 * The fields of a form for a model of `shape`. Throws a 400 that names the field if a part claims to be JSON but is
 * not.
 */
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
  const [first, ...more] = node
  if (first === undefined) return undefined
  return more.length > 0
    ? node.map((leaf) => leafValue(leaf, shape, parse))
    : leafValue(first, shape, parse)
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
  if (only === undefined || more.length > 0) {
    return node.map((leaf) => leafValue(leaf, element, parse))
  }
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

/**
 * The list that one part contains as JSON; undefined if the part is a single element. A string may look like a list.
 */
function wholeList(leaf: Leaf, element: Shape, parse: Parse): unknown[] | undefined {
  const text = leaf instanceof JsonText ? leaf.text : leaf
  const list = /^\s*\[/.test(text) ? parsed(text, parse) : undefined
  if (!Array.isArray(list)) return undefined
  const fits = leaf instanceof JsonText || element.kind !== 'string' || list.every(isText)
  return fits ? list : undefined
}

function leafValue(leaf: Leaf, shape: Shape | undefined, parse: Parse): unknown {
  if (leaf instanceof JsonText) return parse(leaf.text)
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

function isText(value: unknown): boolean {
  return typeof value === 'string'
}
