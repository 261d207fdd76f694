/**
 * Notes which functions of `src` and `adapters` run, in their order: `node --import ./scripts/route/hook.ts program.ts`.
 * Each function is given a call at its start, before it is compiled.
 *
 * @module
 */

import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import { way } from './way.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const MEASURED = [`${root}src/`, `${root}adapters/`]
const ENTER = '__enter'
Object.assign(globalThis, { [ENTER]: (index: number) => way.log?.push(index) })

interface Syntax {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly body?: Syntax
  readonly id?: { readonly name?: string }
  readonly key?: { readonly name?: string }
}

/** Calls `seen` with each function of a program that has a body, and with what it stands in. */
function eachFunction(
  node: unknown,
  seen: (one: Syntax & { body: Syntax }, parent?: Syntax) => void,
  parent?: Syntax,
): void {
  if (typeof node !== 'object' || node === null) return
  if (Array.isArray(node)) {
    for (const item of node) eachFunction(item, seen, parent)
    return
  }
  const one = node as Syntax & { body: Syntax }
  if (
    /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(one.type) &&
    one.body
  ) {
    seen(one, parent)
  }
  const within = typeof one.type === 'string' ? one : parent
  for (const member of Object.values(one)) eachFunction(member, seen, within)
}

/** `source` with a call at the start of each function. */
function noting(file: string, source: string): string {
  const added: [at: number, text: string, closes: boolean][] = []
  const { program } = parseSync(file, source, { lang: 'ts', sourceType: 'module' })
  eachFunction(program, ({ body, id }, parent) => {
    const name = id?.name ?? parent?.key?.name ?? parent?.id?.name ?? 'anonymous'
    const call = `${ENTER}(${way.names.push(`${file.slice(root.length)}#${name}`) - 1})`
    if (body.type === 'BlockStatement' || body.type === 'FunctionBody') {
      added.push([body.start + 1, `${call};`, false])
    } else added.push([body.start, `(${call},(`, false], [body.end, '))', true])
  })
  // From the end, so that positions stay right; where two meet, what closes comes first in the text.
  added.sort(([a, , x], [b, , y]) => b - a || Number(x) - Number(y))
  let text = source
  for (const [at, part] of added) text = text.slice(0, at) + part + text.slice(at)
  return text
}

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return loaded
    const file = fileURLToPath(url)
    if (!MEASURED.some((folder) => file.startsWith(folder))) return loaded
    return { ...loaded, source: noting(file, String(loaded.source)) }
  },
})
