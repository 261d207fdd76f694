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
      let at = fields
      for (const outer of path) {
        const inside = at[outer]
        const next: Fields = isObject(inside) ? inside : Object.create(null)
        at[outer] = next
        at = next
      }
      const before = at[key]
      if (Array.isArray(before)) before.push(text)
      else if (typeof before === 'string') at[key] = [before, text]
      else at[key] = isList ? [text] : text
    },
  }
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
