/**
 * Text parts of a form as a tree: repeated names, `a[b]`, `a[0][b]`, `a[]` and `a[][b]`.
 *
 * What a branch means, a list or an object, the model says (`form-values.ts`).
 *
 * @module
 */

/** A part that says it is JSON. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** What one part holds. */
export type Leaf = string | JsonText

/** What stands at one place of a form: the parts of that name in their order, or what is below it. */
export type FormNode = Leaf[] | Branch

/** What names with brackets lead to. Names are the client's, so they are no properties. */
export class Branch {
  readonly named: Map<string, FormNode> = new Map()
  /** What `[]` has added, one after the other. */
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

/** The branch under `key`, made where there is none; `[]` goes on with its last one, until `next` would repeat. */
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

/** Deeper than any write may be, so that the policy refuses what is cut off here; recursion ends long before the stack. */
const MOST_KEYS = 100

/** `a[b][]` as its keys, `[]` as an empty one; a name with other brackets is one key as it stands. */
function pathOf(name: string): string[] {
  const start = name.indexOf('[')
  if (start < 1 || !/^(?:\[[^[\]]*\])+$/.test(name.slice(start))) return [name]
  return [name.slice(0, start), ...name.slice(start + 1, -1).split('][', MOST_KEYS)]
}
