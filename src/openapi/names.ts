/** The names in a document: paths, tags and operation ids. */

/** Text as part of a name, each word with a capital: `/feed/cities/:id` becomes `FeedCitiesId`. */
export function capitalised(text: string): string {
  return (text.match(/[A-Za-z0-9]+/g) ?? []).map((word) => upperFirst(word)).join('')
}

/** `text` with its first letter in upper case. */
export function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** A pattern of the route table as a path with `{parameters}`, and their names. */
export interface Template {
  readonly path: string
  readonly names: readonly string[]
}

/** `/cities/:id` as `/cities/{id}`; what `*` matches is called `rest`. */
export function templateOf(pattern: string): Template {
  const names: string[] = []
  const path = pattern.replace(/:(\w+)[?+]?|\*/g, (_, name = 'rest') => {
    names.push(name)
    return `{${name}}`
  })
  return { path, names }
}

/** Gives each operation an id of its own. */
export class OperationIds {
  readonly #taken = new Set<string>()

  /**
   * `id`; if it is taken, with the mount behind it: the second `listCities`, on `/feed/cities`, is
   * `listCitiesAtFeedCities`.
   */
  take(id: string, mount: string): string {
    const long = `${id}At${capitalised(mount) || 'Root'}`
    const candidates = [id, long]
    for (let number = 2; ; number += 1) {
      const [candidate = `${long}${number}`] = candidates.splice(0, 1)
      if (this.#taken.has(candidate)) continue
      this.#taken.add(candidate)
      return candidate
    }
  }
}
