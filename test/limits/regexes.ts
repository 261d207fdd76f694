/**
 * Every regular expression of a source file, and whether a text can make it backtrack for longer than its length.
 *
 * @module
 */

import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'
import type { Diagnostics } from 'recheck/lib/browser.js'

const require = createRequire(import.meta.url)
/** A module of CommonJS whose names Node does not find by itself. */
const { checkSync }: typeof import('recheck/lib/browser.js') = require('recheck/lib/browser.js')
/** The version of what judges: its judgement holds for this one. */
export const CHECKER: string = require('recheck/package.json').version

/** A regular expression of a file: its pattern where that is fixed. */
export interface Found {
  /** `path:line`. */
  readonly at: string
  /** Undefined where the pattern is put together when the code runs. */
  readonly regex: { readonly source: string; readonly flags: string } | undefined
  /** The code that makes it. */
  readonly code: string
}

const root = new URL('../../', import.meta.url)

/** The names of those that have been judged linear, as check-regexes.ts writes them. */
export interface Judged {
  /** The version of the checker that has judged them. */
  readonly checker: string
  readonly quick: readonly string[]
  /** To judge one of these again takes seconds to hours. */
  readonly slow: readonly string[]
}

export const LIST: URL = new URL('linear-regexes.json', import.meta.url)

/** How the list names one. */
export function nameOf({ source, flags }: NonNullable<Found['regex']>): string {
  return `/${source}/${flags}`
}

/** The regular expressions of src and adapters. */
export function productRegexes(): Found[] {
  return ['src/**/*.ts', 'extras/**/*.ts', 'adapters/**/*.ts']
    .flatMap((pattern) => globSync(pattern, { cwd: fileURLToPath(root) }))
    .flatMap((file) => regexesIn(file, readFileSync(new URL(file, root), 'utf8')))
}

/** The regular expressions in `text`, the code of `path`: literals, and what `RegExp` makes. */
export function regexesIn(path: string, text: string): Found[] {
  const found: Found[] = []
  const add = (node: { start: number; end: number }, regex: Found['regex']): void => {
    const line = text.slice(0, node.start).split('\n').length
    found.push({ at: `${path}:${line}`, regex, code: text.slice(node.start, node.end) })
  }
  const made = (node: Call): void => {
    if (!('name' in node.callee) || node.callee.name !== 'RegExp') return
    const [source, flags] = node.arguments.map(textOf)
    const isFixed = source !== undefined && (node.arguments.length < 2 || flags !== undefined)
    add(node, isFixed ? { source, flags: flags ?? '' } : undefined)
  }
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  new Visitor({
    Literal(node) {
      if ('regex' in node && node.regex) {
        add(node, { source: node.regex.pattern, flags: node.regex.flags })
      }
    },
    NewExpression: made,
    CallExpression: made,
  }).visit(program)
  return found
}

interface Call {
  readonly start: number
  readonly end: number
  readonly callee: object
  readonly arguments: readonly unknown[]
}

/** The text of a string in the code, undefined for anything that is worked out later. */
function textOf(node: unknown): string | undefined {
  const { type, value, expressions, quasis } = node as {
    type: string
    value?: unknown
    expressions?: readonly unknown[]
    quasis?: readonly { readonly value: { readonly cooked: string } }[]
  }
  if (type === 'Literal' && typeof value === 'string') return value
  return type === 'TemplateLiteral' && expressions?.length === 0
    ? quasis?.[0]?.value.cooked
    : undefined
}

/** What is wrong with a regular expression, with a text that shows it; undefined for one that is linear. */
export function complaintAbout(source: string, flags: string): string | undefined {
  // The automaton gives the same verdict each time; what it doesn't support, look-arounds and the like, is refused.
  const result: Diagnostics = checkSync(source, flags, { checker: 'automaton', timeout: 3_600_000 })
  if (result.status === 'safe') return undefined
  if (result.status === 'unknown') return `cannot be judged (${result.error.kind})`
  return `${result.complexity.summary}, as for ${result.attack.pattern}`
}
