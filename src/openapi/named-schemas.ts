/** The named schemas of a document, and references to them. */

import type { Converted } from './schemas.ts'
import type { Schema } from './specification.ts'

/** The named schemas of a document. */
export class Schemas {
  readonly #named = new Map<string, Schema>()

  /** Adds a schema under `name`; if another one has it, under `name` with `suffix`, then a number. Returns a reference. */
  add(name: string, { schema, defs }: Converted, suffix = ''): Schema {
    const candidates = [name, `${name}${suffix}`]
    for (let number = 2; ; number += 1) {
      const [candidate = `${name}${suffix}${number}`] = candidates.splice(0, 1)
      const own = renamed(schema, candidate)
      const known = this.#named.get(candidate)
      if (known && JSON.stringify(known) !== JSON.stringify(own)) continue
      this.#named.set(candidate, own)
      for (const used of reachable(schema, defs)) {
        this.#named.set(`${candidate}${used}`, renamed(defs[used] ?? {}, candidate))
      }
      return refTo(candidate)
    }
  }

  /** Adds a schema that refers to no others but those of the document. */
  own(name: string, schema: Schema): Schema {
    return this.add(name, { schema, defs: {} })
  }

  /** All of them, by name. */
  all(): Readonly<Record<string, Schema>> {
    return Object.fromEntries(this.#named)
  }
}

/** A reference to a named schema. */
export function refTo(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** `value` with references as they are inside a document, where the schema has the name `name`. */
function renamed(value: Schema, name: string): Schema {
  const text = JSON.stringify(value, (key, item) => {
    if (key !== '$ref' || typeof item !== 'string') return item
    if (item === '#') return `#/components/schemas/${name}`
    return item.replace('#/$defs/', `#/components/schemas/${name}`)
  })
  return JSON.parse(text) as Schema
}

/** The names of those `defs` that `schema` needs: what is hidden needs none. */
function reachable(schema: Schema, defs: Converted['defs']): ReadonlySet<string> {
  const found = new Set<string>()
  const todo: Schema[] = [schema]
  for (const next of todo) {
    for (const [, name = ''] of JSON.stringify(next).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      if (found.has(name) || !defs[name]) continue
      found.add(name)
      todo.push(defs[name])
    }
  }
  return found
}
