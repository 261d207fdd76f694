/**
 * The text parts of a form as a tree: repeated names, `a[b]`, `a[0][b]`, `a[]` and `a[][b]`.
 *
 * The model decides whether a branch is a list or an object (`form-values.ts`).
 *
 * @module
 */

/** A part whose headers say it is JSON. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** The content of one part. */
export type Leaf = string | JsonText

/** One place of a form: the parts with that name in order, or the branch below it. */
export type FormNode = Leaf[] | Branch

/** What names with brackets lead to. Clients choose the names, so they are not used as property names. */
export class Branch {
  readonly named: Map<string, FormNode> = new Map()
  /** What `[]` has added, in order. */
  readonly added: FormNode[] = []
}

/** Collects the text parts of one body. */
export function formFields(): { readonly root: Branch; add(name: string, leaf: Leaf): void } {
  const root = new Branch()
  return {
    root,
    add(name, leaf) {
      const path = pathOf(name)
      let at = root
      for (const [index, key] of path.slice(0, -1).entries()) at = inside(at, key, path[index + 1])
      append(at, path.at(-1) ?? name, leaf)
    },
  }
}

/** The branch under `key`, created if there is none. `[]` continues its last branch until `next` would repeat. */
function inside(at: Branch, key: string, next: string | undefined): Branch {
  const found = key === '' ? at.added.at(-1) : at.named.get(key)
  const repeats = key === '' && found instanceof Branch && found.named.has(next ?? '')
  if (found instanceof Branch && !repeats) return found
  const made = new Branch()
  // `a` may be mixed with `a[]`, as with itself.
  if (Array.isArray(found) && next === '') made.added.push(...found.map((leaf) => [leaf]))
  if (key === '') at.added.push(made)
  else at.named.set(key, made)
  return made
}

function append(at: Branch, key: string, leaf: Leaf): void {
  if (key === '') {
    at.added.push([leaf])
    return
  }
  const found = at.named.get(key)
  if (Array.isArray(found)) found.push(leaf)
  // `a[]` may be mixed with `a`: each names an element.
  else if (found && found.named.size === 0) found.added.push([leaf])
  else at.named.set(key, [leaf])
}

/**
 * Deeper than any write may be, so that the policy refuses what is cut off here; the recursion ends long before the
 * stack does.
 */
const MAX_KEYS = 100

/** `a[b][]` as its keys, with `[]` as an empty one; a name with other brackets is one key as it is. */
function pathOf(name: string): string[] {
  const start = name.indexOf('[')
  if (start < 1 || !/^(?:\[[^[\]]*\])+$/.test(name.slice(start))) return [name]
  return [name.slice(0, start), ...name.slice(start + 1, -1).split('][', MAX_KEYS)]
}
