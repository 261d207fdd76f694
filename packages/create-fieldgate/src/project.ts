/**
 * The files of a project, from `templates/`.
 *
 * A folder there is named by what it is for, `workers+d1` for Workers with D1, and has the files that such projects get.
 * In a file, lines from `@if accounts` to `@end` are for such projects alone, and `{{name}}` and the like stand for
 * values. A name that begins with `_` begins with a dot in the project, since npm packs no `.gitignore`.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Choices, Runtime, Store } from './choices.ts'
import { type Manager, manifestOf, RUNTIME, STORE } from './manifest.ts'

const TEMPLATES = fileURLToPath(new URL('../templates/', import.meta.url))

/** The longest name of a Worker. */
const LONGEST = 63

/** A valid package name, and name of a Worker, that is like the directory's. */
export function nameFrom(directory: string): string {
  const name = directory
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST)
    .replace(/^-|-$/g, '')
  // A package can't be named like one that it depends on.
  const isTaken = ['', 'fieldgate', 'zod', 'mongodb', 'postgres', 'typescript', 'wrangler']
  return isTaken.includes(name) ? `${name || 'my'}-api` : name
}

/** The text of each file by its path; `version` is that of fieldgate. */
export function filesOf(
  choices: Choices,
  name: string,
  version: string,
  manager: Manager,
): Map<string, string> {
  const words = wordsOf(choices).add(manager.name)
  const values = { ...valuesOf(choices, manager), name, secret: '' }
  const files = new Map<string, string>()
  const add = (path: string, value: object) =>
    files.set(path, `${JSON.stringify(value, null, 2)}\n`)
  add('package.json', manifestOf(choices, name, version))
  if (choices.runtime === 'deno') add('deno.json', { tasks: RUNTIME.deno.scripts })
  for (const folder of readdirSync(TEMPLATES)) {
    if (!folder.split('+').every((word) => words.has(word))) continue
    for (const path of filesIn(join(TEMPLATES, folder))) {
      const text = readFileSync(join(TEMPLATES, folder, path), 'utf8')
      files.set(path.replace(/^_/, '.'), render(text, words, values))
      // A random secret, so that the project starts as it is.
      const secret = randomBytes(32).toString('base64url')
      if (path === '_env.example') files.set('.env', render(text, words, { ...values, secret }))
    }
  }
  return files
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
}

/** The words that folders and `@if` may ask for. */
function wordsOf({ runtime, store, accounts, passkeys, admin }: Choices): Set<string> {
  const words = new Set<string>(['all', runtime, store, accounts ? 'accounts' : 'api-key'])
  if (passkeys) words.add('passkeys')
  if (admin) words.add('admin')
  if (runtime !== 'workers') words.add('server')
  else if (store !== 'd1' && store !== 'libsql') words.add('object')
  if (runtime !== 'deno') words.add('tsc')
  const url = databaseUrl(runtime, store)
  if (url) words.add('address')
  if (store === 'sqlite' || url?.startsWith('file:')) words.add('file')
  else if (url) words.add('compose')
  return words
}

function databaseUrl(runtime: Runtime, store: Store): string | undefined {
  const { url, workersUrl = url } = STORE[store]
  return runtime === 'workers' ? workersUrl : url
}

function valuesOf({ runtime, store }: Choices, manager: Manager): Record<string, string> {
  const { title, port } = RUNTIME[runtime]
  const url = databaseUrl(runtime, store) ?? ''
  return {
    runtime: title,
    store: STORE[store].title,
    target: runtime,
    install: manager.install,
    run: manager.run,
    pnpm: manager.version ?? '',
    port: String(port),
    databaseUrl: url,
    // libSQL's servers have several.
    scheme: store === 'libsql' ? '' : (url.split(':')[0] ?? ''),
  }
}

const MARK = /^\s*(?:\/\/|#|<!--) @(if|end)\b([^>]*?)(?:-->)?$/

/** The template's text, for a project of which `words` are true. */
function render(
  text: string,
  words: ReadonlySet<string>,
  values: Readonly<Record<string, string>>,
): string {
  const shown = [true]
  const lines = text.split('\n').filter((line) => {
    const [, mark, asked = ''] = MARK.exec(line) ?? []
    if (mark === 'end') shown.pop()
    if (mark === 'if')
      shown.push(
        asked
          .trim()
          .split(' ')
          .some((word) => words.has(word)),
      )
    return mark === undefined && shown.every(Boolean)
  })
  return lines.join('\n').replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '')
}
