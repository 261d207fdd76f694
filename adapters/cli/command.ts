/** What the commands have in common: the app that they work on, and how they tell how far they are. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ParseArgsOptionsConfig } from 'node:util'
import type { App } from '../../src/app/app.ts'
import { collectionSchema } from '../../src/model/collection-schema.ts'
import { type Host, hostOf } from '../../src/records/engine/host.ts'
import { counted, type Progress } from '../../src/upkeep/tally.ts'
import { makerOf } from '../runtimes/makers.ts'
import { type Opening, openFilesAs } from '../stores/sqlite/connection/opening.ts'
import { argumentsIn } from './arguments.ts'
import { openBindings } from './bindings.ts'
import { checkThere, closing, type Keep, Unusable } from './unusable.ts'

export { Unusable }

export function packageFolder(from: string | URL = import.meta.url): URL {
  const folder = new URL('./', from)
  return existsSync(new URL('package.json', folder)) ? folder : packageFolder(new URL('..', folder))
}

export interface CommandLine {
  /** The file that exports the app. */
  readonly path: string | undefined
  readonly json: boolean
  /** Options that take a value, by their names. Each command has those of bindings. */
  readonly values: Readonly<Partial<Record<string, string>>>
  /** Options without a value that were given. */
  readonly flags: ReadonlySet<string>
}

interface Command {
  readonly usage: string
  /** Its options that take a value, and those that don't. */
  readonly names?: readonly string[]
  readonly flags?: readonly string[]
  /**
   * Does its work; resolves to the exit code. What makes no sense in the line is an `Unusable`, before `open` loads the app.
   * What is given to `keep` is closed in the end.
   */
  run(line: CommandLine, open: OpenApp, keep: Keep): Promise<number>
}

/** Opens the app of the line, and its SQLite file by default only if that exists. */
type OpenApp = (opening?: Opening) => Promise<OpenedApp>

/** Runs a command for what follows its name; resolves to its exit code. */
export type Run = (args: readonly string[]) => Promise<number>

export function command(own: Command): Run {
  return async (args) => {
    const line = commandLine(args, own)
    if (!line) return 0
    return closing((keep) => {
      const open: OpenApp = async (opening = 'existing') => {
        const opened = await openApp(line, opening)
        keep(opened.app)
        return opened
      }
      return own.run(line, open, keep)
    })
  }
}

/** Reads what follows a command; undefined if that asked for its usage. */
function commandLine(
  args: readonly string[],
  { usage, names = [], flags = [] }: Command,
): CommandLine | undefined {
  const options: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } }
  for (const name of ['config', 'env', ...names]) options[name] = { type: 'string' }
  for (const flag of [...flags, 'json']) options[flag] = { type: 'boolean' }
  const { values, positionals } = argumentsIn({ args: [...args], allowPositionals: true, options })
  if (values.help) {
    console.log(usage)
    return undefined
  }
  if (positionals.length > 1) {
    throw new Unusable(`'${positionals[1]}' is one argument too many: only the module has no name`)
  }
  const given = Object.entries(values)
  const texts: CommandLine['values'] = Object.fromEntries(
    given.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
  return {
    path: positionals[0],
    json: values.json === true,
    values: texts,
    flags: new Set(given.filter(([, value]) => value === true).map(([name]) => name)),
  }
}

interface OpenedApp {
  readonly app: App
  readonly host: Host
}

/** The app that the file at `path` exports, or that a function or a Worker's handler in it makes from bindings. */
async function openApp({ path, values }: CommandLine, opening: Opening): Promise<OpenedApp> {
  openFilesAs(opening)
  if (!path) throw new Unusable('name the file that exports your app, as in ./src/app.ts')
  const exported = await load(path)
  const found = exported.app ?? exported.default
  // What makes an app takes the bindings alone. Express's own servers are such functions too.
  if (typeof found === 'function' && found.length > 1) {
    throw new Unusable(
      `'${path}' exports a function of (request, response), as toExpress(app) and Express make them, and no app. Write in it: export const app = createApp({ … })`,
    )
  }
  const make = typeof found === 'function' ? (found as MakeApp) : makerOf(found)
  const app = make ? await made(make, path, values) : (found as App | undefined)
  const host = app?.store && hostOf(app.store)
  if (app && host) return { app, host }
  throw new Unusable(
    `'${path}' exports no app. Write in it: export const app = createApp({ … }). If it does, check that your project has one copy of fieldgate: npm ls fieldgate`,
  )
}

type MakeApp = (env: never) => App

/** The app that `make` makes from bindings; closing it closes them. */
async function made(make: MakeApp, path: string, values: CommandLine['values']): Promise<App> {
  const { env, close } = await openBindings(values)
  try {
    const app = make(env as never)
    return { ...app, close: () => app.close().finally(close) }
  } catch (error) {
    await close()
    throw new Unusable(`'${path}' could not make its app: ${(error as Error).message}`)
  }
}

async function load(module: string): Promise<Record<string, unknown>> {
  checkThere(module)
  try {
    return await import(pathToFileURL(resolve(module)).href)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw new Unusable(
        `this version of Node does not run '${module}': use Node 22.18 or later, or name the compiled file`,
      )
    }
    if (code === 'EADDRINUSE') {
      throw new Unusable(
        `'${module}' serves, and its port is in use. Name a file that exports the app and does not serve it`,
      )
    }
    throw new Unusable(`'${module}' could not be loaded: ${message}`)
  }
}

/** What is told where no model has a record: a wrong database looks like a new one. */
export async function nothingIn(host: Host): Promise<string> {
  const { database } = host
  const [model] = host.known()
  const around = model && (await database.surroundings?.(collectionSchema(model)))
  const where = around ? `database '${around.database}'` : 'store'
  return `No model has a record in the ${where}: is it the right one?`
}

/** A bar that tells how far a walk over records is: on a terminal in place, elsewhere now and then on a line of its own. */
export function bar(stream: NodeJS.WriteStream): Required<Progress> {
  let total = 0
  return {
    start: (_, records) => {
      total = records
    },
    advance(name, done) {
      const share = total === 0 ? 1 : Math.min(1, done / total)
      const filled = '█'.repeat(Math.round(share * 30)).padEnd(30, '░')
      const line = `${name} ${filled} ${Math.floor(share * 100)} %  ${counted(done)} of ${counted(total)}`
      if (stream.isTTY) stream.write(`\r${line}${done >= total ? '\n' : ''}`)
      else if (done % 10_000 === 0 || done >= total) stream.write(`${line}\n`)
    },
  }
}
