/** A change of what is inside of a JSON document, as one expression: what is the same in every dialect of SQL. */

import type { Operation } from '../planner/change.ts'

export type Of<Op extends Operation['op']> = Extract<Operation, { op: Op }>

export type Assignment = readonly [path: string, value: string]

/** How a dialect writes the parts of such an expression. What was at a path is read from the document as it is stored. */
export interface JsonDialect<Parameters> {
  sum(operation: Of<'add'>, parameters: Parameters): string
  /** The list with a value at its end, after the last `cap - 1` old elements; a list of the value alone, if there was none. */
  pushed(operation: Of<'push'>, parameters: Parameters): string
  /** The list without the elements whose member `key` is `value`. A value that is not a list stays as it is. */
  pulled(operation: Of<'pull'>, parameters: Parameters): string
  /** The object at a path, or an empty one. */
  object(path: string): string
  /** `document` with values at paths whose parents are objects. */
  set(document: string, assignments: readonly Assignment[]): string
  /** The same for those that are there alone. */
  replace(document: string, assignments: readonly Assignment[]): string
  /** `document` without the values at `paths`. */
  remove(document: string, paths: readonly string[]): string
}

/** `document` after `operations`, which are about different paths; `parameters` bind values as JSON. */
export function changedJson<Parameters extends { json(value: unknown): string }>(
  document: string,
  operations: readonly Operation[],
  dialect: JsonDialect<Parameters>,
  parameters: Parameters,
): string {
  const [set, pulled, unset]: [Assignment[], Assignment[], string[]] = [[], [], []]
  for (const one of operations) {
    const { op, path } = one
    if (op === 'set') set.push([path, parameters.json(one.value)])
    else if (op === 'add') set.push([path, dialect.sum(one, parameters)])
    else if (op === 'push') set.push([path, dialect.pushed(one, parameters)])
    else if (op === 'pull') pulled.push([path, dialect.pulled(one, parameters)])
    else unset.push(path)
  }
  const parents = parentsOf(set).map((path): Assignment => [path, dialect.object(path)])
  const written = dialect.set(document, [...parents, ...set])
  const without = pulled.length > 0 ? dialect.replace(written, pulled) : written
  return unset.length > 0 ? dialect.remove(without, unset) : without
}

/** The objects that dotted paths lead through, outer ones first. */
function parentsOf(assignments: readonly Assignment[]): string[] {
  const parents = new Set<string>()
  for (const [path] of assignments) {
    for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
      parents.add(path.slice(0, dot))
    }
  }
  return [...parents].sort((a, b) => a.length - b.length)
}
