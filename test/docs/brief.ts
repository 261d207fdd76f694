/**
 * Brief programs of the manual: those that say what they have to say and end.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { commandOf, started, watched, writeFiles } from './process.ts'
import type { File, Files } from './programs.ts'

/** Whether a program is for Node, and neither listens nor looks at its process: it may run in one with others. */
export function isBrief({ name, runtime, text }: File): boolean {
  const isApart = /\b(?:serve|listen|createServer)\(|\bprocess\b/.test(text)
  return runtime === 'Node' && !name.includes('.test.') && !isApart
}

/** Programs of an edition, and where they run. */
export interface Briefly {
  readonly programs: readonly File[]
  readonly files: Files
  readonly folder: string
}

/** Gives each program the files of its page for itself, as in a process of its own: the query says whose they are. */
const OWN_FILES = `import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const { search } = new URL(context.parentURL)
    return specifier.startsWith('.') ? { ...found, url: found.url + search } : found
  },
})
`

/**
 * Runs brief programs one after the other in one process, which starts once, each in the folder of its edition; resolves to
 * whether nothing went wrong.
 */
export async function runTogether(editions: readonly Briefly[]): Promise<boolean> {
  const [first] = editions
  if (!first) return true
  let text = OWN_FILES
  for (const { programs, files, folder } of editions) {
    await writeFiles(files, folder)
    text += `process.chdir(${JSON.stringify(folder)})\n`
    for (const { name } of programs) {
      text += `await import('${pathToFileURL(join(folder, name))}?${randomUUID()}')\n`
    }
  }
  const all = { name: 'together.mjs', runtime: 'Node', text }
  writeFileSync(join(first.folder, all.name), text)
  const command = [...commandOf(all, first.files), all.name]
  const running = await watched(started(command, first.folder, 0), 0, all)
  return (await running.stop()) === undefined
}
