/**
 * Text parts as the fields of a body: repeated names as lists, `a[b]` as nested objects.
 *
 * @module
 */

import type { Fields } from '../ports/store.ts'

/** Collects the text parts of one body. Names are the client's, so nothing here has a prototype. */
export function formFields(): { readonly fields: Fields; add(name: string, text: string): void } {
  const fields: Fields = Object.create(null)
  return {
    fields,
    add(name, text) {
      const isList = name.length > 2 && name.endsWith('[]')
      const path = pathOf(isList ? name.slice(0, -2) : name)
      const key = path.pop() ?? name
      const at = path.reduce(inside, fields)
      at[key] = joined(at[key], text, isList)
    },
  }
}

/** The object under `key`, made where there is none. */
function inside(at: Fields, key: string): Fields {
  const found = at[key]
  const object: Fields = isObject(found) ? found : Object.create(null)
  at[key] = object
  return object
}

function joined(before: unknown, text: string, isList: boolean): unknown {
  if (Array.isArray(before)) return [...before, text]
  if (typeof before === 'string') return [before, text]
  return isList ? [text] : text
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `a[b][c]` as its keys; a name with other brackets is one key as it stands. */
function pathOf(name: string): string[] {
  const start = name.indexOf('[')
  if (start < 1 || !/^(?:\[[^[\]]*\])+$/.test(name.slice(start))) return [name]
  return [name.slice(0, start), ...name.slice(start + 1, -1).split('][')]
}
