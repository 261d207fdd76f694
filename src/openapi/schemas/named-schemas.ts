/** The names in a document: of operations, and of schemas with references to them. */

import type { Schema } from '../specification.ts'
import type { Converted } from './schemas.ts'

export class Schemas {
  readonly #named: Map<string, Schema>
  readonly #suffix: string

  constructor(named: Map<string, Schema> = new Map(), suffix = '') {
    this.#named = named
    this.#suffix = suffix
  }

  /** The same, whose names end in `suffix` where others have them already. */
  at(suffix: string): Schemas {
    return new Schemas(this.#named, suffix)
  }

  /** Adds a schema under `name`; if another one has it, under `name` with the suffix, then a number. Returns a reference. */
  add(name: string, { schema, defs }: Converted): Schema {
    const own = nameFrom(name)
    const free = firstFree(own, `${own}${this.#suffix}`, (candidate) => {
      const known = this.#named.get(candidate)
      return !known || JSON.stringify(known) === JSON.stringify(renamed(schema, candidate))
    })
    this.#named.set(free, renamed(schema, free))
    for (const used of reachable(schema, defs)) {
      this.#named.set(nameFrom(`${free}${used}`), renamed(defs[used] ?? {}, free))
    }
    return refTo(free)
  }

  /** Adds a schema that refers to no others but those of the document. */
  own(name: string, schema: Schema): Schema {
    return this.add(name, { schema, defs: {} })
  }

  all(): Readonly<Record<string, Schema>> {
    return Object.fromEntries(this.#named)
  }
}

export function refTo(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** `value` with references as they are inside a document, where the schema has the name `name`. */
function renamed(value: Schema, name: string): Schema {
  const text = JSON.stringify(value, (key, item) => {
    if (key !== '$ref' || typeof item !== 'string') return item
    if (item === '#') return `#/components/schemas/${name}`
    const [, used] = item.split('#/$defs/')
    return used ? `#/components/schemas/${nameFrom(`${name}${used}`)}` : item
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

/** `text` as a name in a document, which has letters, digits, `.`, `_` and `-`: `Straße` becomes `Stra_e`. */
export function nameFrom(text: string): string {
  return text.replace(/[^\w.-]/g, '_')
}

/** Text as part of a name, each word with a capital: `/feed/cities/:id` becomes `FeedCitiesId`. */
export function capitalised(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? []
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The first that is free of `name`, `long`, and `long` with a number from 2. */
export function firstFree(name: string, long: string, isFree: (name: string) => boolean): string {
  let free = name
  for (let number = 1; !isFree(free); number += 1) free = number === 1 ? long : `${long}${number}`
  return free
}
